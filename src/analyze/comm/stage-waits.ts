/** How long ranks wait for a message of another: stages of a pipeline, mostly, for the one before them. */
import { NONE } from '../../base/column.js';
import type { Derived } from '../analysis.js';
import { selection } from '../inference/selection.js';
import { stepWork } from '../inference/step-work.js';
import { collectiveWaits } from './collective-waits.js';

export interface StageWait {
  /** Numbers of the ranks. */
  readonly waits: number;
  readonly for: number;
  /** Index into Steps.steps, or NONE. */
  readonly step: number;
  readonly ns: number;
}

/** Of the selected steps. Undefined where ranks could not be matched. */
export const stageWaits: Derived<readonly StageWait[] | undefined> = {
  id: 'stage-waits',
  followsSelection: true,
  reads: {},
  uses: [collectiveWaits, stepWork, selection],
  compute({ use, useIfRecorded }) {
    const waits = use(collectiveWaits);
    if (!waits) return undefined;
    const owned = useIfRecorded(stepWork);
    const chosen = useIfRecorded(selection);
    const { calls } = waits;
    return waits.transfers.flatMap(({ key, calls: own }): StageWait[] => {
      const { from, to } = calls.keys[key].transfer!;
      return own.flatMap(call => {
        const run = owned && calls.work[call] !== NONE ? owned.runOfWork[calls.work[call]] : NONE;
        const step = run === NONE ? NONE : owned!.deviceRuns[run].step;
        const isSelected =
          !chosen || chosen.whole || chosen.steps.length === 0 || (step !== NONE && chosen.steps[step] === 1);
        if (!isSelected) return [];
        const isReceiver = calls.ranks[calls.rank[call]].rank === to;
        return [
          {
            ...(isReceiver ? { waits: to, for: from } : { waits: from, for: to }),
            step,
            ns: waits.waitingNs[call],
          },
        ];
      });
    });
  },
};
