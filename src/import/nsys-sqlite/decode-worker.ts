/** The other end of parallel-decode.ts. Descriptors belong to the process, so the file is already open here. */
import { parentPort } from 'node:worker_threads';
import { SqlitePages } from '../../base/sqlite/pages.js';
import { UserError } from '../../base/user-error.js';
import { readFully } from '../profile-file.js';
import { runTasks, type WorkerAnswer, type WorkerInput } from './parallel-decode.js';

function answer({ fd, size, jobs, tasks, next }: WorkerInput): WorkerAnswer {
  try {
    const pages = new SqlitePages({ size, read: (into, position) => readFully(fd, into, position) });
    return { losses: runTasks(pages, jobs, tasks, next) };
  } catch (error) {
    // Classes do not cross threads, so what the user can fix crosses as its parts.
    if (!(error instanceof UserError)) throw error;
    return { failed: [error.code, error.message, error.hint] };
  }
}

// Answering once ends the thread: nothing else keeps it.
parentPort!.once('message', (input: WorkerInput) => parentPort!.postMessage(answer(input)));
