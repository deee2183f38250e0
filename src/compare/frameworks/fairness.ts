/**
 * Whether the frameworks were asked the same question: what runs are asked everywhere, and whether each one's profile
 * is of the run that was benchmarked.
 */
import { formatCount, formatDuration } from '../../base/units.js';
import type { Phase } from '../../catalog/phases.js';
import { benchedRun } from '../../run/collect.js';
import type { Run } from '../../run/run.js';
import { type Sameness, samenessOf } from '../../run/sameness.js';
import { budgetOf, type Framework, phaseOf } from './framework.js';

/** A profile and a benchmark are of one load when batch and step time agree this well; profilers cost some time. */
const SAME_RUN = 0.25;

export function checkFairness(all: readonly Framework[], phase: Phase | null): Sameness[] {
  const asked = samenessOf('frameworks', all.map(sideOf), phase === null ? [] : [phase]);
  // Tools that run one batch have no concurrency.
  const isBatch = asked.some(({ id }) => id === 'batchSize');
  return [
    ...asked.filter(({ id, values }) => id !== 'maxConcurrency' || !isBatch || values.some(Boolean)),
    ...sameLoad(all, phase),
    errors(all),
  ];
}

/**
 * The profile and its benchmarks; on as many GPUs and of the model that the user says, where the user says so: servers
 * give one model many names.
 */
function sideOf({ run, bench, gpus, model }: Framework): Run[] {
  const runs = [...(run ? [run] : []), ...(bench?.runs ?? []).map(benchedRun)];
  return runs.map(own => ({
    ...own,
    facts: {
      ...own.facts,
      ...(gpus === null ? {} : { gpus }),
      ...(model === null ? {} : { load: { ...own.facts.load, model } }),
    },
  }));
}

/** Per framework: is the profile of the run that was benchmarked? By its batch, and by the time between tokens. */
function sameLoad(all: readonly Framework[], phase: Phase | null): Sameness[] {
  if (phase !== 'decode' && phase !== 'mixed') return [];
  const batch = all.map(framework => {
    const { maxConcurrency, meanConcurrency, batchSize } = framework.bench?.runs[0].load ?? {};
    return pair(phaseOf(framework, phase)?.batch, batchSize ?? meanConcurrency ?? maxConcurrency, size =>
      formatCount(Number(size.toFixed(1))),
    );
  });
  const time = all.map(framework => {
    const budget = budgetOf(framework, phase);
    const token = framework.measured.tpotMeanNs?.value ?? framework.measured.itlMeanNs?.value;
    return pair(budget && budget.wallNs / budget.windows, token, formatDuration);
  });
  const check = (id: string, label: string, pairs: typeof batch, why: string): Sameness => ({
    id,
    label,
    status: pairs.some(found => found && !found.agrees)
      ? 'differs'
      : pairs.some(found => found === null)
        ? 'unknown'
        : 'same',
    effect: 'weakens',
    values: pairs.map(found => found?.text ?? null),
    why,
  });
  return [
    check(
      'profiledLoad',
      'profiled load',
      batch,
      'the batch in the profile differs from the concurrency of the benchmark: the profile shows a different workload',
    ),
    check(
      'profiledSpeed',
      'profiled speed',
      time,
      'the step time in the profile differs from the time per token in the benchmark: profiler overhead, or a different load',
    ),
  ];
}

function pair(
  profile: number | null | undefined,
  bench: number | null | undefined,
  format: (n: number) => string,
) {
  if (profile === null || profile === undefined || bench === null || bench === undefined) return null;
  const agrees = Math.abs(profile - bench) <= SAME_RUN * Math.max(profile, bench);
  return { agrees, text: `${format(profile)} profiled, ${format(bench)} benchmarked` };
}

function errors(all: readonly Framework[]): Sameness {
  const counts = all.map(({ bench }) => bench?.runs.reduce((sum, run) => sum + (run.counts.errors ?? 0), 0));
  const failed = counts.some(count => (count ?? 0) > 0);
  return {
    id: 'errors',
    label: 'failed requests',
    status: failed ? 'differs' : counts.includes(undefined) ? 'unknown' : 'same',
    effect: 'weakens',
    values: counts.map(count => (count === undefined ? null : formatCount(count))),
    why: 'throughput and latency exclude failed requests',
  };
}
