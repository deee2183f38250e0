/**
 * Lines that TensorRT-LLM prints per iteration, as the benchmark importers read them: those outside the profiled
 * iterations are undisturbed. The numbers are those of the engine's step markers.
 *
 *     iteration   40  41  42  43 … 62  63  64 … 71  72  73
 *     profiled                [-------]
 *     kept        [---------]           settling    [------
 */
import { NONE } from '../base/column.js';
import { matchMarker, phaseOfCounts } from '../catalog/engine-markers.js';
import type { BenchIteration } from '../model/bench-run.js';
import type { Profile } from '../model/profile.js';
import { QuietSource } from '../model/schema.js';
import { type QuietStep, SETTLING_STEPS } from './quiet-step.js';

type WhyNone = 'the profile has no numbered steps' | 'its iteration numbers repeat';

export function stepsOfIterations(
  iterations: readonly BenchIteration[],
  profile: Profile,
): readonly QuietStep[] | WhyNone {
  const rank = iterations.reduce((least, row) => Math.min(least, rankOf(row)), Number.POSITIVE_INFINITY);
  // Ranks step together, and one says it all.
  const rows = new Map<number, BenchIteration>();
  for (const row of iterations) {
    if (rankOf(row) !== rank) continue;
    // Two engines in one log: which of them was profiled, it does not say.
    if (rows.has(row.iteration)) return 'its iteration numbers repeat';
    rows.set(row.iteration, row);
  }
  const profiled = profiledIterations(profile);
  if (profiled.size === 0) return 'the profile has no numbered steps';
  const disturbed = new Set<number>();
  for (const number of profiled) for (let i = 0; i <= SETTLING_STEPS; i++) disturbed.add(number + i);
  return [...rows.values()].flatMap(row =>
    disturbed.has(row.iteration) ? [] : (stepOf(row, rows.get(row.iteration + 1)) ?? []),
  );
}

const rankOf = ({ globalRank, rank }: BenchIteration) => globalRank ?? rank ?? 0;

function profiledIterations({ tables: { ranges }, strings }: Profile): ReadonlySet<number> {
  const names = new Set((ranges?.name ?? []) as unknown as Int32Array);
  const numbers = [...names].flatMap(id => {
    const match = id === NONE ? undefined : matchMarker(strings.text(id as never));
    return match && !match.grammar.generic ? (match.facts.iteration ?? []) : [];
  });
  return new Set(numbers);
}

function stepOf(row: BenchIteration, next: BenchIteration | undefined): QuietStep | undefined {
  const { iteration, hostStepNs, contextRequests, contextTokens, generationTokens } = row;
  const generation =
    row.generationRequests ??
    (row.scheduledRequests !== undefined && contextRequests !== undefined
      ? Math.max(0, row.scheduledRequests - contextRequests)
      : undefined);
  // A pass without decode may have waited for requests at its beginning, so its time is not that of its work.
  const decodes = (generation ?? generationTokens ?? 0) > 0;
  if (hostStepNs === undefined || !(hostStepNs > 0) || !decodes || contextRequests === undefined)
    return undefined;
  return {
    process: NONE,
    source: QuietSource.iterationLog,
    iteration,
    phase: phaseOfCounts(contextRequests, generation ?? generationTokens, generationTokens),
    contextRequests,
    contextTokens: contextTokens ?? Number.NaN,
    generationRequests: generation ?? Number.NaN,
    generationTokens: generationTokens ?? Number.NaN,
    periodNs: hostStepNs,
    // The next line has the device time of this pass.
    ...(next?.previousDeviceStepNs === undefined ? {} : { deviceNs: next.previousDeviceStepNs }),
  };
}
