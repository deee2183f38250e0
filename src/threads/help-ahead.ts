/**
 * A second thread for analyses that take long and that little else waits for, such as which host code the GPU waits for.
 * It gets the columns of the profile, which are shared, and the results that it needs; whoever asks for its own waits for
 * them then.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import {
  type Analyzer,
  type Derived,
  inOrderOfUse,
  NotRecorded,
  type Settings,
} from '../analyze/analysis.js';
import { deviceTimelines } from '../analyze/gpu/device-timeline.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { topKernels } from '../analyze/gpu/top-kernels.js';
import {
  activityOn,
  type Line,
  type ThreadActivity,
  threadActivity,
} from '../analyze/host/thread-activity.js';
import { heldUp } from '../analyze/host-code/held-up.js';
import {
  blockersOf,
  type HostBlockers,
  hostBlockers,
  type PlainBlockers,
  plainBlockers,
} from '../analyze/host-code/host-blockers.js';
import { forwardSpans } from '../analyze/inference/forward-spans.js';
import { idleGaps } from '../analyze/inference/idle-gaps.js';
import { selection } from '../analyze/inference/selection.js';
import { stepWindows } from '../analyze/inference/step-windows.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { windowIdle } from '../analyze/inference/window-idle.js';
import type { Profile } from '../model/profile.js';
import { type HostLanes, hostLanes, ownBuffersOf } from '../timeline/host-lanes.js';
import { buffersOfIdle, type IdleLanes, idleLanes } from '../timeline/idle-lanes.js';
import { type Helper, startHelper } from './helper.js';

/** With fewer calls it is done before a thread has started. */
const WORTH_A_THREAD = 500_000;
/** What is not shared is copied: more would cost too much memory. */
const MOST_COPIED_BYTES = 64e6;
/** A thread that has not begun or sent anything for so long has died. */
const LONGEST_START_MS = 10_000;
const LONGEST_WAIT_MS = 60_000;

/** Results that both threads use: plain values, large columns shared. */
export const given: readonly Derived<unknown>[] = [
  stepsOf,
  gpuWork,
  deviceTimelines,
  stepWork,
  stepWindows,
  selection,
  forwardSpans,
];

/** A result that the thread computes; between threads it is plain values. */
export interface AheadPart {
  readonly derived: Derived<unknown>;
  plain(result: unknown, profile: Pick<Profile, 'threads'>): unknown;
  restored(plain: unknown): unknown;
  /** Memory of the plain values that the thread does not need any more. */
  buffers?(plain: unknown): ArrayBuffer[];
}

const asItIs = (derived: Derived<unknown>): AheadPart => ({
  derived,
  plain: result => result,
  restored: plain => plain,
});

/** What needs nothing that is given: made while the other thread computes that. */
export const earlyParts = (withTimeline: boolean): readonly AheadPart[] => [
  ...(withTimeline
    ? [{ ...asItIs(hostLanes), buffers: (plain: unknown) => ownBuffersOf(plain as HostLanes) }]
    : []),
  {
    derived: threadActivity,
    plain: (result, { threads }) => threads.map((_, thread) => (result as ThreadActivity).lineOf(thread)),
    restored: plain => activityOn(thread => (plain as readonly Line[])[thread]),
  },
];

/** In order: first what is asked for first. The page of a timeline asks for the last two only when somebody looks at them. */
export const lateParts = (withTimeline: boolean): readonly AheadPart[] => [
  // The timeline is laid out meanwhile.
  ...(withTimeline
    ? [{ ...asItIs(idleLanes), buffers: (plain: unknown) => buffersOfIdle(plain as IdleLanes) }]
    : []),
  asItIs(windowIdle),
  {
    derived: hostBlockers,
    plain: result => plainBlockers(result as HostBlockers),
    restored: plain => blockersOf(plain as PlainBlockers),
  },
  // Of the same code, which only this thread has named.
  asItIs(heldUp),
  ...(withTimeline ? [] : [asItIs(idleGaps), asItIs(topKernels)]),
];

/** Sent first. */
export interface AheadInput {
  readonly profile: Omit<Profile, 'strings'>;
  readonly strings: ReturnType<Profile['strings']['pack']>;
  readonly settings: Settings;
  readonly withTimeline: boolean;
}

/** Then, in the order of `given`. */
export type GivenResults = readonly unknown[];

interface Help {
  readonly leastCalls?: number;
  /** The timeline is asked for too. */
  readonly withTimeline?: boolean;
  /** Called between results: others may have a turn. */
  readonly breathe?: () => Promise<void>;
  /** One that was started before. */
  readonly started?: Helper;
}

/** Does nothing where it would not help. */
export async function helpAhead(
  analyzer: Analyzer,
  { leastCalls = WORTH_A_THREAD, withTimeline = false, breathe = async () => {}, started }: Help = {},
): Promise<void> {
  const { profile, settings } = analyzer;
  const isWorthIt =
    (profile.tables.apiCalls?.length ?? 0) >= leastCalls && unsharedBytes(profile) <= MOST_COPIED_BYTES;
  const helper = isWorthIt ? (started ?? startHelper()) : undefined;
  if (!helper) {
    started?.stop();
    return;
  }
  const { port: own, sent } = helper;
  try {
    const { strings, ...rest } = profile;
    own.postMessage({
      ...{ profile: rest, strings: strings.pack(), settings, withTimeline },
    } satisfies AheadInput);
    // It starts while the results that it needs are computed here.
    for (const derived of given.flatMap(one => [...inOrderOfUse(one)])) {
      analyzer.anticipate(derived);
      await breathe();
    }
    own.postMessage(given.map(derived => analyzer.get(derived)) satisfies GivenResults);
  } catch (error) {
    helper.stop();
    // The user's settings may hold what cannot cross threads.
    if (error instanceof NotRecorded || (error as Error).name === 'DataCloneError') return;
    throw error;
  }
  const received: unknown[] = [];
  let isLost = false;
  const promised = [...earlyParts(withTimeline), ...lateParts(withTimeline)];
  promised.forEach(({ derived, restored }, part) => {
    const take = () => {
      for (let known = Atomics.load(sent, 0); known <= part + 1; known = Atomics.load(sent, 0)) {
        const waitMs = known === 0 ? LONGEST_START_MS : LONGEST_WAIT_MS;
        isLost ||= helper.hasEnded || Atomics.wait(sent, 0, known, waitMs) === 'timed-out';
        if (isLost) return undefined;
      }
      while (received.length <= part) received.push(receiveMessageOnPort(own)?.message);
      const plain = received[part];
      received[part] = undefined;
      return plain === undefined ? undefined : restored(plain);
    };
    analyzer.promise(derived, take, () => helper.hasEnded || isLost || Atomics.load(sent, 0) > part + 1);
  });
}

function unsharedBytes({ tables }: Profile): number {
  let bytes = 0;
  for (const table of Object.values(tables))
    for (const cells of Object.values(table as object))
      if (ArrayBuffer.isView(cells) && !(cells.buffer instanceof SharedArrayBuffer))
        bytes += cells.byteLength;
  return bytes;
}
