/** What ranks wait for: by the layer, the cause and the kernel that made the last rank late. */
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { workFamilies } from '../gpu/work-families.js';
import { selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { rankMatching } from './collective-waits.js';
import { type LateCause, lateArrivals } from './late-arrivals.js';
import { lateCauseLabel } from './late-words.js';
import { notMatched } from './not-matched.js';

const fields = {
  key: keyField,
  phase: maybe(field.text<Phase>('Phase', 'null: outside all steps')),
  layer: maybe(field.id('Layer', 'of the collective; null: not known')),
  cause: field.text('Why late', 'what the last rank did more than the others'),
  kernel: maybe(field.text('Kernel', 'the kernel that took longer than on the others')),
  collectives: field.count('Collectives', 'in the selected steps'),
  waitingNs: field.nsMean('Waiting', 'mean per step, over all ranks that took part'),
  share: field.share('Share (%)', 'of the phase’s waiting'),
  ranks: field.count('Late ranks', 'different ranks that were last'),
};

type RankWaitRow = RowOf<typeof fields>;

interface Tally {
  readonly step: number;
  readonly layer: number;
  readonly cause: LateCause;
  readonly kernel: string | null;
  readonly ranks: Set<number>;
  collectives: number;
  ns: number;
}

export const rankWaits: Analysis<RankWaitRow, AnalysisResult<RankWaitRow>> = {
  id: 'rank-waits',
  title: 'What ranks wait for',
  question: 'In which layer and behind which kernel do ranks wait for the last one?',
  reads: {},
  uses: [lateArrivals, rankMatching, stepsOf, selection, workFamilies],
  fields,
  compute({ use, useIfRecorded }) {
    const late = use(lateArrivals);
    if (!late) throw notMatched(use(rankMatching).problem);
    const steps = useIfRecorded(stepsOf)?.steps ?? [];
    const phaseOf = (step: number) => (step === NONE ? null : steps[step].facts.phase);
    const chosen = useIfRecorded(selection)?.steps ?? new Uint8Array();
    const stepsOfPhase = (phase: Phase | null) =>
      Math.max(1, steps.filter((step, i) => chosen[i] === 1 && step.facts.phase === phase).length);
    const tallies = new Map<string, Tally>();
    const totals = new Map<Phase | null, number>();
    for (const { step, layer, cause, kernel, rank, waitedNs, collective } of late.arrivals) {
      const phase = phaseOf(step);
      // Over all ranks, the last one included: what a rank waits on average.
      const ns = (waitedNs * (collective.calls.length - 1)) / collective.calls.length;
      totals.set(phase, (totals.get(phase) ?? 0) + ns);
      const name = kernel === NONE ? null : use(workFamilies).classOf(kernel).shortName;
      const key = [phase, layer, cause, name].join('/');
      let own = tallies.get(key);
      if (!own) {
        own = { step, layer, cause, kernel: name, ranks: new Set(), collectives: 0, ns: 0 };
        tallies.set(key, own);
      }
      own.collectives++;
      own.ns += ns;
      own.ranks.add(rank);
    }
    const rows = [...tallies.values()]
      .sort((a, b) => b.ns - a.ns)
      .map(({ step, layer, cause, kernel, ranks, collectives, ns }): RankWaitRow => {
        const phase = phaseOf(step);
        return {
          key: `phase:${phase ?? 'outside'}/layer:${layer === NONE ? 'none' : layer}/${cause}/${kernel ?? ''}`,
          phase,
          layer: layer === NONE ? null : layer,
          cause: lateCauseLabel(cause),
          kernel,
          collectives,
          waitingNs: ns / stepsOfPhase(phase),
          share: totals.get(phase)! > 0 ? ns / totals.get(phase)! : 0,
          ranks: ranks.size,
        };
      });
    return { rows };
  },
};
