/** A thread that waits for work (`ahead-worker.ts`). Starting it takes a while: it may begin before there is any. */
import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

export interface Helper {
  readonly port: MessagePort;
  /** How many messages it has sent: that it has begun, then its parts. */
  readonly sent: Int32Array;
  /** It sends nothing more. */
  hasEnded: boolean;
  stop(): void;
}

/** Undefined where there is no processor for it. */
export function startHelper(): Helper | undefined {
  if (availableParallelism() < 2) return undefined;
  const { port1: port, port2: its } = new MessageChannel();
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./ahead-worker.js', import.meta.url), {
    workerData: { port: its, sent },
    transferList: [its],
    // What it makes is short-lived or large columns: a heap that grows for the former is memory for nothing.
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  });
  const helper: Helper = { port, sent, hasEnded: false, stop: () => void worker.terminate() };
  worker.unref();
  worker.on('error', () => {});
  worker.once('exit', () => {
    helper.hasEnded = true;
  });
  port.unref();
  return helper;
}
