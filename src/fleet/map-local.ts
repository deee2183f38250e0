/**
 * Maps files on this machine, several at a time, each in a thread of its own. Memory is bounded by what is in work, not
 * by how many files there are: a file begins only if its estimated need fits next to those already in work.
 */
import * as os from 'node:os';
import { Worker } from 'node:worker_threads';
import { UserError } from '../base/user-error.js';
import { withoutPacking } from '../catalog/file-formats.js';
import type { MapOutcome, MapTask } from './map-file.js';
import type { MapAnswer } from './map-worker.js';
import type { SourceFile } from './source-files.js';

/** Columns and results take about as much as the file; packed ones are about ten times as large inside. */
const PACKED_RATIO = 10;
const FIXED_BYTES = 150e6;

const estimatedBytes = ({ path, bytes }: SourceFile): number =>
  FIXED_BYTES + bytes * (withoutPacking(path) === path ? 1 : PACKED_RATIO);

interface LocalPool {
  /** Threads at most. */
  readonly workers: number;
  /** Estimated need of all files in work; one that needs more runs alone. */
  readonly memoryBytes: number;
}

/** Half of what is free: the page cache needs the rest. */
export const defaultPool = (): LocalPool => ({
  workers: os.availableParallelism(),
  memoryBytes: os.freemem() / 2,
});

/** Calls `onDone` for each file as it ends. Throws where nothing more can be written to the lake. */
export async function mapLocally(
  files: readonly SourceFile[],
  taskOf: (file: SourceFile) => MapTask,
  pool: LocalPool,
  onDone: (outcome: MapOutcome) => void,
): Promise<void> {
  const waiting = [...files];
  const inWork = new Map<Worker, SourceFile>();
  const idle: Worker[] = [];
  let failure: Error | undefined;
  await new Promise<void>(resolve => {
    const next = () => {
      while (!failure && waiting.length > 0 && inWork.size < pool.workers && fits(waiting[0])) {
        const file = waiting.shift()!;
        const worker = idle.pop() ?? start();
        inWork.set(worker, file);
        worker.postMessage(taskOf(file));
      }
      if (inWork.size === 0) resolve();
    };
    const fits = (file: SourceFile) => {
      const used = [...inWork.values()].reduce((sum, own) => sum + estimatedBytes(own), 0);
      return inWork.size === 0 || used + estimatedBytes(file) <= pool.memoryBytes;
    };
    const start = () => {
      const worker = new Worker(new URL('./map-worker.js', import.meta.url));
      worker.on('message', (answer: MapAnswer) => {
        inWork.delete(worker);
        idle.push(worker);
        if ('outcome' in answer) onDone(answer.outcome);
        else failure ??= fatalError(answer.fatal);
        next();
      });
      // A thread that runs out of memory ends; the file it had is tried no more, the others go on in a new one.
      worker.on('error', error => {
        const file = inWork.get(worker);
        inWork.delete(worker);
        if (file) onDone(crashed(file, error as Error));
        next();
      });
      return worker;
    };
    next();
  });
  await Promise.all(idle.map(worker => worker.terminate()));
  if (failure) throw failure;
}

/** Not recorded in the lake: with more memory the file may well be read. */
const crashed = ({ path }: SourceFile, { message }: Error): MapOutcome => ({
  status: 'broken',
  path,
  broken: {
    ...{ path, code: 'crashed', message: `The thread that read ${path} ended: ${message}.` },
    hint: 'Map it again with --workers 1, on a machine with more memory.',
  },
});

function fatalError({ code, message, hint }: { code: string; message: string; hint: string | null }): Error {
  if (hint !== null) return new UserError(code as UserError['code'], message, hint);
  // Threads hand over plain objects: what the system refused is made again, for the two lines about it.
  return Object.assign(new Error(message), { code, ...(code === 'bug' ? {} : { syscall: 'write' }) });
}
