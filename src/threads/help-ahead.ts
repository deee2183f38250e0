/**
 * A second thread for what takes longest and what nothing else waits for: which host code the GPU waits for. It gets the
 * columns of the profile, which are shared, and the results that it needs; whoever asks for its own waits for them then.
 */
import { availableParallelism } from 'node:os';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { AnalysisResult } from '../analyze/analysis.js';
import { type Analyzer, type Derived, NotRecorded, type Settings } from '../analyze/analysis.js';
import { deviceTimelines } from '../analyze/gpu/device-timeline.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { blockersOf, hostBlockers, type PlainBlockers } from '../analyze/host-code/host-blockers.js';
import { forwardSpans } from '../analyze/inference/forward-spans.js';
import { type IdleGapRow, idleGaps } from '../analyze/inference/idle-gaps.js';
import { selection } from '../analyze/inference/selection.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { stepsOf } from '../analyze/inference/steps.js';
import type { Profile } from '../model/profile.js';

/** With fewer calls it is done before a thread has started. */
const WORTH_A_THREAD = 500_000;
/** What is not shared is copied: more would cost too much memory. */
const MOST_COPIED_BYTES = 64e6;
/** A thread that has not answered for so long has died. */
const LONGEST_WAIT_MS = 60_000;

/** Results that both threads use: plain values, large columns shared. */
export const given: readonly Derived<unknown>[] = [
  stepsOf,
  gpuWork,
  deviceTimelines,
  stepWork,
  selection,
  forwardSpans,
];

export interface AheadInput {
  readonly profile: Omit<Profile, 'strings'>;
  readonly strings: ReturnType<Profile['strings']['pack']>;
  readonly settings: Settings;
  /** In the order of `given`. */
  readonly results: readonly unknown[];
}

export interface AheadAnswer {
  readonly blockers?: PlainBlockers;
  readonly gaps?: AnalysisResult<IdleGapRow>;
}

/** Does nothing where it would not help. */
export function helpAhead(analyzer: Analyzer, leastCalls = WORTH_A_THREAD): void {
  const { profile, settings } = analyzer;
  if ((profile.tables.apiCalls?.length ?? 0) < leastCalls || availableParallelism() < 2) return;
  if (unsharedBytes(profile) > MOST_COPIED_BYTES) return;
  const { port1: own, port2: its } = new MessageChannel();
  const isDone = new Int32Array(new SharedArrayBuffer(4));
  // It starts while the results that it needs are computed here.
  const worker = new Worker(new URL('./host-code-worker.js', import.meta.url), {
    workerData: { port: its, isDone },
    transferList: [its],
  });
  worker.unref();
  worker.on('error', () => {});
  own.unref();
  try {
    const results = given.map(derived => analyzer.get(derived));
    const { strings, ...rest } = profile;
    own.postMessage({ profile: rest, strings: strings.pack(), settings, results } satisfies AheadInput);
  } catch (error) {
    void worker.terminate();
    // A plugin may have put a function into what must cross threads.
    if (error instanceof NotRecorded || (error as Error).name === 'DataCloneError') return;
    throw error;
  }
  let answer: AheadAnswer | undefined;
  const wait = (): AheadAnswer => {
    if (answer) return answer;
    Atomics.wait(isDone, 0, 0, LONGEST_WAIT_MS);
    answer = (receiveMessageOnPort(own)?.message as AheadAnswer | undefined) ?? {};
    own.close();
    return answer;
  };
  analyzer.promise(hostBlockers, () => {
    const { blockers } = wait();
    return blockers && blockersOf(blockers);
  });
  analyzer.promise(idleGaps, () => wait().gaps);
}

function unsharedBytes({ tables }: Profile): number {
  let bytes = 0;
  for (const table of Object.values(tables))
    for (const cells of Object.values(table as object))
      if (ArrayBuffer.isView(cells) && !(cells.buffer instanceof SharedArrayBuffer))
        bytes += cells.byteLength;
  return bytes;
}
