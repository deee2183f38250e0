/**
 * Names this machine since its last boot, so that files of two programs show whether their monotonic clocks are the same
 * one. The agent writes the same name: a hash of a number that Linux makes up at each boot, which says nothing else.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** Undefined: the system has no such number. */
export async function machineName(): Promise<string | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    return createHash('sha256').update(`stepscope ${boot}`).digest('hex').slice(0, 16);
  } catch {
    return undefined;
  }
}
