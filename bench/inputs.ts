/** Shared by the benchmarks: enlarged captures, output, verdicts. */
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

/** The folder for files that the benchmarks create. */
export function benchFolder(): string {
  const folder = path.join(projectRoot, '.bench');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A capture repeated `copies` times, created once and kept. */
export function grown(capture: string, file: 'profile.sqlite.gz' | 'kineto.json.gz', copies: number): string {
  const kind = file.startsWith('kineto') ? 'json' : 'sqlite';
  const target = path.join(benchFolder(), `${capture}-x${copies}.${kind}`);
  if (!existsSync(target)) {
    say(`creating ${path.basename(target)} …`);
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

export function findNsys(): { version: string; year: number } | undefined {
  try {
    const version = execFileSync('nsys', ['--version'], { encoding: 'utf8' }).trim();
    return { version, year: Number(/version (\d{4})/.exec(version)?.[1] ?? 2025) };
  } catch {
    return undefined;
  }
}
