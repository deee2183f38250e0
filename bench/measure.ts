/** Runs programs and measures time and memory. */
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { readsMuch, v8Flags } from '../src/cli/v8-flags.js';
import { projectRoot } from '../src/testing/captures.js';

export interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
  /** Stopped before it finished: the real time is longer. */
  readonly stopped?: boolean;
}

const LIMIT_SECONDS = 600;

/** Repeats must not profit from what the first run kept. */
const withoutCache = { ...process.env, STEPSCOPE_NO_CACHE: '1' };

/**
 * The command as users have it, next to other programs. Time includes the start of Node, because users wait for it. Its
 * compiled code is kept from call to call, as Python keeps that of its modules; what it read of a file is not.
 */
export const measureCommand = (args: readonly string[]): Measured =>
  measurePeer(
    process.execPath,
    [path.join(projectRoot, 'bin/stepscope'), ...args, '--no-cache'],
    LIMIT_SECONDS,
  );

/** A part of Stepscope in a fresh process, next to other parts. */
export function measureOurs(args: readonly string[]): Measured {
  const program = path.join(projectRoot, 'dist/bench/measured.js');
  const begun = performance.now();
  const flags = v8Flags(process.versions.v8, readsMuch(args));
  const result = spawnSync(process.execPath, [...flags, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    env: withoutCache,
    maxBuffer: 1 << 30,
  });
  const seconds = (performance.now() - begun) / 1000;
  if (result.status !== 0) throw new Error(`measured.js ${args.join(' ')} failed`);
  return { seconds, peakBytes: JSON.parse(String(result.output[3])).peakBytes };
}

/** Another program, with the peak memory of its largest process. */
export function measurePeer(
  command: string,
  args: readonly string[],
  limitSeconds: number,
  env: NodeJS.ProcessEnv = process.env,
): Measured {
  const wrapper = path.join(projectRoot, 'bench/peer.py');
  const result = spawnSync('python3', [wrapper, String(limitSeconds), command, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env,
  });
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  const { seconds, peakBytes, stopped } = JSON.parse(String(result.output[3]));
  return { seconds, peakBytes, ...(stopped ? { stopped } : {}) };
}

export function medianRun(times: number, run: () => Measured): Measured {
  return medianRuns(times, [run])[0];
}

/** Runs several programs alternately, so that a temporarily slow machine affects all of them. */
export function medianRuns(times: number, runs: readonly (() => Measured)[]): Measured[] {
  const rounds = Array.from({ length: times }, () => runs.map(run => run()));
  return runs.map((_, i) => {
    const own = rounds.map(round => round[i]);
    const sorted = own.map(measured => measured.seconds).sort((a, b) => a - b);
    return { seconds: sorted[times >> 1], peakBytes: Math.max(...own.map(measured => measured.peakBytes)) };
  });
}

export const seconds = (value: number) => `${value.toFixed(2)} s`;
export const times = (ratio: number) => `${ratio.toFixed(1)} times`;
