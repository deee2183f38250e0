/** Turns the ids in rows (machine, process, thread, device, context, stream) into rows of the model's lists. */
import { NONE } from '../../base/column.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { ProcessRow } from '../../model/profile.js';

export interface GlobalIds {
  readonly machine: Int32Array;
  readonly pid: Int32Array;
  readonly tid: Int32Array;
}

export interface StreamIds {
  readonly device?: Int32Array;
  readonly context?: Int32Array;
  readonly green?: Int32Array;
  readonly stream?: Int32Array;
}

/** Rows come in long stretches of few owners, so a small cache beside the builder's map takes nearly all lookups. */
const CACHE = 256;

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

  threads(ids: GlobalIds): Int32Array {
    const { machine, pid, tid } = ids;
    const rows = new Int32Array(pid.length);
    const cached = new Int32Array(CACHE).fill(NONE);
    const sample = new Int32Array(CACHE);
    for (let row = 0; row < rows.length; row++) {
      if (pid[row] === NONE) {
        rows[row] = NONE;
        continue;
      }
      const slot = (tid[row] ^ (pid[row] * 31)) & (CACHE - 1);
      const seen = sample[slot];
      if (
        cached[slot] !== NONE &&
        tid[seen] === tid[row] &&
        pid[seen] === pid[row] &&
        machine[seen] === machine[row]
      ) {
        rows[row] = cached[slot];
        continue;
      }
      cached[slot] = this.builder.thread(this.process(machine[row], pid[row]), tid[row]);
      sample[slot] = row;
      rows[row] = cached[slot];
    }
    return rows;
  }

  processes(ids: GlobalIds): Int32Array {
    return this.eachRun(ids, ids.pid, (machine, pid) => this.process(machine, pid));
  }

  gpus(ids: GlobalIds, device: ArrayLike<number>): Int32Array {
    return this.eachRun(ids, device, (machine, deviceId) => this.builder.gpu(this.host(machine), deviceId));
  }

  /** One lookup per run of equal ids: neighbours nearly always have the same owner. */
  private eachRun(
    { machine }: GlobalIds,
    ids: ArrayLike<number>,
    lookUp: (machine: number, id: number) => number,
  ): Int32Array {
    const rows = new Int32Array(ids.length);
    let last = NONE;
    for (let row = 0; row < rows.length; row++) {
      const id = ids[row];
      const isNext = row === 0 || id !== ids[row - 1] || machine[row] !== machine[row - 1];
      if (isNext) last = id === NONE || Number.isNaN(id) ? NONE : lookUp(machine[row], id);
      rows[row] = last;
    }
    return rows;
  }

  streams(ids: GlobalIds, { device, context, green, stream }: StreamIds, length: number): Int32Array {
    const { machine, pid } = ids;
    const rows = new Int32Array(length);
    const cached = new Int32Array(CACHE).fill(NONE);
    const sample = new Int32Array(CACHE);
    const at = (cells: Int32Array | undefined, row: number) => (cells ? cells[row] : NONE);
    for (let row = 0; row < length; row++) {
      const slot = (at(stream, row) ^ (at(device, row) * 31) ^ (pid[row] * 7)) & (CACHE - 1);
      const seen = sample[slot];
      if (
        cached[slot] !== NONE &&
        at(stream, seen) === at(stream, row) &&
        at(device, seen) === at(device, row) &&
        at(context, seen) === at(context, row) &&
        at(green, seen) === at(green, row) &&
        pid[seen] === pid[row] &&
        machine[seen] === machine[row]
      ) {
        rows[row] = cached[slot];
        continue;
      }
      const host = this.host(machine[row]);
      const greenId = at(green, row);
      cached[slot] = this.builder.stream(
        this.builder.process(host, pid[row]),
        this.builder.gpu(host, at(device, row)),
        at(context, row),
        at(stream, row),
        greenId > 0 ? greenId : undefined,
      );
      sample[slot] = row;
      rows[row] = cached[slot];
    }
    return rows;
  }
}
