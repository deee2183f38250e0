/** Layers without ranges: the stretch of kernels that repeats inside a step, one repetition per layer. */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import { findPeriod, type Repetition } from './repetition.js';
import type { StepWork } from './step-work.js';

/** Fewer repetitions than this are not layers but habits. */
const FEWEST_LAYERS = 3;
/** And they must make up this share of the step's kernels. */
const LEAST_SHARE = 0.5;

/** Kernel names of a step, in order of start, and what repeats in them. */
export function stepPattern(names: ArrayLike<number>): Repetition | undefined {
  const found = findPeriod(names);
  if (!found || found.times < FEWEST_LAYERS) return undefined;
  return found.times * found.period >= LEAST_SHARE * names.length ? found : undefined;
}

/** Fills `layer` for the kernels of every step of which none is known. Steps with the same kernels share one search. */
export function patternLayers(profile: Profile, work: GpuWork, found: StepWork, layer: Int32Array): boolean {
  const names = profile.tables.kernels?.name;
  if (!names) return false;
  const byRun: number[][] = found.deviceRuns.map(() => []);
  for (let i = 0; i < work.length; i++)
    if (found.runOfWork[i] !== NONE && work.kind[i] === WorkKind.kernel) byRun[found.runOfWork[i]].push(i);
  const known = new Map<string, Repetition | undefined>();
  let any = false;
  for (const own of byRun) {
    if (own.length === 0 || own.some(i => layer[i] !== NONE)) continue;
    const sequence = Int32Array.from(own, i => names[work.row[i]]);
    const signature = `${sequence.length}/${sequence.reduce((hash, name) => (Math.imul(hash, 31) + name) | 0, 7)}`;
    if (!known.has(signature)) known.set(signature, stepPattern(sequence));
    const pattern = known.get(signature);
    if (!pattern) continue;
    any = true;
    for (let k = 0; k < pattern.times * pattern.period; k++)
      layer[own[pattern.from + k]] = Math.floor(k / pattern.period);
  }
  return any;
}
