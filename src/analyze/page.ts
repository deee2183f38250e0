/** The page of `stepscope analyze`: the answer first, then the budget, the kernels, and a line for everything else. */
import { plural } from '../base/units.js';
import { capabilities } from '../catalog/capabilities.js';
import { profilers } from '../catalog/profilers.js';
import { distinctGpus } from '../model/distinct-gpus.js';
import { graphMode } from '../model/graph-mode.js';
import type { Profile } from '../model/profile.js';
import type { AnalysisResult, Analyzer, AnyAnalysis, Derived } from './analysis.js';
import { NotRecorded } from './analysis.js';
import type { Block, StatementBlock } from './block.js';
import { brokenFile } from './broken-file.js';
import type { Finding } from './findings/finding.js';
import { findings, findingsBlock } from './findings/findings.js';
import { findingHeadline, isHeadline } from './findings/headline.js';
import { graphCoverage } from './gpu/graph-coverage.js';
import { kernelFamilies } from './gpu/kernel-families.js';
import { kernelsPerStep } from './gpu/kernels-per-step.js';
import { type PhaseBudget, totalsByPhase } from './inference/budget-totals.js';
import { budgetBars } from './inference/describe-budget.js';
import { type IterationRow, iterationSpan, iterations } from './inference/iterations.js';
import { stepBudget } from './inference/step-budget.js';
import type { Ask } from './page-details.js';
import { benchmarkFacts, moreFacts, pageFamilies, stepsFacts } from './page-details.js';
import { graphWord, isAmd } from './program.js';
import { isTelling, isWorthSaying, undisturbedStep } from './undisturbed/undisturbed-step.js';
import { phaseVerdict } from './verdict.js';

const MOST_FINDINGS = 5;
/** Budgets drawn in full; further phases get a sentence. */
const MOST_BUDGETS = 2;

export function describePage(analyzer: Analyzer, analyses: readonly AnyAnalysis[]): Block[] {
  const ask = askOf(analyzer);
  const steps = ask(iterations);
  const { header, answer, phases, hidden } = describePageAnswer(analyzer);
  const result = analyzer.get(findings);
  // The header says that there are no steps, and the answer what to do about it.
  const told = { ...result, findings: result.findings.filter(({ id }) => id !== 'no-steps') };
  const opening: Block[] = [header, answer, findingsBlock(told, MOST_FINDINGS)];
  if (phases.length === 0) return opening;
  const inSteps = phases.filter(total => total.phase !== null);
  const shown = (inSteps.length > 0 ? inSteps : phases).slice(0, MOST_BUDGETS);
  const main = shown[0];
  return [
    ...opening,
    ...shown.map(total =>
      budgetBars(
        total,
        hidden,
        phases.length === 1,
        ask(undisturbedStep)?.rows.find(row => row.phase === total.phase && isTelling(row)),
      ),
    ),
    ...pageFamilies(ask, main.phase),
    ...benchmarkFacts(analyzer.profile),
    moreFacts(analyzer, analyses, main.phase),
    ...(steps && steps.rows.length > 0 ? [stepsFacts(steps.rows)] : []),
  ];
}

const askOf =
  (analyzer: Analyzer): Ask =>
  analysis => {
    try {
      return analyzer.get(analysis);
    } catch (error) {
      if (error instanceof NotRecorded) return undefined;
      throw error;
    }
  };

/** What was captured, in short. */
export const describeHeader = (analyzer: Analyzer): StatementBlock =>
  headerOf(analyzer.profile, askOf(analyzer)(iterations));

/** What every answer is made of, besides its findings. */
export const answerBasis: readonly Derived<unknown>[] = [
  iterations,
  kernelFamilies,
  kernelsPerStep,
  graphCoverage,
  stepBudget,
  undisturbedStep,
];

/** What was captured and what holds it up, without the rest of the page. */
export function describePageAnswer(analyzer: Analyzer): {
  readonly header: StatementBlock;
  readonly answer: StatementBlock;
  /** Budgets by phase, the one that takes most time first; none where no GPU work was recorded. */
  readonly phases: readonly PhaseBudget[];
  /** Graph replays hide their kernels. */
  readonly hidden: boolean;
  /** The finding that the answer opens with; none where it describes the budget. */
  readonly headline: Finding | undefined;
} {
  const { profile } = analyzer;
  const ask = askOf(analyzer);
  const steps = ask(iterations);
  const budget = ask(stepBudget);
  const header = headerOf(profile, steps);
  const found = analyzer.get(findings).findings;
  if (!budget || budget.rows.length === 0) {
    const headline = found.find(({ id }) => id === 'client-profiled' || id === 'gpu-work-lost');
    return { header, answer: noGpuWork(profile, steps, headline), phases: [], hidden: false, headline };
  }
  const hidden = budget.summary?.graphReplaysHidden === true;
  const phases = totalsByPhase(budget.rows).sort((a, b) => b.wallNs - a.wallNs);
  const main = phases.find(total => total.phase !== null) ?? phases[0];
  const headline = found.find(isHeadline);
  return { header, answer: answerOf(ask, profile, main, phases, hidden, found), phases, hidden, headline };
}

function headerOf(profile: Profile, steps: AnalysisResult<IterationRow> | undefined): StatementBlock {
  const { capture } = profile;
  const rows = new Set(profile.streams.map(stream => stream.gpu as number));
  const used = new Set([...rows].map(row => profile.gpus[row].name));
  const gpus = distinctGpus([...rows].map(row => profile.gpus[row])).length;
  const mode = graphMode(profile);
  const graphs = {
    nodes: 'recorded node by node',
    blocks: 'recorded as blocks, kernels inside hidden',
    none: 'none',
  }[mode];
  const parts = [
    capture.files.length === 1 ? capture.files[0] : plural(capture.files.length, 'file'),
    gpus > 0 ? `${gpus > 1 ? `${gpus} × ` : ''}${[...used].join(', ') || 'GPU'}` : 'no GPU work',
    `${profilers[capture.profiler].short} ${capture.profilerVersion}`.trim(),
    `${graphWord(isAmd(profile))}: ${graphs}`,
    ...stepsParts(steps),
  ];
  return { kind: 'statement', id: 'capture', title: 'Capture', lines: [parts.join(' · ')], quiet: true };
}

/** `steps 12–16, all decode, batch 8 · steady state: 5 of 5` */
function stepsParts(steps: AnalysisResult<IterationRow> | undefined): string[] {
  const rows = steps?.rows ?? [];
  const selected = rows.filter(row => row.selected);
  if (selected.length === 0) return ['no engine steps found'];
  const kinds = new Set(selected.map(row => row.phase));
  const batches = new Set(
    selected.map(row => row.generationRequests).filter(batch => batch !== null && batch > 0),
  );
  const all = selected.length === 1 ? '' : 'all ';
  const phase =
    kinds.size === 1
      ? `${all}${[...kinds][0] === 'unknown' ? 'of unknown phase' : [...kinds][0]}`
      : [...kinds].join(', ');
  const batch = batches.size === 1 ? `, batch ${[...batches][0]}` : '';
  const leftOut = rows.filter(row => !row.selected);
  const reasons = [...new Set(leftOut.map(row => row.state).filter(state => state !== 'steady'))];
  const by =
    rows[0].foundBy === 'marker'
      ? ''
      : ` (found by ${rows[0].foundBy.replace('-', ' ')}: ${rows[0].confidence})`;
  return [
    `${selected.length === 1 ? 'step' : 'steps'} ${iterationSpan(selected)}, ${phase}${batch}${by}`,
    `${leftOut.some(row => row.state === 'steady') ? 'selected' : 'steady state'}: ${selected.length} of ${rows.length}${reasons.length > 0 ? ` (excluded: ${reasons.join(', ')})` : ''}`,
  ];
}

function answerOf(
  ask: Ask,
  profile: Profile,
  main: PhaseBudget,
  phases: readonly PhaseBudget[],
  hidden: boolean,
  found: readonly Finding[],
): StatementBlock {
  const families = ask(kernelFamilies)?.rows ?? [];
  const counts = ask(kernelsPerStep)?.rows ?? [];
  const graphs = ask(graphCoverage)?.rows ?? [];
  const verdict = (total: PhaseBudget, first: Finding | undefined) =>
    phaseVerdict(
      total,
      families,
      counts.find(row => row.phase === total.phase)?.kernels,
      hidden,
      (graphs.find(row => row.phase === total.phase)?.timeShare ?? 0) >= 0.5,
      first,
      ask(undisturbedStep)?.rows.find(row => row.phase === total.phase && isWorthSaying(row)),
    );
  const headline = found.find(isHeadline);
  // The second sentence is about the phase of the first.
  const told = phases.find(total => headline?.phase && total.phase === headline.phase) ?? main;
  const [answer, detail] = verdict(told, headline);
  const others = phases
    .filter(total => total !== told && total.phase !== null)
    .map(total => {
      const own = found.find(one => isHeadline(one) && one !== headline && one.phase === total.phase);
      return verdict(total, own).join(' ');
    });
  const unfound =
    main.phase === null
      ? ['Figures cover the whole trace: to see steps, mark them with NVTX, or give --marker REGEX.']
      : [];
  return {
    kind: 'statement',
    id: 'answer',
    title: 'Answer',
    lines: [...incomplete(profile), answer, detail, ...others, ...unfound],
  };
}

/** Said before any figure: what is not in a broken file may have been there once. */
function incomplete(profile: Profile): string[] {
  return brokenFile(profile)
    ? ['This file is cut off or damaged: all figures cover only the readable part.']
    : [];
}

/** What a profile of the wrong process, or of the wrong moment, looks like. */
function noGpuWork(
  profile: Profile,
  steps: AnalysisResult<IterationRow> | undefined,
  headline: Finding | undefined,
): StatementBlock {
  const hint = capabilities(profile).find(ability => ability.table === 'kernels')?.hint ?? '';
  const broken = incomplete(profile);
  if (broken.length > 0) {
    const lines = [
      ...broken,
      'The readable part contains no GPU work.',
      '→ Copy or export it again, and check its size.',
    ];
    return { kind: 'statement', id: 'answer', title: 'Answer', lines };
  }
  if (!headline) {
    const lines = [
      'GPU work was recorded, but none of it inside the steps.',
      '→ Analyze the whole trace with --whole, or choose other steps with --iterations A-B.',
    ];
    return { kind: 'statement', id: 'answer', title: 'Answer', lines };
  }
  if (headline.id === 'gpu-work-lost') {
    const lines = [findingHeadline(headline), ...headline.advice.slice(0, 1).map(({ text }) => `→ ${text}.`)];
    return { kind: 'statement', id: 'answer', title: 'Answer', lines };
  }
  const { workers } = profilers[profile.capture.profiler];
  const children = workers === undefined ? '' : `; ${workers}`;
  const marked = steps && steps.rows.length > 0;
  const why = marked
    ? 'Steps were recorded but no GPU work: CUDA was not traced, or other processes launch the kernels.'
    : 'Usual causes: the client was profiled instead of the server, the run never reached the capture window, or the worker processes were not traced.';
  return {
    kind: 'statement',
    id: 'answer',
    title: 'Answer',
    lines: [
      findingHeadline(headline),
      why,
      `→ Profile the process that runs the model: ${hint}${children}; check that the run reached the capture window.`,
    ],
  };
}
