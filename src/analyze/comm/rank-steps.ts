/** The steps across ranks: who was slowest in each, how long the others waited, and why. */
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { workFamilies } from '../gpu/work-families.js';
import { stepsOf } from '../inference/steps.js';
import { rankMatching } from './collective-waits.js';
import { type LateArrival, lateArrivals } from './late-arrivals.js';
import { lateCauseLabel, mainCause } from './late-words.js';
import { notMatched } from './not-matched.js';

const fields = {
  key: keyField,
  iteration: maybe(field.id('Iteration', 'null: outside all steps')),
  phase: maybe(field.text<Phase>('Phase', 'of the step')),
  collectives: field.count('Collectives', 'matched in the step'),
  waitingNs: field.nsMean('Waiting', 'until the last rank arrives, mean over ranks'),
  transferringNs: field.nsMean('Transferring', 'after the last rank arrived, mean over ranks'),
  slowestRank: maybe(field.id('Slowest rank', 'the rank that the others waited longest for')),
  slowestShare: maybe(field.share('Its share (%)', 'of the waiting, while it was last')),
  last: field.count('Last', 'collectives in which the slowest rank was last', { priority: -1 }),
  why: maybe(field.text('Why', 'what it did more than the others')),
  kernel: maybe(field.text('Kernel', 'the kernel that took longer than on the others', { priority: -1 })),
};

type RankStepRow = RowOf<typeof fields>;

export const rankSteps: Analysis<RankStepRow, AnalysisResult<RankStepRow>> = {
  id: 'rank-steps',
  title: 'Steps across ranks',
  question: 'Which rank was slowest in each step, and why?',
  reads: {},
  uses: [lateArrivals, rankMatching, stepsOf, workFamilies],
  fields,
  compute({ use, useIfRecorded }) {
    const late = use(lateArrivals);
    if (!late) throw notMatched(use(rankMatching).problem);
    const { waits } = late;
    const steps = useIfRecorded(stepsOf)?.steps ?? [];
    const byStep = new Map<number, LateArrival[]>();
    for (const arrival of late.arrivals) {
      const own = byStep.get(arrival.step);
      if (own) own.push(arrival);
      else byStep.set(arrival.step, [arrival]);
    }
    const rows = [...byStep].map(([step, own]): RankStepRow => {
      const perRank = new Float64Array(waits.calls.ranks.length);
      for (const { rank, waitedNs } of own) perRank[rank] += waitedNs;
      const slowest = perRank.indexOf(Math.max(...perRank));
      const mine = own.filter(({ rank }) => rank === slowest);
      const total = perRank.reduce((sum, ns) => sum + ns, 0);
      const main = mainCause(mine);
      const ranks = new Set(
        own.flatMap(({ collective }) => collective.calls.map(call => waits.calls.rank[call])),
      );
      const mean = (of: Float64Array) =>
        own.reduce(
          (sum, { collective }) => sum + collective.calls.reduce((ns, call) => ns + of[call], 0),
          0,
        ) / ranks.size;
      const known = step === NONE ? undefined : steps[step];
      return {
        key: known ? `iteration:${known.iteration}@${step}` : 'outside',
        iteration: known?.iteration ?? null,
        phase: known?.facts.phase ?? null,
        collectives: own.length,
        waitingNs: mean(waits.waitingNs),
        transferringNs: mean(waits.transferringNs),
        slowestRank: total > 0 ? (waits.calls.ranks[slowest].rank ?? slowest) : null,
        slowestShare: total > 0 ? perRank[slowest] / total : null,
        last: mine.length,
        why: main ? lateCauseLabel(main.cause) : null,
        kernel: !main || main.kernel === NONE ? null : use(workFamilies).classOf(main.kernel).shortName,
      };
    });
    return { rows: rows.sort((a, b) => (a.iteration ?? Infinity) - (b.iteration ?? Infinity)) };
  },
};
