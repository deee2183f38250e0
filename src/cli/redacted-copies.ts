/** Copies without what nobody else should see, made on the way to a page that will be handed on. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { makeTemporaryFolder } from '../import/temporary-folder.js';
import { redactProfile } from '../redact/redact.js';
import type { Output } from './output.js';

/** The files themselves, or copies under the same names that are gone when the process ends. */
export async function shareable(
  files: readonly string[],
  isAsked: boolean,
  output: Output,
): Promise<readonly string[]> {
  if (!isAsked) return files;
  const folder = makeTemporaryFolder('stepscope-shared-');
  const copies: string[] = [];
  for (const [i, input] of files.entries()) {
    // Two ranks may lie in two folders under one name.
    const own = path.join(folder, String(i));
    fs.mkdirSync(own);
    // What is packed here is unpacked again at once.
    const copy = path.join(own, path.basename(input).replace(/\.gz$/i, ''));
    const onProgress = (done: number) => output.progress(`redacting ${input}`, done);
    await redactProfile({ input, output: copy, hashRanges: false, force: false, onProgress });
    copies.push(copy);
  }
  output.clearProgress();
  return copies;
}
