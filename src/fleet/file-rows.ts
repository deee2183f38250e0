/** One profile as the rows of a lake: what its steps did, without any event. */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import { findings } from '../analyze/findings/findings.js';
import { type PhaseBudget, totalsByPhase, transferringNs } from '../analyze/inference/budget-totals.js';
import { iterations } from '../analyze/inference/iterations.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import type { FamilyId } from '../catalog/kernels/families.js';
import { SHARED_VERSIONS } from '../import/one-run.js';
import { recordedSpan } from '../import/recorded-span.js';
import type { Profile } from '../model/profile.js';
import { measureRun, measureSources, profileRun, profileSources } from '../run/collect.js';
import { metricById } from '../run/metrics.js';
import type { PartAmount, Run } from '../run/run.js';
import type { LakeRow, LakeRows } from './lake-tables.js';
import { collectiveRows, collectiveSources } from './step-collectives.js';

export const fileSources: readonly Derived<unknown>[] = [
  ...measureSources,
  ...profileSources,
  ...collectiveSources,
  ...[findings, iterations, stepBudget],
];

/** What the profile itself does not say about its file. */
interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  readonly tool: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The rank of the whole file; null: it does not say, or holds several. */
export const rankOfFile = ({ capture: { ranks } }: Profile): number | null =>
  new Set(ranks).size === 1 ? ranks[0] : null;

export function fileRows(analyzer: Analyzer, facts: FileFacts): LakeRows {
  const run = measureRun(analyzer);
  const collectives = collectiveRows(analyzer);
  const kernels = kernelRows(analyzer);
  return {
    files: [fileRow(analyzer, run, facts)],
    steps: stepRows(analyzer, collectives),
    budget: totalsByPhase(analyzer.getIfRecorded(stepBudget)?.rows ?? []).flatMap(budgetRows),
    families: familyRows(kernels),
    kernels,
    collectives,
    findings: (analyzer.getIfRecorded(findings)?.rows ?? []).map(row => ({
      ...{ rule: row.rule, phase: row.phase, severity: row.severity, confidence: row.confidence },
      ...{ claim: row.claim, costNs: row.costNs, costShare: row.costShare, gainNs: row.gainNs },
    })),
    metrics: metricRows(run),
  };
}

function fileRow(analyzer: Analyzer, { facts: run }: Run, facts: FileFacts): LakeRow<'files'> {
  const { profile } = analyzer;
  const { capture } = profile;
  const { rows, summary } = analyzer.get(iterations);
  const { startNs, endNs } = recordedSpan(profile);
  const isTimed = startNs <= endNs;
  const shared = SHARED_VERSIONS.flatMap(([key]) =>
    // A build's own suffix (2.6.0+cu124) is not written by all.
    capture.versions[key] ? [[key, capture.versions[key].split('+')[0]]] : [],
  );
  const hasLabels = Object.keys(facts.labels).length > 0;
  return {
    ...{ path: facts.path, bytes: facts.bytes, tool: facts.tool },
    host: hostOf(profile),
    ...{ profiler: run.profiler, profilerVersion: run.profilerVersion, engine: run.engine },
    ...{ gpu: run.gpu, gpus: run.gpus, driver: run.driver, graphs: run.graphs },
    ...{ stepsFoundBy: run.stepsFoundBy, stepsNumbered: summary?.numbered === true },
    layers: run.model?.layers ?? null,
    model: facts.labels.model ?? null,
    config: facts.labels.config ?? null,
    labels: hasLabels ? JSON.stringify(facts.labels) : null,
    worldSize: capture.distributed?.worldSize ?? null,
    ranksInFile: new Set(capture.ranks).size,
    software: shared.length > 0 ? JSON.stringify(Object.fromEntries(shared)) : null,
    originUtcNs: profile.clock === 'utc' ? profile.originNs : null,
    startNs: isTimed ? startNs : null,
    endNs: isTimed ? endNs : null,
    steps: rows.length,
    selectedSteps: rows.filter(row => row.selected).length,
  };
}

/** The machine of the processes that drive GPUs, of any where none does; null where nothing names one. */
function hostOf({ streams, processes }: Profile): string | null {
  const driving = streams.map(({ process }) => processes[process].host);
  const names = [...new Set(driving.length > 0 ? driving : processes.map(({ host }) => host))];
  const known = names.filter(name => name !== '').sort();
  return known.length > 0 ? known.join(', ') : null;
}

function stepRows(analyzer: Analyzer, collectives: LakeRows['collectives']): LakeRow<'steps'>[] {
  const stepOf = new Map(analyzer.get(iterations).rows.map(row => [row.key, row]));
  const placeOf = (iteration: number, phase: string, device: number, rank: number | null) =>
    `${iteration}/${phase}/${device}/${rank}`;
  const calls = new Map<string, { calls: number; ns: number }>();
  for (const row of collectives) {
    const place = placeOf(row.iteration, row.phase, row.device, row.processRank);
    const known = calls.get(place) ?? { calls: 0, ns: 0 };
    calls.set(place, { calls: known.calls + row.calls, ns: known.ns + row.ns });
  }
  return (analyzer.getIfRecorded(stepBudget)?.rows ?? []).flatMap(row => {
    if (row.iteration === null || row.phase === null) return [];
    const step = stepOf.get(row.key.split('/')[0]);
    const own = calls.get(placeOf(row.iteration, row.phase, row.device, row.rank));
    return [
      {
        ...{ iteration: row.iteration, phase: row.phase, device: row.device, processRank: row.rank },
        ...{ startNs: row.startNs, wallNs: row.wallNs, computeNs: row.computeNs },
        ...{ communicationExposedNs: row.communicationExposedNs, copyExposedNs: row.copyExposedNs },
        ...{ idleNs: row.idleNs, communicationWaitingNs: row.communicationWaitingNs ?? null },
        ...{ communicationHiddenNs: row.communicationHiddenNs, copyHiddenNs: row.copyHiddenNs },
        graphReplayNs: row.graphReplayNs,
        collectiveCalls: own?.calls ?? 0,
        collectiveNs: own?.ns ?? 0,
        contextTokens: step?.contextTokens ?? null,
        generationRequests: step?.generationRequests ?? null,
      },
    ];
  });
}

/** Parts that tile the wall time. Communication is split only where the ranks of the file were matched. */
function budgetRows(total: PhaseBudget): LakeRow<'budget'>[] {
  const { phase, steps, windows } = total;
  const transferring = transferringNs(total);
  const communication: [string, number][] =
    transferring === undefined
      ? [['communication', total.communicationExposedNs]]
      : [
          ['communication.waiting', total.communicationWaitingNs!],
          ['communication.transferring', transferring],
          ['communication.unmatched', total.communicationUnmatchedNs ?? 0],
        ];
  const parts: [string, number][] = [
    ['compute', total.computeNs],
    ...communication,
    ['copies', total.copyExposedNs],
    ...Object.entries(total.idleByCause).map(([cause, ns]): [string, number] => [`idle.${cause}`, ns]),
  ];
  return parts.filter(([, ns]) => ns !== 0).map(([part, ns]) => ({ phase, part, steps, windows, ns }));
}

/** Batch mixes of a phase are added up: `steps` has the load of each step. */
function kernelRows(analyzer: Analyzer): LakeRow<'kernels'>[] {
  const { cells, kernels } = profileRun(analyzer).profile;
  const byPhase = new Map<string | null, { windows: number; parts: Map<string, PartAmount> }>();
  for (const { phase, windows, amounts } of cells) {
    let known = byPhase.get(phase);
    if (!known) byPhase.set(phase, (known = { windows: 0, parts: new Map() }));
    known.windows += windows;
    for (const [part, amount] of amounts) {
      const sum = known.parts.get(part) ?? { ns: 0, count: 0, spentNs: 0 };
      sum.ns += amount.ns;
      sum.count += amount.count;
      sum.spentNs += amount.spentNs;
      known.parts.set(part, sum);
    }
  }
  return [...byPhase].flatMap(([phase, { windows, parts }]) =>
    [...parts].map(([part, amount]) => {
      const kernel = kernels.get(part);
      return {
        ...{ phase, part, family: kernel?.family ?? null, kernel: kernel?.shortName ?? null },
        ...{ dtype: kernel?.dtype || null, windows, ...amount },
      };
    }),
  );
}

function familyRows(kernels: readonly LakeRow<'kernels'>[]): LakeRow<'families'>[] {
  const sums = new Map<string, LakeRow<'families'>>();
  for (const { phase, family, windows, ns, count, spentNs } of kernels) {
    if (family === null) continue;
    const key = `${phase}/${family}`;
    const known = sums.get(key) ?? {
      phase,
      family: family as FamilyId,
      windows,
      ns: 0,
      count: 0,
      spentNs: 0,
    };
    sums.set(key, {
      ...known,
      ...{ ns: known.ns + ns, count: known.count + count, spentNs: known.spentNs + spentNs },
    });
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns || a.family.localeCompare(b.family));
}

function metricRows({ figures }: Run): LakeRow<'metrics'>[] {
  return Object.entries(figures).flatMap(([scope, own]) =>
    Object.entries(own).map(([metric, { value, error }]) => ({
      phase: scope === 'run' ? null : scope,
      ...{ metric, unit: metricById(metric)!.unit, value, error: error ?? null },
    })),
  );
}
