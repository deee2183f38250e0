/** Turns the ids in rows (machine, process, thread, device, context, stream) into rows of the model's lists. */
import { allocate, NONE } from '../../base/column.js';
import { cellAt } from '../../base/sqlite/compact-parts.js';
import type { CompactPart } from '../../base/sqlite/decode-plan.js';
import { TupleIndex } from '../../base/tuple-index.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { ProcessRow } from '../../model/profile.js';

export interface GlobalIds {
  readonly machine: Int32Array;
  readonly pid: Int32Array;
  readonly tid: Int32Array;
}

/** Ids of rows that were decoded in parts, by their place there; absent where the file does not have them. */
export interface OwnerPlaces {
  readonly machine?: number;
  readonly pid?: number;
  readonly tid?: number;
  readonly device?: number;
  readonly context?: number;
  readonly green?: number;
  readonly stream?: number;
}

export class Owners {
  private readonly hosts = new Map<number, string>();

  constructor(private readonly builder: ProfileBuilder) {}

  process(machine: number, pid: number): ProcessRow {
    return this.builder.process(this.host(machine), pid);
  }

  /** One machine is the rule and needs no name; further ones (virtual machines under a hypervisor) get one. */
  host(machine: number): string {
    if (machine < 0) return '';
    let host = this.hosts.get(machine);
    if (host === undefined) {
      host = this.hosts.size === 0 ? '' : `vm${machine}`;
      this.hosts.set(machine, host);
    }
    return host;
  }

  threads({ machine, pid, tid }: GlobalIds): Int32Array {
    const threadOf = this.threadOf();
    return rowsOf(pid.length, row => threadOf(machine[row], pid[row], tid[row]));
  }

  processes({ machine, pid }: GlobalIds): Int32Array {
    const processOf = this.processOf();
    return rowsOf(pid.length, row => processOf(machine[row], pid[row]));
  }

  threadsIn(parts: readonly CompactPart[], { machine, pid, tid }: OwnerPlaces, rows: number): Int32Array {
    const threadOf = this.threadOf();
    return rowsInParts(parts, [machine, pid, tid], [0, NONE, 0], rows, ids =>
      threadOf(ids[0], ids[1], ids[2]),
    );
  }

  processesIn(parts: readonly CompactPart[], { machine, pid }: OwnerPlaces, rows: number): Int32Array {
    const processOf = this.processOf();
    return rowsInParts(parts, [machine, pid], [0, NONE], rows, ids => processOf(ids[0], ids[1]));
  }

  streamsIn(parts: readonly CompactPart[], places: OwnerPlaces, rows: number): Int32Array {
    const { machine, pid, device, context, green, stream } = places;
    const [devices, streams] = [new TupleIndex(), new TupleIndex()];
    const known: number[] = [];
    const streamOf = ([ofMachine, ofPid, deviceId, contextId, greenId, streamId]: readonly number[]) => {
      const index = streams.intern(devices.intern(ofMachine, ofPid, deviceId), contextId, greenId, streamId);
      if (index === known.length) {
        const host = this.host(ofMachine);
        known.push(
          this.builder.stream(
            this.builder.process(host, ofPid),
            this.builder.gpu(host, deviceId),
            contextId,
            streamId,
            greenId > 0 ? greenId : undefined,
          ),
        );
      }
      return known[index];
    };
    const absent = [0, NONE, NONE, NONE, NONE, NONE];
    return rowsInParts(parts, [machine, pid, device, context, green, stream], absent, rows, streamOf);
  }

  gpus({ machine }: GlobalIds, device: ArrayLike<number>): Int32Array {
    const places = new TupleIndex();
    const known: number[] = [];
    return rowsOf(device.length, row => {
      if (Number.isNaN(device[row])) return NONE;
      const index = places.intern(machine[row], device[row]);
      if (index === known.length) known.push(this.builder.gpu(this.host(machine[row]), device[row]));
      return known[index];
    });
  }

  /** Asks for each distinct thread once, in the order in which they appear. */
  private threadOf(): (machine: number, pid: number, tid: number) => number {
    const places = new TupleIndex();
    const known: number[] = [];
    return (machine, pid, tid) => {
      if (pid === NONE) return NONE;
      const index = places.intern(machine, pid, tid);
      if (index === known.length) known.push(this.builder.thread(this.process(machine, pid), tid));
      return known[index];
    };
  }

  private processOf(): (machine: number, pid: number) => number {
    const places = new TupleIndex();
    const known: number[] = [];
    return (machine, pid) => {
      if (pid === NONE) return NONE;
      const index = places.intern(machine, pid);
      if (index === known.length) known.push(this.process(machine, pid));
      return known[index];
    };
  }
}

function rowsOf(length: number, owner: (row: number) => number): Int32Array {
  const rows = allocate('i32', length, true) as Int32Array;
  for (let row = 0; row < length; row++) rows[row] = owner(row);
  return rows;
}

/** A part in which all ids are the same, as in most, is asked for once. `absent`: ids without a place. */
function rowsInParts(
  parts: readonly CompactPart[],
  places: readonly (number | undefined)[],
  absent: readonly number[],
  length: number,
  owner: (ids: readonly number[]) => number,
): Int32Array {
  const rows = allocate('i32', length, true) as Int32Array;
  const ids = [...absent];
  for (const { first, length: count, cells } of parts) {
    const own = places.map((place, i) => (place === undefined ? absent[i] : cells[place]));
    const isOne = own.every(cell => typeof cell === 'number');
    for (let row = 0; row < (isOne ? 1 : count); row++) {
      for (let i = 0; i < own.length; i++) ids[i] = cellAt(own[i], row);
      rows[first + row] = owner(ids);
    }
    if (isOne) rows.fill(rows[first], first, first + count);
  }
  return rows;
}
