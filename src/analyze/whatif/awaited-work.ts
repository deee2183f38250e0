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
  const byLaunch = [...ops.keys()].filter(op => ops[op].launch !== NONE);
  byLaunch.sort((a, b) => ops[a].launch - ops[b].launch || a - b);
  const streamOfCall = awaitedStreams(profile);
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
    if (/Event/.test(name)) return behindEvent(start, end);
    const stream = streamOfCall.get(call);
    let last: number = NONE;
    for (let k = ops.length - 1; k >= 0; k--) {
      const { launch, work: i } = ops[k];
      if (work.end[i] > end || (stream !== undefined && work.stream[i] !== stream)) continue;
      if (launch !== NONE && lines.recorded[launch].start > start) continue;
      if (last === NONE || work.end[i] > work.end[ops[last].work]) last = k;
      if (work.end[i] < start - 100e6) break;
    }
    return last;
  }

  function behindEvent(start: number, end: number): number {
    let copy: number = NONE;
    let any: number = NONE;
    ops.forEach(({ work: i, launch }, k) => {
      if (work.end[i] > end || (launch !== NONE && lines.recorded[launch].start >= start)) return;
      if (isRead(i) && (copy === NONE || work.end[i] > work.end[ops[copy].work])) copy = k;
      if (any === NONE || work.end[i] > work.end[ops[any].work]) any = k;
    });
    if (copy !== NONE) return copy;
    return any !== NONE && work.end[ops[any].work] > start ? any : NONE;
  }

  function isRead(i: number): boolean {
    return (
      work.kind[i] === WorkKind.copy &&
      profile.tables.copies!.kind[work.row[i] as Row<'copies'>] === CopyKind.deviceToHost
    );
  }
}

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
