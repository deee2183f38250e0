/** `step:12`, `gap`, `gap:KEY`, `kernel:NAME`: why one thing took the time it took. */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { createClassifier } from '../../catalog/kernels/classify.js';
import { percentile } from '../../stats/percentile.js';
import type { Analyzer, AnyAnalysis } from '../analysis.js';
import { kernelFamilies } from '../gpu/kernel-families.js';
import { type TopKernelRow, topKernels } from '../gpu/top-kernels.js';
import { hostCode } from '../host-code/host-code.js';
import { type IdleGapRow, idleGaps } from '../inference/idle-gaps.js';
import { type IterationRow, iterations } from '../inference/iterations.js';
import { stepBudget } from '../inference/step-budget.js';
import { type ExplainedThing, Explanations } from './explanation.js';

/** Everything that any of these questions reads. */
export const explainedFrom: readonly AnyAnalysis[] = [
  iterations,
  stepBudget,
  idleGaps,
  kernelFamilies,
  topKernels,
  hostCode,
];

const MOST_ROWS = 5;
const EXAMPLE = 'For example: step:12, gap, gap:KEY (a row of idle-gaps), kernel:gemm';

export function explainThing(analyzer: Analyzer, thing: string): ExplainedThing {
  const [, kind, rest = ''] = /^(step|gap|kernel)(?::(.+))?$/s.exec(thing) ?? [];
  if (kind === 'step' && /^\d{1,9}$/.test(rest)) return explainStep(analyzer, Number(rest));
  if (kind === 'gap') return explainGap(analyzer, thing === 'gap' ? undefined : thing);
  if (kind === 'kernel' && rest !== '') return explainKernels(analyzer, rest);
  throw new UserError('usage', `${JSON.stringify(thing)} cannot be explained.`, EXAMPLE);
}

const labelOf = (cause: string) => idleCauses.find(({ id }) => id === cause)?.label ?? cause;

/** Largest first, in words. */
const parts = (byName: Readonly<Record<string, number>>, named = labelOf): string =>
  Object.entries(byName)
    .filter(([, ns]) => ns > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_ROWS)
    .map(([name, ns]) => `${named(name)} ${formatDuration(ns)}`)
    .join(', ');

interface BudgetRow {
  readonly key: string;
  readonly wallNs: number;
  readonly computeNs: number;
  readonly communicationExposedNs: number;
  readonly copyExposedNs: number;
  readonly idleNs: number;
  readonly idleByCause: Readonly<Record<string, number>>;
}

function explainStep(analyzer: Analyzer, iteration: number): ExplainedThing {
  const found = new Explanations(`step ${iteration}`);
  const all = found.rowsOf<IterationRow>(analyzer, iterations) ?? [];
  const own = all.filter(row => row.iteration === iteration);
  if (own.length === 0)
    throw new UserError(
      'usage',
      all.length === 0
        ? 'No steps were found in this capture.'
        : `There is no step ${iteration} in this capture.`,
      all.length === 0
        ? 'stepscope info FILE shows what was recorded.'
        : `Steps: ${all[0].iteration} to ${all.at(-1)!.iteration}`,
    );
  const [step] = own;
  const like = all.filter(row => row.phase === step.phase && row.iteration !== iteration && row.selected);
  const usual = percentile(
    like.map(row => row.wallNs),
    50,
  );
  const against =
    like.length < 2
      ? `no other ${step.phase} steps to compare with`
      : `median of ${plural(like.length, `other ${step.phase} step`)}: ${formatDuration(usual)}`;
  found.claim(
    `Step ${iteration} (${step.phase}, ${step.state}) took ${formatDuration(step.wallNs)}; ${against}.`,
    iterations,
    own,
  );
  const looking = analyzer.lookingAt({ iterations: [{ first: iteration, last: iteration }] });
  const budget = found.rowsOf<BudgetRow>(looking, stepBudget) ?? [];
  for (const row of budget) {
    const share = (ns: number) => `${formatDuration(ns)} (${formatShare(ns / row.wallNs)})`;
    found.claim(
      `Compute ${share(row.computeNs)}, exposed communication ${share(row.communicationExposedNs)}, exposed copies ${share(row.copyExposedNs)}, idle ${share(row.idleNs)}${row.idleNs > 0 ? `: ${parts(row.idleByCause)}` : ''}.`,
      stepBudget,
      [row],
    );
  }
  claimGaps(found, looking, `Longest gaps of step ${iteration}`);
  const families =
    found.rowsOf<{ key: string; family: string; totalNs: number; kernels: number }>(
      looking,
      kernelFamilies,
    ) ?? [];
  if (families.length > 0) {
    const largest = families.slice(0, MOST_ROWS);
    found.claim(
      `Kernels: ${largest.map(row => `${row.family} ${formatDuration(row.totalNs)} (${formatCount(row.kernels)})`).join(', ')}.`,
      kernelFamilies,
      largest,
    );
  }
  claimCode(found, looking);
  return found.done();
}

const longestFirst = (a: IdleGapRow, b: IdleGapRow) => b.durationNs - a.durationNs;

const gapWords = ({ durationNs, causes, next, code }: IdleGapRow): string =>
  `${formatDuration(durationNs)} (${parts(causes)})${next ? ` before ${next}` : ''}${code ? `, host code: ${code}` : ''}`;

function claimGaps(found: Explanations, analyzer: Analyzer, words: string): void {
  const gaps = [...(found.rowsOf<IdleGapRow>(analyzer, idleGaps) ?? [])].sort(longestFirst).slice(0, 3);
  if (gaps.length > 0) found.claim(`${words}: ${gaps.map(gapWords).join('; ')}.`, idleGaps, gaps);
}

function claimCode(found: Explanations, analyzer: Analyzer): void {
  const rows =
    found.rowsOf<{ key: string; code: string; idlePerStepNs: number; cause: string }>(analyzer, hostCode) ??
    [];
  const largest = rows.slice(0, 3);
  if (largest.length > 0)
    found.claim(
      `Host code that the GPU waits for, per step: ${largest.map(row => `${row.code} ${formatDuration(row.idlePerStepNs)} (${labelOf(row.cause)})`).join(', ')}.`,
      hostCode,
      largest,
    );
}

function explainGap(analyzer: Analyzer, key: string | undefined): ExplainedThing {
  const found = new Explanations(key ?? 'the longest gap');
  const gaps = [...(found.rowsOf<IdleGapRow>(analyzer, idleGaps) ?? [])].sort(longestFirst);
  const gap = key === undefined ? gaps[0] : gaps.find(row => row.key === key);
  if (!gap && key !== undefined)
    throw new UserError(
      'usage',
      `There is no gap ${JSON.stringify(key)}.`,
      `Longest gaps: ${
        gaps
          .slice(0, 3)
          .map(row => row.key)
          .join(', ') || 'none'
      }`,
    );
  if (!gap) return found.done();
  const where = gap.iteration === null ? 'outside all steps' : `in step ${gap.iteration}`;
  found.claim(`Device ${gap.device} was idle ${where} for ${gapWords(gap)}.`, idleGaps, [gap]);
  const same = gaps.filter(row => row.cause === gap.cause);
  found.claim(
    `${plural(same.length, 'listed gap')} with the same main cause (${labelOf(gap.cause)}): ${formatDuration(same.reduce((sum, row) => sum + row.durationNs, 0))} together.`,
    idleGaps,
    same.slice(0, MOST_ROWS),
  );
  if (gap.iteration !== null) {
    const looking = analyzer.lookingAt({ iterations: [{ first: gap.iteration, last: gap.iteration }] });
    for (const row of found.rowsOf<BudgetRow>(looking, stepBudget) ?? [])
      found.claim(
        `The gap is ${formatShare(gap.durationNs / row.wallNs)} of its step of ${formatDuration(row.wallNs)}, which is idle for ${formatDuration(row.idleNs)}.`,
        stepBudget,
        [row],
      );
  }
  return found.done();
}

function explainKernels(analyzer: Analyzer, name: string): ExplainedThing {
  const found = new Explanations(`kernels named ${name}`);
  const all = found.rowsOf<TopKernelRow>(analyzer, topKernels);
  if (!all) return found.done();
  const wanted = name.toLowerCase();
  const own = all.filter(
    row => row.kernel.toLowerCase().includes(wanted) || row.name.toLowerCase().includes(wanted),
  );
  if (own.length === 0)
    throw new UserError(
      'usage',
      `No kernel of the selected steps is named ${JSON.stringify(name)}.`,
      `Kernels with most time: ${all
        .slice(0, 3)
        .map(row => row.kernel)
        .join(', ')}`,
    );
  const { explain } = createClassifier(analyzer.settings.kernelRules);
  for (const row of own.slice(0, MOST_ROWS)) {
    const { class: family, winner } = explain(row.name);
    found.claim(
      `${row.kernel}: ${formatCount(row.count)} launches, ${formatDuration(row.totalNs)} (${formatShare(row.share)} of kernel time), median ${formatDuration(row.medianNs)}, p95 ${formatDuration(row.p95Ns)}; family ${family.family}${winner ? ` by rule ${winner.rule}` : ', because no rule matches'}.`,
      topKernels,
      [row],
    );
  }
  const families =
    found.rowsOf<{
      key: string;
      family: string;
      totalNs: number;
      kernelsPerStep: number | null;
      share: number;
    }>(analyzer, kernelFamilies) ?? [];
  const family = families.filter(row => row.family === own[0].family);
  if (family.length > 0)
    found.claim(
      `Family ${own[0].family}: ${formatDuration(family[0].totalNs)}, ${formatShare(family[0].share)} of kernel time.`,
      kernelFamilies,
      family,
    );
  return found.done();
}
