/** A thread that maps one file after the other. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { UserError } from '../base/user-error.js';
import { type MapOutcome, type MapTask, mapFile } from './map-file.js';

/** What a thread answers: the outcome, or why nothing more can be mapped. */
export type MapAnswer =
  | { readonly outcome: MapOutcome }
  | { readonly fatal: { readonly code: string; readonly message: string; readonly hint: string | null } };

/**
 * Columns lie outside the heap, where their size hardly hastens a collection: without asking for one now and then, those
 * of many files wait for it. A full one takes as long as a small file, so not after each.
 */
const FILES_PER_COLLECTION = 8;
setFlagsFromString('--expose-gc');
// By default the heap may double before a collection, and does so once many files have passed.
setFlagsFromString('--heap-growing-percent=5');
const collectGarbage = runInNewContext('gc') as () => void;
let files = 0;

parentPort!.on('message', (task: MapTask) => {
  mapFile(task).then(
    outcome => {
      if (++files % FILES_PER_COLLECTION === 0) collectGarbage();
      parentPort!.postMessage({ outcome } satisfies MapAnswer);
    },
    (error: NodeJS.ErrnoException) => {
      const hint = error instanceof UserError ? error.hint : null;
      const fatal = { code: error.code ?? 'bug', message: error.message, hint };
      parentPort!.postMessage({ fatal } satisfies MapAnswer);
    },
  );
});
