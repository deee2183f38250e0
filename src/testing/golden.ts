/** Short texts kept under test/golden and compared word for word. UPDATE_GOLDEN=1 rewrites them: read the diff. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { projectRoot } from './captures.js';

/** Paths are as seen from the root of the project, wherever that is: in a folder with a space they are quoted. */
export function assertGolden(name: string, actual: string): void {
  const pieces = actual.split(projectRoot).map((piece, i, all) => {
    const opened = i < all.length - 1 && piece.endsWith("'") ? piece.slice(0, -1) : piece;
    const isQuoted = i > 0 && all[i - 1].endsWith("'");
    return isQuoted ? opened.replace("'", '') : opened;
  });
  assertSameText(path.join(projectRoot, 'test/golden', name), pieces.join(''));
}

/** The same for a file kept elsewhere in the project. */
export function assertSameText(file: string, actual: string): void {
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  const name = path.relative(projectRoot, file);
  assert.equal(actual, readFileSync(file, 'utf8'), `${name} differs (UPDATE_GOLDEN=1 rewrites it)`);
}
