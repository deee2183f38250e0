/**
 * Which benchmark runs of each framework are put beside each other. A file may hold a sweep over loads: only runs that
 * were asked the same question are averaged, and the load is one that all frameworks were measured at, if there is one.
 */
import type { BenchRun } from '../../model/bench-run.js';
import { compareBenchRuns } from '../../run/bench-difference.js';

export interface ChosenRuns {
  readonly runs: readonly BenchRun[];
  /** Different loads in the files given. */
  readonly loads: number;
}

type Load = readonly BenchRun[];

export function chooseRuns(all: readonly (readonly BenchRun[])[]): ChosenRuns[] {
  const loads = all.map(byLoad);
  const shared = sharedLoad(loads.filter(groups => groups.length > 0));
  return loads.map(groups => ({
    runs: (shared && groups.find(group => isSame(group, shared))) ?? groups[0] ?? [],
    loads: groups.length,
  }));
}

const isSame = (a: Load, b: Load) => compareBenchRuns([a[0]], [b[0]]).comparable;

function byLoad(runs: readonly BenchRun[]): Load[] {
  const groups: BenchRun[][] = [];
  for (const run of runs) {
    const own = groups.find(group => isSame(group, [run]));
    if (own) own.push(run);
    else groups.push([run]);
  }
  return groups;
}

/** Of the loads all have: the one with most repeats on the side that has fewest, then the heaviest. */
function sharedLoad(all: readonly Load[][]): Load | undefined {
  const [first = []] = all;
  const repeats = (load: Load) =>
    Math.min(...all.map(groups => groups.find(group => isSame(group, load))?.length ?? 0));
  return first
    .map(load => ({ load, repeats: repeats(load) }))
    .filter(candidate => candidate.repeats > 0)
    .sort((a, b) => b.repeats - a.repeats || weight(b.load[0]) - weight(a.load[0]))[0]?.load;
}

const weight = ({ load }: BenchRun) => load.maxConcurrency ?? load.batchSize ?? 0;
