/**
 * Whether both sides gave each kernel the same amount to do, as the launches say where no marker does: a kernel of the
 * same name is launched with more thread blocks where the batch, the prompts or the model are larger.
 *
 * Between runs of the same work none of the shared kernels changes its grid; another batch changes a third or more, all
 * in one direction. Two engines have hardly a kernel in common, and those say little (docs/evidence/compare).
 */

import type { Sameness } from '../run/sameness.js';
import type { SideMeans } from '../run/side-means.js';
import { medianOf } from '../stats/summary.js';

/** Grids follow the work in steps; a difference below this may be a tuned launch. */
const SAME_BLOCKS = 0.1;
/** Of fewer kernels in common, one tuned launch would decide. */
const LEAST_SHARED = 4;
/** Of the shared kernels: so many must have changed … */
const MANY = 1 / 3;
/** A few that changed neither show other work nor the same. */
const FEW = 0.1;
/** … and of those, so many in the same direction. */
const AGREE = 3 / 4;

export function launchSizesCheck(from: SideMeans, to: SideMeans): Sameness[] {
  const ratios = sharedRatios(from, to);
  if (ratios.length < LEAST_SHARED) return [];
  const larger = ratios.filter(ratio => ratio > 1 + SAME_BLOCKS);
  const smaller = ratios.filter(ratio => ratio < 1 / (1 + SAME_BLOCKS));
  const most = larger.length >= smaller.length ? larger : smaller;
  const changed = larger.length + smaller.length;
  const isOther = changed >= MANY * ratios.length && most.length >= AGREE * changed;
  const status = isOther ? 'differs' : changed <= FEW * ratios.length ? 'same' : 'unknown';
  const values = isOther ? ['1×', timesText(medianOf(Float64Array.from(most)))] : ['1×', '1×'];
  return [
    {
      id: 'launchSizes',
      label: 'thread blocks per kernel',
      status,
      effect: 'weakens',
      values,
      why: `${most.length} of ${ratios.length} kernels that ran on both sides launched ${most === larger ? 'more' : 'fewer'} thread blocks: the batch, the sequence lengths or the model differ`,
    },
  ];
}

/** Of kernels that a typical step launches equally often on both sides. */
function sharedRatios(from: SideMeans, to: SideMeans): number[] {
  const [ours, theirs] = [launchesOf(from), launchesOf(to)];
  return [...ours].flatMap(([part, { count, blocks }]) => {
    const other = theirs.get(part);
    // How attention is split depends on the lengths reached so far, which differ from step to step.
    const isAttention = from.kernels.get(part)?.family === 'attention';
    if (!other || other.count !== count || isAttention || blocks === 0 || other.blocks === 0) return [];
    return [other.blocks / blocks];
  });
}

function launchesOf({ sequence }: SideMeans): Map<string, { count: number; blocks: number }> {
  const launches = new Map<string, { count: number; blocks: number }>();
  for (const { part, blocks } of sequence) {
    const known = launches.get(part) ?? { count: 0, blocks: 0 };
    launches.set(part, { count: known.count + 1, blocks: known.blocks + blocks });
  }
  return launches;
}

const timesText = (ratio: number): string =>
  `${ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2))}×`;
