/**
 * Ranks of one run drawn as separate profiles, one per file and clock: layers of compute that end in a collective. When
 * each rank arrives, how long it waits and how long the transfer takes is known exactly, and so is what was done to its
 * clock. Times are whole nanoseconds of the true clock; a file shows them as its own clock would.
 *
 *   rank 0   ▄▄▄▄▒▒▒███▄▄▄▄▄▒▒███        ▄ compute, ▒ waits for rank 1, █ transfers
 *   rank 1   ▄▄▄▄▄▄▄███▄▄▄▄▄▄▄███
 */
import { NONE } from '../base/column.js';
import { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import { RangeKind } from '../model/schema.js';
import { drawnCapture } from './drawn-capture.js';

export interface DrawnKernel {
  readonly name: string;
  readonly ns: number;
}

export interface DrawnRun {
  readonly ranks: number;
  readonly steps: number;
  readonly layers: number;
  /** What a rank computes before the collectives of a layer, one list per collective. */
  readonly compute: (rank: number, step: number, layer: number) => readonly (readonly DrawnKernel[])[];
  /** Kernel and length of each collective of a layer, in order. */
  readonly collectives: readonly DrawnKernel[];
  /** The host of a rank begins a step this much later than the last collective ended. */
  readonly hostDelayNs?: (rank: number, step: number) => number;
  /** What the clock of a rank's file shows more, and how much faster it runs. */
  readonly clock?: (rank: number) => { readonly offsetNs: number; readonly drift: number };
  /** Groups of ranks that communicate among themselves; all in one unless told. */
  readonly groupOf?: (rank: number) => number;
  /** Files that begin later: the first so many steps were not recorded. */
  readonly recordedFrom?: (rank: number) => number;
  readonly sessionClock?: true;
}

export interface DrawnCollective {
  readonly step: number;
  readonly layer: number;
  readonly index: number;
  /** By rank, on the true clock. */
  readonly arrival: readonly number[];
  readonly waitingNs: readonly number[];
  readonly lastRank: readonly number[];
}

interface Event {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

const LAUNCH_NS = 2_000;
const BETWEEN_STEPS_NS = 30_000;
/** 2026, in nanoseconds since 1970. */
const EPOCH_NS = 1_790_000_000_000_000_000n;

export function drawRanks(run: DrawnRun): { profiles: Profile[]; collectives: DrawnCollective[] } {
  const ranks = Array.from({ length: run.ranks }, (_, rank) => rank);
  const at = ranks.map(() => 1_000_000);
  const kernels: Event[][] = ranks.map(() => []);
  const marks: Event[][] = ranks.map(() => []);
  const collectives: DrawnCollective[] = [];
  const groupOf = run.groupOf ?? (() => 0);
  for (let step = 0; step < run.steps; step++) {
    for (const rank of ranks) at[rank] += BETWEEN_STEPS_NS + (run.hostDelayNs?.(rank, step) ?? 0);
    const began = [...at];
    for (let layer = 0; layer < run.layers; layer++) {
      run.collectives.forEach(({ name, ns }, index) => {
        for (const rank of ranks)
          for (const kernel of run.compute(rank, step, layer)[index]) {
            kernels[rank].push({ name: kernel.name, start: at[rank], end: at[rank] + kernel.ns });
            at[rank] += kernel.ns;
          }
        const arrival = [...at];
        const last = ranks.map(rank =>
          lastOf(
            ranks.filter(other => groupOf(other) === groupOf(rank)),
            arrival,
          ),
        );
        for (const rank of ranks) {
          const end = arrival[last[rank]] + ns;
          kernels[rank].push({ name, start: arrival[rank], end });
          at[rank] = end;
        }
        collectives.push({
          ...{ step, layer, index, arrival, lastRank: last },
          waitingNs: ranks.map(rank => arrival[last[rank]] - arrival[rank]),
        });
      });
    }
    for (const rank of ranks)
      marks[rank].push({ name: 'step[DECODE bs=8]', start: began[rank], end: at[rank] });
  }
  const profiles = ranks.map(rank => {
    const from = marks[rank][run.recordedFrom?.(rank) ?? 0].start;
    const kept = (events: readonly Event[]) => events.filter(({ start }) => start >= from);
    return fileOf(rank, run, kept(kernels[rank]), kept(marks[rank]));
  });
  return { profiles, collectives };
}

const lastOf = (ranks: readonly number[], arrival: readonly number[]) =>
  ranks.reduce((last, rank) => (arrival[rank] > arrival[last] ? rank : last));

function fileOf(rank: number, run: DrawnRun, kernels: readonly Event[], marks: readonly Event[]): Profile {
  const { offsetNs, drift } = run.clock?.(rank) ?? { offsetNs: 0, drift: 0 };
  const shown = (ns: number) => Math.round(ns * (1 + drift)) + offsetNs;
  const builder = new ProfileBuilder();
  builder.clock = run.sessionClock ? 'session' : 'utc';
  builder.originNs = run.sessionClock ? 0n : EPOCH_NS;
  const process = builder.process('', 100 + rank);
  const thread = builder.thread(process, 1);
  const gpu = builder.gpu('', 0);
  builder.gpus[gpu].name = 'NVIDIA H200';
  const stream = builder.stream(process, gpu, 1, 7);
  const f64 = (events: readonly Event[], of: (event: Event) => number) => Float64Array.from(events, of);
  const i32 = (events: readonly Event[], of: (event: Event) => number) => Int32Array.from(events, of);
  const name = (event: Event) => builder.strings.intern(event.name);
  builder.addTable(
    'ranges',
    {
      start: f64(marks, ({ start }) => shown(start - LAUNCH_NS)),
      end: f64(marks, ({ end }) => shown(end)),
      thread: i32(marks, () => thread),
      name: i32(marks, name),
      kind: Uint8Array.from(marks, () => RangeKind.pushPop),
      domain: i32(marks, () => NONE),
    },
    marks.length,
  );
  // One launch per step brings all its kernels, as a graph does.
  const stepOf = (start: number) => marks.findLastIndex(mark => mark.start <= start);
  builder.addTable(
    'apiCalls',
    {
      start: f64(marks, ({ start }) => shown(start - LAUNCH_NS)),
      end: f64(marks, ({ start }) => shown(start - 1)),
      thread: i32(marks, () => thread),
      name: i32(marks, () => builder.strings.intern('cudaGraphLaunch')),
      correlation: Uint32Array.from(marks, (_, i) => i + 1),
    },
    marks.length,
  );
  builder.addTable(
    'kernels',
    {
      start: f64(kernels, ({ start }) => shown(start)),
      end: f64(kernels, ({ end }) => shown(end)),
      stream: i32(kernels, () => stream),
      correlation: Uint32Array.from(kernels, ({ start }) => stepOf(start) + 1),
      launch: i32(kernels, () => NONE),
      name: i32(kernels, name),
    },
    kernels.length,
  );
  builder.processes[process].rank = rank;
  return builder.build({
    ...drawnCapture(`rank${rank}.sqlite`, [rank]),
    distributed: { rank, worldSize: run.ranks, backend: 'nccl' },
  });
}
