/** Running things and timing them. */
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { projectRoot } from '../src/testing/captures.js';

export interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
  /** Stopped before it was done: the real time is longer. */
  readonly stopped?: boolean;
}

/** Ours, in a fresh process. Time includes starting Node: that is what a user waits for. */
export function measureOurs(args: readonly string[]): Measured {
  const program = path.join(projectRoot, 'dist/bench/measured.js');
  const begun = performance.now();
  const result = spawnSync(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    maxBuffer: 1 << 30,
  });
  const seconds = (performance.now() - begun) / 1000;
  if (result.status !== 0) throw new Error(`measured.js ${args.join(' ')} failed`);
  return { seconds, peakBytes: JSON.parse(String(result.output[3])).peakBytes };
}

export function measurePeer(command: string, args: readonly string[], limitSeconds: number): Measured {
  const begun = performance.now();
  const result = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: limitSeconds * 1000,
  });
  const seconds = (performance.now() - begun) / 1000;
  const stopped = (result.error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT';
  if (!stopped && result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  return { seconds, peakBytes: 0, ...(stopped ? { stopped } : {}) };
}

export function medianRun(times: number, run: () => Measured): Measured {
  const runs = Array.from({ length: times }, run);
  const sorted = runs.map(measured => measured.seconds).sort((a, b) => a - b);
  return { seconds: sorted[times >> 1], peakBytes: Math.max(...runs.map(measured => measured.peakBytes)) };
}

export const seconds = (value: number) => `${value.toFixed(2)} s`;
export const times = (ratio: number) => `${ratio.toFixed(1)} times`;
