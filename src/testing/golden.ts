/** Short texts kept under test/golden and compared word for word. UPDATE_GOLDEN=1 rewrites them: read the diff. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { projectRoot } from './captures.js';

/** Paths are as seen from the root of the project, wherever that is. */
export function assertGolden(name: string, actual: string): void {
  assertSameText(path.join(projectRoot, 'test/golden', name), actual.replaceAll(projectRoot, ''));
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
