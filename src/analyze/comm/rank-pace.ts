/**
 * How fast each rank runs the same kernels: a GPU with a lower clock is slower in all of them, a rank with more work only
 * in some. Per rank the median over kernel names of its mean duration by the median of the ranks; 1.03 is 3% slower.
 */
import { NONE } from '../../base/column.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { familyIndex, workFamilies } from '../gpu/work-families.js';
import { collectiveCalls } from './collective-calls.js';

/** Runs of a kernel below which its mean says little. */
const FEWEST_RUNS = 5;
/** Kernel names that all ranks share, below which a pace says little. */
const FEWEST_NAMES = 5;

/** By index of CollectiveCalls.ranks; NaN: not known. */
export const rankPace: Derived<Float64Array> = {
  id: 'rank-pace',
  reads: { kernels: [] },
  uses: [collectiveCalls, gpuWork, workFamilies],
  compute({ profile, use, useIfRecorded }) {
    const { ranks } = use(collectiveCalls);
    const pace = new Float64Array(ranks.length).fill(Number.NaN);
    const work = useIfRecorded(gpuWork);
    if (!work || ranks.length < 2) return pace;
    const { family } = use(workFamilies);
    const communication = familyIndex('communication');
    const rankOf = new Map(ranks.flatMap(({ device }, i) => (device === NONE ? [] : [[device, i] as const])));
    const names = profile.tables.kernels?.name;
    const sums = new Map<number, { ns: Float64Array; runs: Float64Array }>();
    for (let i = 0; i < work.length; i++) {
      const rank = rankOf.get(work.device[i]);
      if (work.kind[i] !== WorkKind.kernel || family[i] === communication || rank === undefined) continue;
      const name = names![work.row[i]];
      let own = sums.get(name);
      if (!own) {
        own = { ns: new Float64Array(ranks.length), runs: new Float64Array(ranks.length) };
        sums.set(name, own);
      }
      own.ns[rank] += work.end[i] - work.ownStart[i];
      own.runs[rank]++;
    }
    const ratios: Float64Array[] = [];
    for (const { ns, runs } of sums.values()) {
      if (runs.some(count => count !== runs[0]) || runs[0] < FEWEST_RUNS) continue;
      const typical = medianOf(ns.slice());
      if (typical > 0) ratios.push(ns.map(own => own / typical));
    }
    if (ratios.length < FEWEST_NAMES) return pace;
    return pace.map((_, rank) => medianOf(Float64Array.from(ratios, own => own[rank])));
  },
};
