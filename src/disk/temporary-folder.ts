/**
 * Folders for files that must not outlive us: what is unpacked, what was dropped onto the page. Node makes them for
 * this user alone. They go when their maker removes them, at the latest when the process ends, by a signal too; what a
 * process that was killed outright left behind goes when the next one needs a folder.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';

const live = new Set<string>();
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** Process ids mean something on one machine only, and containers may share a folder. */
const machine = () => createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8);
const NAME = /^stepscope-[a-z-]*([0-9a-f]{8})-(\d+)-\w{6}$/;

function removeAll(): void {
  for (const folder of live) removeTemporaryFolder(folder);
}

/** Whoever else listens ends the process in order; where nobody does, the signal does what it always did. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

/** `prefix` begins with `stepscope-` and ends in a dash. */
export function makeTemporaryFolder(prefix: string, parent = os.tmpdir()): string {
  if (live.size === 0) removeAbandoned(parent);
  let folder: string;
  try {
    folder = fs.mkdtempSync(path.join(parent, `${prefix}${machine()}-${process.pid}-`));
  } catch (error) {
    throw new UserError(
      'unreadable',
      `A temporary folder cannot be created in ${parent}: ${(error as NodeJS.ErrnoException).code}.`,
      'Set TMPDIR to an existing, writable folder with free space.',
    );
  }
  if (live.size === 0) {
    process.once('exit', removeAll);
    // First, since those who listen once are gone from the list by the time they are called.
    for (const signal of endings) process.prependListener(signal, onSignal);
  }
  live.add(folder);
  return folder;
}

export function removeTemporaryFolder(folder: string): void {
  live.delete(folder);
  if (live.size === 0) {
    process.off('exit', removeAll);
    for (const signal of endings) process.off(signal, onSignal);
  }
  fs.rmSync(folder, { recursive: true, force: true });
}

function removeAbandoned(parent: string): void {
  let names: string[];
  try {
    names = fs.readdirSync(parent);
  } catch {
    return;
  }
  const own = machine();
  for (const name of names) {
    const [, host, pid] = NAME.exec(name) ?? [];
    if (host !== own || isRunning(Number(pid))) continue;
    try {
      fs.rmSync(path.join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's: theirs to remove.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
