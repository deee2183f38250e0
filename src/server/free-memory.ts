/**
 * Collects garbage now. Reading leaves arrays as large as the file that nobody needs any more, and V8, which sees small
 * objects that hold them, is in no hurry.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** What the last call still holds is let go with its turn; memory that threads shared, with the collection after that. */
const TIMES = 2;

export async function freeMemory(): Promise<void> {
  if (!collect) {
    // Only contexts that are made while the flag is set have the function.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  for (let time = 0; time < TIMES; time++) {
    await new Promise(setImmediate);
    collect();
  }
}
