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
import { NONE } from '../../base/column.js';
import { causeIndex, idleCauses } from '../../catalog/idle-causes.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { type ThreadActivity, threadActivity, type VisitCause } from '../host/thread-activity.js';

/** From the return of a launch call to the start of its work on an idle GPU: beyond this it waited on the device. */
const START_LATENCY_NS = 20_000;

interface GapJudge {
  /**
   * Visits the gap piece by piece in order of time, each with its cause. `next` is the work that ends the gap, or NONE;
   * `fallback` the thread to look at when that does not tell, or NONE.
   */
  explain(from: number, to: number, next: number, fallback: number, visit: VisitCause): void;
  /** Adds the nanoseconds of the gap to `into`, one number per cause. */
  judge(into: Float64Array, from: number, to: number, next: number, fallback: number): void;
}

export const gapJudge: Derived<GapJudge> = {
  id: 'gap-judge',
  reads: { apiCalls: [] },
  uses: [gpuWork, threadActivity],
  compute({ profile, use }) {
    return judgeOf(use(gpuWork).launch, profile.tables.apiCalls, use(threadActivity));
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
  activity: ThreadActivity,
): GapJudge {
  const launchBound = causeIndex('launch-bound');
  const deviceWait = causeIndex('device-wait');
  const unknown = causeIndex('unknown');
  const explain: GapJudge['explain'] = (from, to, next, fallback, visit) => {
    const call = next === NONE ? NONE : launch[next];
    const thread = call === NONE ? fallback : calls!.thread[call];
    if (thread === NONE) {
      visit(unknown, from, to);
      return;
    }
    if (call === NONE) {
      // Nothing ran afterwards, so the end of the gap was no launch; with other work, it is not known which.
      if (next === NONE) activity.forEach(thread, from, to, visit);
      else visit(unknown, from, to);
      return;
    }
    // A call that had returned before the gap began was in time, however soon the gap ends after it.
    if (calls!.end[call] <= from) {
      visit(deviceWait, from, to);
      return;
    }
    const launched = Math.min(Math.max(calls!.start[call], from), to);
    const started = Math.min(Math.max(calls!.end[call] + START_LATENCY_NS, launched), to);
    if (launched > from) activity.forEach(thread, from, launched, visit);
    if (started > launched) visit(launchBound, launched, started);
    if (to > started) visit(deviceWait, started, to);
  };
  // One visitor for all gaps: there may be millions of them.
  let sums = new Float64Array(0);
  const add: VisitCause = (cause, from, to) => {
    sums[cause] += to - from;
  };
  return {
    explain,
    judge(into, from, to, next, fallback) {
      sums = into as Float64Array<ArrayBuffer>;
      explain(from, to, next, fallback, add);
    },
  };
}

/** Nanoseconds per cause as an object, largest first, without the zeros. */
export function causesAsObject(perCause: Float64Array): Record<string, number> {
  const entries = idleCauses.map(({ id }, i) => [id, perCause[i]] as const).filter(([, ns]) => ns > 0);
  return Object.fromEntries(entries.sort((a, b) => b[1] - a[1]));
}
