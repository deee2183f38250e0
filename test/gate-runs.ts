/** Runs for the tests of gate and trend: a drawn engine whose steps scatter, and its file. */
import { writeFileSync } from 'node:fs';
import { Analyzer } from '../src/analyze/analysis.js';
import type { Profile } from '../src/model/profile.js';
import { measureRun } from '../src/run/collect.js';
import type { Run } from '../src/run/run.js';
import { seededRandom } from '../src/stats/random.js';
import { drawEngine, type EngineOptions } from '../src/testing/drawn-engine.js';
import { traceOf } from '../src/timeline/export/chrome-trace.js';

/** Close to a normal distribution: the sum of twelve. */
export function normal(random: () => number): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
}

export interface EngineRun extends EngineOptions {
  readonly seed: number;
  /** Mean time of a step by that of the engine as it is, 10 ms. */
  readonly slower?: number;
  /** Of a step's time, from step to step. */
  readonly scatter?: number;
}

export function drawRun({ seed, slower = 1, scatter = 0.02, ...options }: EngineRun): Profile {
  const random = seededRandom(seed);
  const stepNs = () => Math.round(10e6 * slower * (1 + scatter * normal(random)));
  return drawEngine({ steps: 40, stepNs, ...options });
}

export const runOf = (options: EngineRun): Run => measureRun(new Analyzer(drawRun(options)));

/** As a PyTorch trace, for commands. */
export function writeRun(file: string, options: EngineRun): string {
  writeFileSync(file, [...traceOf(drawRun(options), { fromNs: -Infinity, toNs: Infinity })].join(''));
  return file;
}
