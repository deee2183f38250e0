/** The other end of parallel-decode.ts. Descriptors belong to the process, so the file is already open here. */
import { parentPort, workerData } from 'node:worker_threads';
import { SqlitePages } from '../../base/sqlite/pages.js';
import { readFully } from '../profile-file.js';
import { runTasks, type WorkerInput } from './parallel-decode.js';

const { fd, size, jobs, tasks, next } = workerData as WorkerInput;
const pages = new SqlitePages({ size, read: (into, position) => readFully(fd, into, position) });
parentPort!.postMessage(runTasks(pages, jobs, tasks, next));
