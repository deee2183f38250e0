/** Turns the ids in rows (machine, process, thread, device, context, stream) into rows of the model's lists. */
import { allocate, NONE } from '../../base/column.js';
import { TupleIndex } from '../../base/tuple-index.js';
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

  /** `into`: where the rows go; may be one of the columns. */
  threads({ machine, pid, tid }: GlobalIds, into?: Int32Array): Int32Array {
    const places = new TupleIndex();
    return rowsOf(
      pid.length,
      row => (pid[row] === NONE ? NONE : places.intern(machine[row], pid[row], tid[row])),
      row => this.builder.thread(this.process(machine[row], pid[row]), tid[row]),
      into,
    );
  }

  processes({ machine, pid }: GlobalIds): Int32Array {
    const places = new TupleIndex();
    return rowsOf(
      pid.length,
      row => (pid[row] === NONE ? NONE : places.intern(machine[row], pid[row])),
      row => this.process(machine[row], pid[row]),
    );
  }

  gpus({ machine }: GlobalIds, device: ArrayLike<number>): Int32Array {
    const places = new TupleIndex();
    return rowsOf(
      device.length,
      row => (Number.isNaN(device[row]) ? NONE : places.intern(machine[row], device[row])),
      row => this.builder.gpu(this.host(machine[row]), device[row]),
    );
  }

  streams(
    { machine, pid }: GlobalIds,
    { device, context, green, stream }: StreamIds,
    length: number,
    into?: Int32Array,
  ): Int32Array {
    const [places, streams] = [new TupleIndex(), new TupleIndex()];
    const at = (cells: Int32Array | undefined, row: number) => (cells ? cells[row] : NONE);
    const look = (row: number) => {
      const host = this.host(machine[row]);
      const greenId = at(green, row);
      return this.builder.stream(
        this.builder.process(host, pid[row]),
        this.builder.gpu(host, at(device, row)),
        at(context, row),
        at(stream, row),
        greenId > 0 ? greenId : undefined,
      );
    };
    const known: number[] = [];
    const rows = into ?? (allocate('i32', length, true) as Int32Array);
    // A column that is not recorded never changes, like the one that stands for it.
    const ids = [stream, device, context, green].map(cells => cells ?? machine);
    const [streamIds, devices, contexts, greens] = ids;
    let last = NONE as number;
    let found = NONE as number;
    for (let row = 0; row < length; row++) {
      // Work of a stream follows on work of the same stream: looked for only where that ends. Ids that were read are
      // overwritten by what was found, so the last one is kept.
      const id = streamIds[row];
      const isSame =
        row > 0 &&
        id === last &&
        pid[row] === pid[row - 1] &&
        devices[row] === devices[row - 1] &&
        contexts[row] === contexts[row - 1] &&
        greens[row] === greens[row - 1] &&
        machine[row] === machine[row - 1];
      last = id;
      if (!isSame) {
        const place = places.intern(machine[row], pid[row], at(device, row));
        const index = streams.intern(place, at(context, row), at(green, row), at(stream, row));
        if (index === known.length) known.push(look(row));
        found = known[index];
      }
      rows[row] = found;
    }
    return rows;
  }
}

/** Asks for each distinct owner once: `place` numbers them 0, 1, 2 … as they appear, NONE for none. */
function rowsOf(
  length: number,
  place: (row: number) => number,
  look: (row: number) => number,
  rows = allocate('i32', length, true) as Int32Array,
): Int32Array {
  const known: number[] = [];
  for (let row = 0; row < length; row++) {
    const index = place(row);
    if (index === known.length) known.push(look(row));
    rows[row] = index === NONE ? NONE : known[index];
  }
  return rows;
}
