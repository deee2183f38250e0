/**
 * What each device was doing at every moment, as unions of intervals. A moment counts once: compute hides
 * communication, both hide copies.
 *
 *   compute        ███..........███
 *   communication  .█████..........      exposed  ...███
 *   copies         ....████........      exposed  ......██
 *   idle           ........█████...
 *
 * What overlaps on one stream belongs to the earlier piece (see GpuWork.ownStart): it hides nothing.
 */

import { allocate } from '../../base/column.js';
import { IntervalBuilder, type Intervals, subtract, unionOf } from '../../base/intervals.js';
import type { Derived } from '../analysis.js';
import { gpuWork, type PlacedWork, WorkKind } from './gpu-work.js';
import { familyIndex, workFamilies } from './work-families.js';

export interface DeviceTimeline {
  readonly device: number;
  readonly busy: Intervals;
  /** Per busy interval, the piece of work that begins it. */
  readonly opener: Int32Array;
  readonly compute: Intervals;
  readonly communication: Intervals;
  readonly copies: Intervals;
  readonly communicationExposed: Intervals;
  readonly copiesExposed: Intervals;
  /** Graph replays recorded as blocks: busy, but what runs inside is hidden. Part of `compute`. */
  readonly blocks: Intervals;
}

export const deviceTimelines: Derived<readonly DeviceTimeline[]> = {
  id: 'device-timelines',
  reads: {},
  uses: [gpuWork, workFamilies],
  compute({ use }) {
    return timelinesOf(use(gpuWork), use(workFamilies).family);
  },
};

/** Of any list of work, measured or predicted. */
export function timelinesOf(work: PlacedWork, family: Uint8Array): DeviceTimeline[] {
  const communicationFamily = familyIndex('communication');
  const lanes: Lane[] = [];
  // Most work is kernels one after the other: an interval each.
  const expected = work.devices.length === 1 ? work.length : undefined;
  for (const device of work.devices) lanes[device] = new Lane(expected);
  for (let i = 0; i < work.length; i++) {
    const lane = lanes[work.device[i]];
    const start = work.start[i];
    const end = work.end[i];
    if (lane.busy.add(start, end)) lane.open(i);
    const kind = work.kind[i];
    const from = work.ownStart[i];
    if (kind === WorkKind.copy || kind === WorkKind.memset) lane.copies.add(from, end);
    else if (family[i] === communicationFamily) lane.communication.add(from, end);
    else lane.compute.add(from, end);
    if (kind === WorkKind.graphBlock) lane.blocks.add(start, end);
  }
  return work.devices.map(device => lanes[device].finish(device));
}

const FIRST_ROOM = 16;

class Lane {
  readonly busy: IntervalBuilder;
  readonly compute: IntervalBuilder;
  readonly communication = new IntervalBuilder();
  readonly copies = new IntervalBuilder();
  readonly blocks = new IntervalBuilder();
  private opener: Int32Array;
  private openers = 0;

  constructor(expected: number | undefined) {
    this.busy = new IntervalBuilder(0, expected);
    this.compute = new IntervalBuilder(0, expected);
    this.opener = allocate('i32', expected ?? FIRST_ROOM, expected !== undefined) as Int32Array;
  }

  open(work: number): void {
    if (this.openers === this.opener.length) {
      const larger = new Int32Array(2 * this.openers);
      larger.set(this.opener);
      this.opener = larger;
    }
    this.opener[this.openers++] = work;
  }

  finish(device: number): DeviceTimeline {
    const compute = this.compute.finish();
    const communication = this.communication.finish();
    const copies = this.copies.finish();
    return {
      device,
      busy: this.busy.finish(),
      opener: this.opener.subarray(0, this.openers),
      compute,
      communication,
      copies,
      communicationExposed: subtract(communication, compute),
      copiesExposed: subtract(copies, unionOf(compute, communication)),
      blocks: this.blocks.finish(),
    };
  }
}
