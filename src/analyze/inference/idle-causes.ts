/**
 * Why a device stood still: each gap is judged by what the thread that launched the next piece of work was doing
 * before it launched it.
 *
 *   gpu     ▄▄▄▄..............▄▄▄▄
 *   thread      ▒▒sync▒▒  ..  ▒launch▒
 *               └synchr.┘└host┘└launch-bound: the call, and the time until the GPU starts
 *
 * Launched before the gap began: the device itself made it wait (another stream, the order inside a graph).
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { causeIndex, idleCauses } from '../../catalog/idle-causes.js';
import type { Derived } from '../analysis.js';
import type { DeviceTimeline } from '../gpu/device-timeline.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { IdlePieces } from '../host/idle-pieces.js';
import { addPieces, type Line, threadActivity, type VisitCause } from '../host/thread-activity.js';

/** From the return of a launch call to the start of its work on an idle GPU: beyond this it waited on the device. */
const START_LATENCY_NS = 20_000;

interface GapJudge {
  /**
   * Visits the gap piece by piece in order of time, each with its cause. `next` is the work that ends the gap, or NONE;
   * `fallback` the thread to look at when that does not tell, or NONE.
   */
  explain(from: number, to: number, next: number, fallback: number, visit: VisitCause): void;
  /** The same of all gaps of a device between two moments. The answer is another one after the next question. */
  explainAll(
    timeline: Pick<DeviceTimeline, 'busy' | 'opener'>,
    from: number,
    to: number,
    fallback: number,
  ): IdlePieces;
  /** Adds the nanoseconds of the gap to `into`, one number per cause. */
  judge(into: Float64Array, from: number, to: number, next: number, fallback: number): void;
}

export const gapJudge: Derived<GapJudge> = {
  id: 'gap-judge',
  reads: { apiCalls: [] },
  uses: [gpuWork, threadActivity],
  compute({ profile, use }) {
    const { lineOf } = use(threadActivity);
    return judgeOf(use(gpuWork).launch, profile.tables.apiCalls, lineOf);
  },
};

/** Launch calls as the judge sees them, measured or predicted. */
interface LaunchTimes {
  readonly start: ArrayLike<number>;
  readonly end: ArrayLike<number>;
  readonly thread: ArrayLike<number>;
}

export function judgeOf(
  launch: ArrayLike<number>,
  calls: LaunchTimes | undefined,
  lineOf: (thread: number) => Line,
): GapJudge {
  const launchBound = causeIndex('launch-bound');
  const deviceWait = causeIndex('device-wait');
  const unknown = causeIndex('unknown');

  function addGap(into: IdlePieces, from: number, to: number, next: number, fallback: number): void {
    into.openGap(next);
    const call = next === NONE ? NONE : launch[next];
    const thread = call === NONE ? fallback : calls!.thread[call];
    if (thread === NONE) {
      into.add(unknown, from, to);
      return;
    }
    if (call === NONE) {
      // Nothing ran afterwards, so the end of the gap was no launch; with other work, it is not known which.
      if (next === NONE) addPieces(lineOf(thread), from, to, into);
      else into.add(unknown, from, to);
      return;
    }
    // A call that had returned before the gap began was in time, however soon the gap ends after it.
    if (calls!.end[call] <= from) {
      into.add(deviceWait, from, to);
      return;
    }
    const launched = Math.min(Math.max(calls!.start[call], from), to);
    const started = Math.min(Math.max(calls!.end[call] + START_LATENCY_NS, launched), to);
    if (launched > from) addPieces(lineOf(thread), from, launched, into);
    if (started > launched) into.add(launchBound, launched, started);
    if (to > started) into.add(deviceWait, started, to);
  }

  // Two, because who looks through a window may ask about one of its gaps.
  const ofWindow = new IdlePieces();
  const ofGap = new IdlePieces();
  const explained = (from: number, to: number, next: number, fallback: number): IdlePieces => {
    ofGap.clear();
    addGap(ofGap, from, to, next, fallback);
    return ofGap;
  };
  return {
    explain(from, to, next, fallback, visit) {
      const { length, cause, start, end } = explained(from, to, next, fallback);
      for (let i = 0; i < length; i++) visit(cause[i], start[i], end[i]);
    },
    explainAll({ busy, opener }, from, to, fallback) {
      ofWindow.clear();
      const { start, end, length } = busy;
      let at = from;
      for (let i = upperBound(end, from); i < length && start[i] < to; i++) {
        if (start[i] > at) addGap(ofWindow, at, start[i], opener[i], fallback);
        if (end[i] > at) at = end[i];
      }
      if (at < to) {
        const next = lowerBound(start, to);
        addGap(ofWindow, at, to, next < length ? opener[next] : NONE, fallback);
      }
      return ofWindow;
    },
    judge(into, from, to, next, fallback) {
      const { length, cause, start, end } = explained(from, to, next, fallback);
      for (let i = 0; i < length; i++) into[cause[i]] += end[i] - start[i];
    },
  };
}

/** Nanoseconds per cause as an object, largest first, without the zeros. */
export function causesAsObject(perCause: Float64Array): Record<string, number> {
  const entries = idleCauses.map(({ id }, i) => [id, perCause[i]] as const).filter(([, ns]) => ns > 0);
  return Object.fromEntries(entries.sort((a, b) => b[1] - a[1]));
}
