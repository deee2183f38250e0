/**
 * Collects garbage now. Reading leaves arrays as large as the file that nobody needs any more, and V8, which sees small
 * objects that hold them, is in no hurry.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

export async function freeMemory(): Promise<void> {
  // What the last call still holds is let go with its turn.
  await new Promise(setImmediate);
  if (!collect) {
    // Only contexts that are made while the flag is set have the function.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  collect();
}
