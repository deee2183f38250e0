/**
 * Folders for files that must not outlive us: what is unpacked, what was dropped onto the page. Node makes them for
 * this user alone. They go when their maker removes them, at the latest when the process ends in order.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

const live = new Set<string>();

function removeAll(): void {
  for (const folder of live) removeTemporaryFolder(folder);
}

export function makeTemporaryFolder(prefix: string, parent = os.tmpdir()): string {
  const folder = fs.mkdtempSync(path.join(parent, prefix));
  if (live.size === 0) process.once('exit', removeAll);
  live.add(folder);
  return folder;
}

export function removeTemporaryFolder(folder: string): void {
  live.delete(folder);
  if (live.size === 0) process.off('exit', removeAll);
  fs.rmSync(folder, { recursive: true, force: true });
}
