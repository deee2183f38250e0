/** A thread that maps one file after the other. */
import { parentPort } from 'node:worker_threads';
import { UserError } from '../base/user-error.js';
import { type MapOutcome, type MapTask, mapFile } from './map-file.js';

/** What a thread answers: the outcome, or why nothing more can be mapped. */
export type MapAnswer =
  | { readonly outcome: MapOutcome }
  | { readonly fatal: { readonly code: string; readonly message: string; readonly hint: string | null } };

parentPort!.on('message', (task: MapTask) => {
  mapFile(task).then(
    outcome => parentPort!.postMessage({ outcome } satisfies MapAnswer),
    (error: NodeJS.ErrnoException) => {
      const hint = error instanceof UserError ? error.hint : null;
      const fatal = { code: error.code ?? 'bug', message: error.message, hint };
      parentPort!.postMessage({ fatal } satisfies MapAnswer);
    },
  );
});
