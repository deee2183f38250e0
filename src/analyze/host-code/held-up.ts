/**
 * Gaps in which the launching thread was held up by something that is not in its code: the same places are passed
 * quickly in other steps, and the next stall comes somewhere else. A thread that lost its CPU looks like this, or one
 * that waits for the interpreter, or a collector that starts whenever enough was allocated.
 *
 *   step 1   a b c·········d e f       code that is slow by itself:   a b·····c d e f
 *   step 2   a·········b c d e f                                      a b·····c d e f
 */
import { NONE } from '../../base/column.js';
import { forEachGap } from '../../base/intervals.js';
import { causeIndex, idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { gapJudge } from '../inference/idle-causes.js';
import { selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { codeInGap } from './code-in-gap.js';
import { stackBlockers } from './host-blockers.js';
import { idleCode } from './idle-code.js';

/** Time slices of schedulers and the interpreter's interval are milliseconds; nothing that only launches takes this long. */
const STALL_NS = 1e6;
/** Places are named for so many gaps; more say nothing new. */
const LOOKED_AT = 1000;
/** Fewer gaps, or fewer places, may be chance. */
const FEWEST_GAPS = 6;
const FEWEST_PLACES = 4;

interface HeldUp {
  readonly gaps: number;
  readonly ns: number;
  readonly longestNs: number;
  /** How often each, most often first. */
  readonly places: readonly string[];
}

/** By phase; none where code explains the gaps, or too few were seen. */
export const heldUp: Derived<ReadonlyMap<Phase, HeldUp>> = {
  id: 'held-up',
  reads: { apiCalls: [] },
  uses: [selection, deviceTimelines, gapJudge, stepsOf, idleCode, stackBlockers],
  needs: [['apiCalls']],
  compute({ use }) {
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { windows } = use(selection);
    let longGaps = 0;
    for (const { device, start, end } of windows)
      forEachGap(timelines.get(device)!.busy, start, end, (from, to) => {
        if (to - from >= STALL_NS) longGaps++;
      });
    // Most profiles have none: their code need not be named for this.
    if (longGaps < FEWEST_GAPS) return new Map();
    const { steps = [], lanes = [] } = use(stepsOf) ?? {};
    const { judge } = use(gapJudge);
    const stalls = new Map<Phase, Stalls>();
    // All code first: call paths are numbered as they are met.
    use(stackBlockers);
    for (const { device, step, lane, start, end } of windows) {
      if (step === NONE) continue;
      const { phase } = steps[step].facts;
      const own = stalls.get(phase) ?? new Stalls();
      stalls.set(phase, own);
      own.steps++;
      const { busy, opener } = timelines.get(device)!;
      const fallback = lane === NONE ? NONE : (lanes[lane].thread as number);
      forEachGap(busy, start, end, (from, to, interval) => {
        if (to - from < STALL_NS) return;
        const next = interval < busy.length ? opener[interval] : NONE;
        const perCause = new Float64Array(idleCauses.length);
        judge(perCause, from, to, next, fallback);
        // A wait that was recorded has a cause of its own.
        const unexplainedNs = UNEXPLAINED.reduce((sum, cause) => sum + perCause[cause], 0);
        if (unexplainedNs < STALL_NS) return;
        own.add(unexplainedNs, () => codeInGap(use(idleCode), { from, to, next, fallback })[0]?.label);
      });
    }
    return new Map(
      [...stalls].flatMap(([phase, own]) => {
        const found = own.finish();
        return found ? [[phase, found] as const] : [];
      }),
    );
  },
};

const UNEXPLAINED = [causeIndex('host-code'), causeIndex('launch-bound')];

class Stalls {
  steps = 0;
  private gaps = 0;
  private ns = 0;
  private longestNs = 0;
  private readonly byPlace = new Map<string, number>();

  add(ns: number, placeOf: () => string | undefined): void {
    this.gaps++;
    this.ns += ns;
    this.longestNs = Math.max(this.longestNs, ns);
    if (this.gaps > LOOKED_AT) return;
    const place = placeOf() ?? '';
    this.byPlace.set(place, (this.byPlace.get(place) ?? 0) + 1);
  }

  finish(): HeldUp | undefined {
    const { gaps, ns, longestNs, byPlace } = this;
    const looked = Math.min(gaps, LOOKED_AT);
    const ordered = [...byPlace].sort((a, b) => b[1] - a[1]);
    if (gaps < FEWEST_GAPS || ordered.length < FEWEST_PLACES) return undefined;
    // Code that is slow by itself is slow in most steps, and a few places hold most of it.
    const isOftenThere = (count: number) => count >= this.steps / 2;
    const repeated = ordered.reduce((sum, [, count]) => sum + (isOftenThere(count) ? count : 0), 0);
    if (repeated > looked / 2) return undefined;
    return { gaps, ns, longestNs, places: ordered.map(([place]) => place) };
  }
}
