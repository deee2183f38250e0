/** Levels of detail of a sampled value: mean, least and most of each bucket, so that peaks survive. */
import type { AreaTile } from './tiles.js';

const FIRST_BUCKET_NS = 1024;
const WIDER = 4;
const SMALL_ENOUGH = 512;
const WORTH_KEEPING = 0.75;

export interface AreaLevel extends AreaTile {
  readonly bucketNs: number;
}

/** A value that holds from each moment to the next. */
interface Curve {
  readonly start: Float64Array;
  readonly value: Float64Array;
}

export function areaPyramid({ start, value }: Curve): AreaLevel[] {
  const cells = Float32Array.from(value);
  const levels: AreaLevel[] = [
    { bucketNs: 0, length: start.length, start, mean: cells, least: cells, most: cells },
  ];
  const span = start.length > 0 ? start[start.length - 1] - start[0] : 0;
  for (let bucketNs = FIRST_BUCKET_NS; bucketNs < span; bucketNs *= WIDER) {
    const below = levels[levels.length - 1];
    if (below.length <= SMALL_ENOUGH) break;
    const merged = mergeInto(below, bucketNs);
    if (merged.length < WORTH_KEEPING * below.length) levels.push(merged);
  }
  return levels;
}

function mergeInto(below: AreaLevel, bucketNs: number): AreaLevel {
  const start = new Float64Array(below.length);
  const mean = new Float32Array(below.length);
  const least = new Float32Array(below.length);
  const most = new Float32Array(below.length);
  let length = 0;
  let open = Number.NaN;
  let sum = 0;
  let weight = 0;
  for (let i = 0; i < below.length; i++) {
    const bucket = Math.floor(below.start[i] / bucketNs);
    // A value counts for as long as it held.
    const held = Math.max(1, (below.start[i + 1] ?? below.start[i] + 1) - below.start[i]);
    if (bucket !== open) {
      open = bucket;
      start[length] = below.start[i];
      least[length] = below.least[i];
      most[length] = below.most[i];
      length++;
      sum = 0;
      weight = 0;
    }
    const at = length - 1;
    sum += below.mean[i] * held;
    weight += held;
    mean[at] = sum / weight;
    if (below.least[i] < least[at]) least[at] = below.least[i];
    if (below.most[i] > most[at]) most[at] = below.most[i];
  }
  return {
    bucketNs,
    length,
    start: start.slice(0, length),
    mean: mean.slice(0, length),
    least: least.slice(0, length),
    most: most.slice(0, length),
  };
}
