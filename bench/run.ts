/**
 * `npm run bench`: how we compare with the peers, in one run on this machine. Ratios only mean something against a
 * peer measured beside them, so every line measures both. Medians, because machines are noisy.
 *
 *   npm run bench -- stats kineto growth     only those parts
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../src/base/units.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { benchGrowth } from './growth.js';
import { benchKineto } from './kineto.js';
import { benchStats } from './stats.js';

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

const parts: Record<string, () => Promise<Verdict[]> | Verdict[]> = {
  stats: benchStats,
  kineto: benchKineto,
  growth: benchGrowth,
};

const chosen = process.argv.slice(2);
const verdicts: Verdict[] = [];
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  say(`\n== ${name}`);
  verdicts.push(...(await part()));
}
say('\n== summary');
for (const { what, wanted, measured, met } of verdicts) {
  say(`${met === undefined ? '  –  ' : met ? ' met ' : 'MISSED'}  ${what}: ${measured} (wanted ${wanted})`);
}
process.exitCode = verdicts.some(verdict => verdict.met === false) ? 1 : 0;
