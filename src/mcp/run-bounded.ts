/**
 * A command of our own in a process of its own, within bounds: an answer that would be too large, take too long or need
 * too much memory ends that process, and the server lives. A cancelled call ends its process too.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { UserError } from '../base/user-error.js';

const program = fileURLToPath(new URL('../../../bin/stepscope', import.meta.url));

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Says to a command that somebody ends its process when it takes too much: it need not start another one to be ended. */
export const IS_GUARDED = 'STEPSCOPE_GUARDED';
const MOST_SECONDS = 120;
const MOST_BYTES = 2e6;
const LOOK_MS = 50;
const MOST_WAITING = 500;

export class BoundedRuns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly memoryBytes: number,
    private readonly atOnce = Math.max(1, Math.min(4, availableParallelism())),
  ) {}

  async run(args: readonly string[], signal: AbortSignal): Promise<Ran> {
    if (this.waiting.length >= MOST_WAITING)
      throw new UserError(
        'too-large',
        'Too many calls are waiting.',
        'Wait for answers before you ask more.',
      );
    if (this.running >= this.atOnce) await this.turn(signal);
    this.running++;
    try {
      return await this.start(args, signal);
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        signal.removeEventListener('abort', given);
        resolve();
      };
      const given = () => {
        const at = this.waiting.indexOf(next);
        if (at >= 0) this.waiting.splice(at, 1);
        reject(cancelled());
      };
      this.waiting.push(next);
      signal.addEventListener('abort', given, { once: true });
    });
  }

  private start(args: readonly string[], signal: AbortSignal): Promise<Ran> {
    if (signal.aborted) return Promise.reject(cancelled());
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', [IS_GUARDED]: '1' },
    });
    let ended: UserError | undefined;
    const end = (why: UserError) => {
      ended ??= why;
      child.kill('SIGKILL');
    };
    const texts = { out: '', err: '' };
    const take = (name: 'out' | 'err') => (chunk: Buffer) => {
      texts[name] += chunk.toString('utf8');
      if (texts[name].length > MOST_BYTES)
        end(new UserError('too-large', 'The answer is too large.', 'Ask for less.'));
    };
    child.stdout.setEncoding('utf8').on('data', take('out'));
    child.stderr.setEncoding('utf8').on('data', take('err'));
    const late = setTimeout(
      () => end(new UserError('too-large', `The call took longer than ${MOST_SECONDS} s.`, 'Ask for less.')),
      MOST_SECONDS * 1000,
    );
    const look = setInterval(() => {
      if (residentBytes(child.pid) > this.memoryBytes)
        end(new UserError('too-large', 'The call needs more memory than it may have.', 'Ask for less.'));
    }, LOOK_MS);
    const stop = () => end(cancelled());
    signal.addEventListener('abort', stop, { once: true });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', status => {
        clearTimeout(late);
        clearInterval(look);
        signal.removeEventListener('abort', stop);
        if (ended) reject(ended);
        else resolve({ status: status ?? 1, ...texts });
      });
    });
  }
}

const cancelled = () =>
  new UserError('usage', 'The call was cancelled.', 'Call again if you need the answer.');

/** Of Linux; elsewhere memory is bounded by Node and DuckDB alone. */
export function residentBytes(pid: number | undefined): number {
  try {
    return Number(fs.readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}
