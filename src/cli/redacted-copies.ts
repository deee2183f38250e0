/** Copies without what nobody else should see, made on the way to a page that will be handed on. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { makeTemporaryFolder, removeTemporaryFolder } from '../disk/temporary-folder.js';
import { redactProfile } from '../redact/redact.js';
import type { Output } from './output.js';

/** Opens the files themselves or, where asked to, copies under the same names that are gone right after. */
export async function openShareable<T>(
  files: readonly string[],
  isAsked: boolean,
  output: Output,
  open: (files: readonly string[]) => Promise<T>,
): Promise<T> {
  if (!isAsked) return open(files);
  const folder = makeTemporaryFolder('stepscope-shared-');
  try {
    return await open(await redactedInto(folder, files, output));
  } finally {
    removeTemporaryFolder(folder);
  }
}

async function redactedInto(folder: string, files: readonly string[], output: Output): Promise<string[]> {
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
