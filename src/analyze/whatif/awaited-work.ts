/**
 * What each waiting call waits for. A copy that is over when its call returns: that copy. A stream or the device: what
 * was launched last. An event: profiles do not name the work behind it; results are read that way, so it is the copy to
 * the host that ended last before the call returned, else the work that ended last while it waited.
 */
import { NONE } from '../../base/column.js';
import { CopyKind, MemoryKind } from '../../catalog/cuda-enums.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import { causeIndex } from '../../catalog/idle-causes.js';
import type { Profile, Row } from '../../model/profile.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { HostLines } from './host-lines.js';
import type { GpuOp, HostItem, ReplayModel } from './replay-model.js';

export function findAwaitedWork(
  profile: Profile,
  lines: HostLines,
  { ops }: Pick<ReplayModel, 'ops'>,
  work: GpuWork,
): void {
  const streamOfCall = awaitedStreams(profile);
  const all = [...ops.keys()];
  const reads = all.filter(op => isRead(ops[op].work));
  const ownCopies = new Map<number, number>();
  ops.forEach((op, j) => {
    if (op.latencyFrom === 'begin') ownCopies.set(op.launch, j);
  });
  for (const { items } of lines.threads)
    for (const index of items) {
      const item = lines.items[index];
      if (item.kind !== 'call') continue;
      const copy = ownCopies.get(index);
      const awaited = copy ?? (SYNC_CALL.test(item.name) ? findAwaited(index, item.name) : NONE);
      if (awaited !== NONE) becomeWait(item, ops[awaited], lines.recorded[index], awaited, work);
    }

  function findAwaited(index: number, name: string): number {
    const { start, end, call } = lines.recorded[index];
    if (!/Event/.test(name)) {
      const stream = streamOfCall.get(call);
      return latest(all, start, end, i => stream === undefined || work.stream[i] === stream);
    }
    const read = latest(reads, start, end, () => true);
    if (read !== NONE) return read;
    const any = latest(all, start, end, () => true);
    return any !== NONE && work.end[ops[any].work] > start ? any : NONE;
  }

  /** Launched before the call, and done when it returned: the last to end. */
  function latest(
    list: readonly number[],
    start: number,
    end: number,
    isMeant: (work: number) => boolean,
  ): number {
    let last: number = NONE;
    const behind = firstAfter(list, end);
    for (let at = behind - 1; at >= Math.max(0, behind - MOST_LOOKED_AT); at--) {
      const { launch, work: i } = ops[list[at]];
      if (work.end[i] > end || !isMeant(i)) continue;
      if (launch !== NONE && lines.recorded[launch].start >= start) continue;
      if (last === NONE || work.end[i] > work.end[ops[last].work]) last = list[at];
    }
    return last;
  }

  /** Position of the first in a list, which is in order of start, that starts at a moment or later. */
  function firstAfter(list: readonly number[], moment: number): number {
    let [from, to] = [0, list.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (ops[list[middle]].recordedStart < moment) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  function isRead(i: number): boolean {
    return (
      work.kind[i] === WorkKind.copy &&
      profile.tables.copies!.kind[work.row[i] as Row<'copies'>] === CopyKind.deviceToHost
    );
  }
}

/** Graphs of this many nodes still lie between a wait and what it waits for. */
const MOST_LOOKED_AT = 8_192;

/** CUDA stages copies from pageable memory up to this size and returns. */
const STAGED_BYTES = 65_536;

/**
 * Whether a copy's call returns when the copy is done: plain copies do, and copies through pageable memory whatever
 * their call is named, except small ones to the device.
 */
export function blockingCopies(profile: Profile, work: GpuWork): (copy: number, call: string) => boolean {
  const { copies } = profile.tables;
  return (i, call) => {
    if (work.kind[i] !== WorkKind.copy) return false;
    if (SYNC_CALL.test(call)) return true;
    const row = work.row[i] as Row<'copies'>;
    if (copies!.kind[row] === CopyKind.deviceToHost)
      return (copies!.targetMemory?.[row] ?? MemoryKind.pageable) === MemoryKind.pageable;
    return copies!.sourceMemory?.[row] === MemoryKind.pageable && copies!.bytes[row] > STAGED_BYTES;
  };
}

const synchronisation = causeIndex('synchronisation');

/** What stays of the call when the work is done: the wake-up, or all of it where the work was done before. */
function becomeWait(
  item: HostItem,
  op: GpuOp,
  { start, end }: { readonly start: number; readonly end: number },
  awaited: number,
  work: GpuWork,
): void {
  const done = work.end[op.work];
  item.kind = 'wait';
  item.awaits = awaited;
  item.ns = end - Math.max(start, done);
  item.causes = [{ cause: synchronisation, ns: item.ns }];
}

/** Streams that calls wait for, where the profiler wrote them down. */
function awaitedStreams({ tables: { syncs } }: Profile): Map<Row<'apiCalls'>, number> {
  const streams = new Map<Row<'apiCalls'>, number>();
  const OF_STREAM = 3;
  for (let row = 0 as Row<'syncs'>; row < (syncs?.length ?? 0); row++)
    if (syncs!.kind[row] === OF_STREAM && syncs!.launch[row] !== NONE && syncs!.stream[row] !== NONE)
      streams.set(syncs!.launch[row], syncs!.stream[row]);
  return streams;
}
