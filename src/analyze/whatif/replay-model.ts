/**
 * The launch graph of consecutive steps, as data that can be changed and replayed: what each host thread does one after
 * the other, what each stream runs one after the other, and what waits for what (after Daydream, ATC '20, and dPRO,
 * MLSys '22).
 *
 *   thread  code ▸ launch a ▸ code ▸ launch b ▸ wait ─────────▸ code
 *                     │ latency         └──────────┐     ▲ wake-up
 *   stream            └▸ a ─────── gap ────────────▸ b ──┘
 *
 * Lengths are the recorded ones. Where two things could have held up a piece of work, the later one did and keeps what
 * was observed behind it; for the other one, what is typical of the file holds, and only counts once it comes later.
 */

/** Part of what a thread does: index of an idle cause, and for how long. */
export interface CauseNs {
  readonly cause: number;
  readonly ns: number;
}

export type ItemKind =
  /** Host code between calls. */
  | 'code'
  /** A call that brings GPU work, or any other that does not wait. */
  | 'call'
  /** A call that returns when GPU work is done. */
  | 'wait'
  /** Not a stretch of time: where a step begins or ends on the thread. */
  | 'mark';

/** One after the other on its thread. */
export interface HostItem {
  kind: ItemKind;
  readonly thread: number;
  /** Index into ReplayModel.steps, or NONE. */
  readonly step: number;
  /** Name of the function called; empty for code. */
  readonly name: string;
  /** When it was recorded. */
  readonly recordedStart: number;
  readonly recordedEnd: number;
  /** Its own length; of a wait, what is left when the awaited work is done. */
  ns: number;
  /** What the length is made of; sums to it. */
  causes: readonly CauseNs[];
  /** The work that a wait waits for, or NONE. */
  awaits: number;
  /** Not before this item of another thread has ended, and this long after it. */
  follows?: { readonly item: number; readonly ns: number };
}

export interface GpuOp {
  /** Index into ReplayModel.streams. */
  readonly stream: number;
  readonly step: number;
  readonly kind: number;
  /** Index into `families`, or HIDDEN. */
  readonly family: number;
  /** Piece of GpuWork it was recorded as; NONE for work that a change adds. */
  readonly work: number;
  ns: number;
  /** The item that launches it, or NONE. */
  launch: number;
  /** Behind the return of its launch, or behind the start where the launch waits for it. May be negative. */
  latencyNs: number;
  latencyFrom: 'begin' | 'end';
  /** Behind the end of the work before it in its stream; negative where the two overlap. */
  gapNs: number;
  /** Work of another stream that must be done before, and how long before. */
  after?: { readonly op: number; readonly ns: number };
  /** Where nothing holds it: the recorded start. */
  readonly recordedStart: number;
}

export interface ReplayStep {
  /** Index into Steps.steps. */
  readonly step: number;
  readonly windowStart: number;
  readonly windowEnd: number;
  /** The item that marks the end of the step on its thread. */
  readonly endMark: number;
  /** Window end minus the later of that mark and the step's last work, as recorded. */
  readonly endOffsetNs: number;
}

/** Consecutive steps of one phase on one device. */
export interface ReplayModel {
  readonly device: number;
  /** When the host begins: everything is relative to it. */
  readonly beginNs: number;
  readonly steps: readonly ReplayStep[];
  readonly items: HostItem[];
  /** Items of each thread in order; the first is the thread that runs the steps. */
  readonly threads: { readonly thread: number; readonly items: readonly number[] }[];
  readonly ops: GpuOp[];
  /** Work of each stream in order. */
  readonly streams: { readonly stream: number; ops: readonly number[] }[];
  /** What a graph node costs at launch under the profiler and not without it; 0 while the profiler is attached. */
  untracedNodeNs: number;
  /** Calls that bring work, and work that follows closely: what holds where nothing else was observed. */
  readonly typical: { readonly launchNs: number; readonly latencyNs: number; readonly gapNs: number };
}

/** A copy that a change may edit; the recorded facts inside items and work are shared. */
export const copyOf = (model: ReplayModel): ReplayModel => ({
  ...model,
  items: model.items.map(item => ({ ...item })),
  ops: model.ops.map(op => ({ ...op })),
  streams: model.streams.map(stream => ({ ...stream })),
});

/** Gives an item another length; its causes keep their proportions. */
export function resize(item: HostItem, ns: number): void {
  const factor = item.ns > 0 ? ns / item.ns : 0;
  item.causes = item.causes.map(part => ({ cause: part.cause, ns: part.ns * factor }));
  item.ns = ns;
}

/** Waits that the graph does not explain cut to what is typical: how much of a step the dependencies alone account for. */
export function withTypicalWaits(model: ReplayModel): ReplayModel {
  const copy = copyOf(model);
  const { latencyNs, gapNs } = copy.typical;
  // What a stream runs first may wait for work from before the recording: that is not a wait inside these steps.
  const first = new Set(copy.streams.map(({ ops }) => ops[0]));
  copy.ops.forEach((op, j) => {
    if (first.has(j)) return;
    if (op.latencyFrom === 'end') op.latencyNs = Math.min(op.latencyNs, latencyNs);
    op.gapNs = Math.min(op.gapNs, gapNs);
  });
  return copy;
}
