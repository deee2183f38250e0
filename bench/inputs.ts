/** What the benchmarks share: grown captures, lines of output, verdicts. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../src/base/units.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';

export interface Verdict {
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly met: boolean | undefined;
}

const work = path.join(projectRoot, '.bench');

/** A capture repeated `copies` times, made once and kept. */
export function grown(capture: string, file: 'profile.sqlite.gz' | 'kineto.json.gz', copies: number): string {
  mkdirSync(work, { recursive: true });
  const kind = file.startsWith('kineto') ? 'json' : 'sqlite';
  const target = path.join(work, `${capture}-x${copies}.${kind}`);
  if (!existsSync(target)) {
    say(`making ${path.basename(target)} …`);
    execFileSync('python3', [
      path.join(projectRoot, 'bench/grow.py'),
      capturePath(capture, file),
      target,
      String(copies),
    ]);
    say(`  ${formatBytes(statSync(target).size)}`);
  }
  return target;
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
