/**
 * Which benchmark runs of each framework are put beside each other. A file may hold a sweep over loads: only runs that
 * were asked the same question are averaged, and the load is one that all frameworks were measured at, if there is one.
 */
import type { BenchRun } from '../../model/bench-run.js';
import { compareBenchRuns } from '../bench-difference.js';

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

/** Of the loads all have: the one with most repeats, then the heaviest. */
function sharedLoad(all: readonly Load[][]): Load | undefined {
  const [first = [], ...others] = all;
  return first
    .filter(load => others.every(groups => groups.some(group => isSame(group, load))))
    .sort((a, b) => b.length - a.length || weight(b[0]) - weight(a[0]))[0];
}

const weight = ({ load }: BenchRun) => load.maxConcurrency ?? load.batchSize ?? 0;
