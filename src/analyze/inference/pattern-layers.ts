/**
 * Layers without ranges: the stretch of kernels that repeats inside a step, one repetition per layer. The first and the
 * last layer have other neighbours (a norm that is fused in the others, a GEMM of another tile), so they do not repeat
 * to the letter. What every layer runs exactly once, its attention say, counts them: the anchor.
 *
 *   e N a b C d  n a b c d  n a b c d  n a b c D  h
 *       ·          ·          ·          ·             anchor: 4 layers, though only 2 repeat
 *
 * Models that alternate two kinds of attention repeat every other layer: what repeats is then a pair of twins.
 */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import { findPeriod, type Repetition } from './repetition.js';
import type { StepWork } from './step-work.js';

/** Fewer repetitions than this are not layers but habits. */
const FEWEST_LAYERS = 3;
/** And they must make up this share of the step's kernels. */
const LEAST_SHARE = 0.5;
/** Anchors of neighbouring layers are a layer apart, give or take the kernels that are fused in one of them. */
const ANCHOR_DISTANCE = 0.35;

/** Of the names that come once per layer: those that must agree on how many layers there are. */
const LEAST_VOTES = 0.25;
/** Of the kernels that repeat: those that come twice, half a repetition apart, where two layers make one. */
const LEAST_TWINS = 0.6;
const TWIN_DISTANCE = 0.2;

interface LayerPattern {
  /** Kernels of what repeats: a layer, or two that alternate. */
  readonly period: number;
  readonly times: number;
  /** First kernel of each layer, and where the last one ends. */
  readonly bounds: readonly number[];
}

/** Kernel names of a step, in order of start, and the layers in them. */
export function stepPattern(names: ArrayLike<number>): LayerPattern | undefined {
  const found = findPeriod(names);
  if (!found || found.times < FEWEST_LAYERS) return undefined;
  if (found.times * found.period < LEAST_SHARE * names.length) return undefined;
  const bounds =
    byAnchor(names, found) ??
    Array.from({ length: found.times + 1 }, (_, i) => found.from + i * found.period);
  const half = twinDistance(names, found);
  const split = half === undefined ? bounds : withMiddles(bounds, half);
  return { period: found.period, times: bounds.length - 1, bounds: split };
}

/** How far the second layer of a repetition begins after the first; undefined where it is one layer. */
function twinDistance(names: ArrayLike<number>, { period, from }: Repetition): number | undefined {
  const places = new Map<number, number[]>();
  for (let offset = 0; offset < period; offset++) {
    const name = names[from + offset];
    places.set(name, [...(places.get(name) ?? []), offset]);
  }
  // Each name as often in the first half as in the second.
  const distances = [...places.values()]
    .filter(at => at.length % 2 === 0)
    .map(at => at.slice(at.length / 2).map((place, i) => place - at[i]))
    .filter(own => own.every(distance => Math.abs(distance - period / 2) <= TWIN_DISTANCE * period))
    .flat()
    .sort((a, b) => a - b);
  return 2 * distances.length >= LEAST_TWINS * period ? distances[distances.length >> 1] : undefined;
}

const withMiddles = (bounds: readonly number[], half: number): number[] =>
  bounds.flatMap((bound, i) =>
    i + 1 < bounds.length && bound + half < bounds[i + 1] ? [bound, bound + half] : [bound],
  );

function byAnchor(names: ArrayLike<number>, { period, from, times }: Repetition): number[] | undefined {
  const places = new Map<number, number[]>();
  for (let i = 0; i < names.length; i++) {
    const known = places.get(names[i]);
    if (known) known.push(i);
    else places.set(names[i], [i]);
  }
  const isLayerApart = (distance: number) => Math.abs(distance - period) <= ANCHOR_DISTANCE * period;
  // By how many names each count is told: a norm or a GEMM may also run once outside the layers.
  const votes = new Map<number, { names: number; at: readonly number[]; offset: number }>();
  for (let offset = 0; offset < period; offset++) {
    const at = places.get(names[from + offset])!;
    const inStretch = at.filter(place => place >= from && place < from + times * period).length;
    if (inStretch !== times || !at.every((place, i) => i === 0 || isLayerApart(place - at[i - 1]))) continue;
    const known = votes.get(at.length);
    votes.set(at.length, { at, offset, ...known, names: (known?.names ?? 0) + 1 });
  }
  const counted = [...votes.values()];
  const voters = counted.reduce((sum, vote) => sum + vote.names, 0);
  // The first and the last layer lack some names; more layers than there are need several that stray alike.
  const [best] = counted
    .filter(vote => vote.names >= Math.max(2, LEAST_VOTES * voters))
    .sort((a, b) => b.at.length - a.at.length);
  // Many more than what repeats to the letter would be a guess.
  if (!best || best.at.length > 2 * times || best.at.length * period > names.length) return undefined;
  const { at, offset } = best;
  const end = Math.min(names.length, at[at.length - 1] - offset + period);
  return [...at.map(place => Math.max(0, place - offset)), end];
}

/** Fills `layer` for the kernels of every step of which none is known. Steps with the same kernels share one search. */
export function patternLayers(profile: Profile, work: GpuWork, found: StepWork, layer: Int32Array): boolean {
  const names = profile.tables.kernels?.name;
  if (!names) return false;
  const { runOfWork } = found;
  const isKernel = (i: number) => runOfWork[i] !== NONE && work.kind[i] === WorkKind.kernel;
  const hasLayers = new Uint8Array(found.deviceRuns.length);
  for (let i = 0; i < work.length; i++) if (isKernel(i) && layer[i] !== NONE) hasLayers[runOfWork[i]] = 1;
  if (!hasLayers.includes(0)) return false;
  const byRun: number[][] = found.deviceRuns.map(() => []);
  for (let i = 0; i < work.length; i++)
    if (isKernel(i) && hasLayers[runOfWork[i]] === 0) byRun[runOfWork[i]].push(i);
  const known = new Map<string, LayerPattern | undefined>();
  let any = false;
  for (const own of byRun) {
    if (own.length === 0) continue;
    const sequence = Int32Array.from(own, i => names[work.row[i]]);
    const signature = `${sequence.length}/${sequence.reduce((hash, name) => (Math.imul(hash, 31) + name) | 0, 7)}`;
    if (!known.has(signature)) known.set(signature, stepPattern(sequence));
    const pattern = known.get(signature);
    if (!pattern) continue;
    any = true;
    for (let number = 0; number + 1 < pattern.bounds.length; number++)
      for (let k = pattern.bounds[number]; k < pattern.bounds[number + 1]; k++) layer[own[k]] = number;
  }
  return any;
}
