/**
 * One at a time: a file beside the one to be changed, made by whoever changes it. Its holder may have died, so a lock of
 * a process that is gone, or an old one from another machine, is taken over.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import { UserError } from '../base/user-error.js';

const PATIENCE_MS = 30_000;
const STALE_MS = 60_000;

/** `change` must be short and synchronous: others wait for it. */
export function withLock<T>(file: string, change: () => T): T {
  const lock = `${file}.lock`;
  const own = `${os.hostname()} ${process.pid}\n`;
  const giveUp = Date.now() + PATIENCE_MS;
  while (!take(lock, own)) {
    if (isAbandoned(lock)) fs.rmSync(lock, { force: true });
    else if (Date.now() > giveUp)
      throw new UserError(
        'unreadable',
        `${file} is being changed by another process (${lock}).`,
        'Try again; remove the lock file if no other process is running.',
      );
    else wait(5 + Math.random() * 20);
  }
  try {
    return change();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

function take(lock: string, own: string): boolean {
  try {
    fs.writeFileSync(lock, own, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAbandoned(lock: string): boolean {
  const stat = fs.statSync(lock, { throwIfNoEntry: false });
  if (!stat) return false;
  if (Date.now() - stat.mtimeMs > STALE_MS) return true;
  const [host, pid] = readIfThere(lock).trim().split(' ');
  if (host !== os.hostname() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function readIfThere(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function wait(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
