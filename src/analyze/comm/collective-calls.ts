/**
 * Every collective that each rank took part in, as the profiler saw it: kernels of communication on GPUs, and ranges in
 * which a host executes one itself. A call's start is when the rank has arrived (see GpuWork.ownStart: a kernel launched
 * early spins until the work in front of it is done), its end is when the rank may go on.
 */
import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import {
  type CollectiveKind,
  collectiveKind,
  HOST_COLLECTIVE,
  isSymmetric,
  parseMessage,
  type StatedMessage,
} from '../../catalog/messages.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { type GpuWork, gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { familyIndex, type WorkFamilies, workFamilies } from '../gpu/work-families.js';
import { NcclRanges } from './nccl-ranges.js';

/** A process that communicates. */
interface CommRank {
  readonly process: number;
  /** null: nothing gives it. */
  readonly rank: number | null;
  /** Index into CollectiveCalls.places: processes that are one rank in several files have the same. */
  readonly place: number;
  /** Ranks with the same number were recorded on one clock. */
  readonly clock: number;
  /** The GPU it communicates from, a row of Profile.gpus; NONE: it does so on the host. */
  readonly device: number;
}

/** Calls that can belong together: those of one group, kind and kernel, in the order in which a rank makes them. */
interface CallKey {
  /** Name of the process group; empty: not recorded. */
  readonly group: string;
  readonly groupRanks?: readonly number[];
  readonly kind: CollectiveKind;
  /** Short name of the kernel or range. */
  readonly name: string;
  /** Numbers of the two ranks of a send or receive, where the profiler says both. */
  readonly transfer?: { readonly from: number; readonly to: number };
}

/** Who waits for whom is known: all for the last of them, or a receiver for its sender. */
export const hasKnownWaits = ({ kind, transfer }: CallKey): boolean =>
  isSymmetric(kind) || transfer !== undefined;

/** One row per call, in order of rank, then start. */
export interface CollectiveCalls {
  readonly ranks: readonly CommRank[];
  /** Numbers of the ranks, each once; null: nothing gives it. */
  readonly places: readonly (number | null)[];
  readonly keys: readonly CallKey[];
  readonly length: number;
  /** Index into `ranks`. */
  readonly rank: Int32Array;
  readonly key: Int32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** The framework's own count within the group, or NaN. */
  readonly number: Float64Array;
  /** Index into GpuWork, or NONE for a range of a host. */
  readonly work: Int32Array;
  /** Index into `messages`, or NONE. */
  readonly message: Int32Array;
  readonly messages: readonly StatedMessage[];
}

export const collectiveCalls: Derived<CollectiveCalls> = {
  id: 'collective-calls',
  reads: { kernels: ['message', 'messageNumber'], ranges: ['payloadText'], apiCalls: [] },
  uses: [gpuWork, workFamilies],
  compute({ profile, useIfRecorded }) {
    const found = new Found(profile);
    // Who is alone waits for nobody.
    if (profile.processes.length < 2) return found.finish();
    const work = useIfRecorded(gpuWork);
    const families = useIfRecorded(workFamilies);
    if (work && families) addKernels(found, profile, work, families);
    addHostRanges(found, profile);
    return found.finish();
  },
};

function addKernels(found: Found, profile: Profile, work: GpuWork, { family, classOf }: WorkFamilies): void {
  const communication = familyIndex('communication');
  const kernels = profile.tables.kernels;
  const stated = new NcclRanges(profile);
  for (let i = 0; i < work.length; i++) {
    if (family[i] !== communication || work.kind[i] !== WorkKind.kernel) continue;
    const row = work.row[i] as Row<'kernels'>;
    const { process } = profile.streams[work.stream[i]];
    const own = kernels!.message?.[row] ?? NONE;
    const message =
      own === NONE
        ? found.messageOf(stated.around(work.launch[i]), range => stated.message(range))
        : found.messageOf(`kernel ${own}`, () => parseMessage(profile.strings.text(own)));
    found.add({
      process,
      device: work.device[i],
      start: work.ownStart[i],
      end: work.end[i],
      name: kernels!.name[row],
      shortName: () => classOf(kernels!.name[row]).shortName,
      message,
      number: kernels!.messageNumber?.[row] ?? Number.NaN,
      work: i,
    });
  }
}

function addHostRanges(found: Found, profile: Profile): void {
  const ranges = profile.tables.ranges;
  const known = new Map<number, boolean>();
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
    const name = ranges!.name[row];
    const thread = ranges!.thread[row];
    if (name === NONE || thread === NONE || Number.isNaN(ranges!.end[row])) continue;
    let isCollective = known.get(name);
    if (isCollective === undefined) {
      isCollective = HOST_COLLECTIVE.test(profile.strings.text(name));
      known.set(name, isCollective);
    }
    if (!isCollective) continue;
    found.add({
      process: profile.threads[thread].process,
      device: NONE,
      start: ranges!.start[row],
      end: ranges!.end[row],
      name,
      shortName: () => profile.strings.text(name),
      message: NONE,
      number: Number.NaN,
      work: NONE,
    });
  }
}

interface FoundCall {
  readonly process: number;
  readonly device: number;
  readonly start: number;
  readonly end: number;
  readonly name: number;
  readonly shortName: () => string;
  readonly message: number;
  readonly number: number;
  readonly work: number;
}

class Found {
  private readonly columns = {
    process: new GrowingColumn('i32'),
    key: new GrowingColumn('i32'),
    start: new GrowingColumn('f64'),
    end: new GrowingColumn('f64'),
    number: new GrowingColumn('f64'),
    work: new GrowingColumn('i32'),
    message: new GrowingColumn('i32'),
  };
  private readonly keys: CallKey[] = [];
  private readonly messages: StatedMessage[] = [];
  private readonly messageOfKey = new Map<string | number, number>();
  private readonly messageOfText = new Map<string, number>();
  private readonly keyOfText = new Map<string, number>();
  private readonly keyOfName = new Map<string, number>();
  private readonly deviceOf = new Map<number, number>();

  constructor(private readonly profile: Profile) {}

  add(call: FoundCall): void {
    const { columns } = this;
    columns.process.push(call.process);
    columns.key.push(this.keyOf(call));
    columns.start.push(call.start);
    columns.end.push(call.end);
    columns.number.push(call.number);
    columns.work.push(call.work);
    columns.message.push(call.message);
    if (!this.deviceOf.has(call.process) || call.device !== NONE)
      this.deviceOf.set(call.process, call.device);
  }

  /** The number of a message by what identifies it; each is read once. Undefined: there is none. */
  messageOf<Key extends string | number>(
    key: Key | undefined,
    read: (key: Key) => StatedMessage | undefined,
  ): number {
    if (key === undefined) return NONE;
    let index = this.messageOfKey.get(key);
    if (index === undefined) {
      const message = read(key);
      const text = message ? JSON.stringify(message) : '';
      index = message ? (this.messageOfText.get(text) ?? this.messages.push(message) - 1) : NONE;
      this.messageOfText.set(text, index);
      this.messageOfKey.set(key, index);
    }
    return index;
  }

  /** Names and messages repeat: each pair is read once. */
  private keyOf({ process, name, message, shortName }: FoundCall): number {
    const transfer = message === NONE ? undefined : this.transferOf(process, this.messages[message]);
    const pair = `${name}/${message}/${transfer?.from}/${transfer?.to}`;
    const known = this.keyOfName.get(pair);
    if (known !== undefined) return known;
    const short = shortName();
    const stated = message === NONE ? undefined : this.messages[message];
    const kind = collectiveKind(stated?.collective ?? short);
    const ranks = stated?.ranks;
    const between = transfer ? `${transfer.from}→${transfer.to}` : '';
    const text = [stated?.group ?? '', ranks?.join() ?? '', kind, short, between].join('|');
    let key = this.keyOfText.get(text);
    if (key === undefined) {
      key = this.keys.length;
      this.keyOfText.set(text, key);
      this.keys.push({
        group: stated?.group ?? '',
        ...(ranks ? { groupRanks: ranks } : {}),
        kind,
        name: short,
        ...(transfer ? { transfer } : {}),
      });
    }
    this.keyOfName.set(pair, key);
    return key;
  }

  /** The profiler states the other side; which rank this one is follows from its file. */
  private transferOf(process: number, { source, destination }: StatedMessage): CallKey['transfer'] {
    const own = this.profile.processes[process].rank ?? undefined;
    const [from, to] = destination === undefined ? [source, own] : [own, destination];
    return from === undefined || to === undefined || from === to ? undefined : { from, to };
  }

  finish(): CollectiveCalls {
    const { profile, columns } = this;
    const process = columns.process.finishAll() as Int32Array;
    const start = columns.start.finishAll() as Float64Array;
    const sorted = [...this.deviceOf]
      .map(([row, device]) => {
        const { rank, file } = profile.processes[row];
        return { process: row, rank: rank ?? null, clock: file ?? 0, device };
      })
      .sort((a, b) => (a.rank ?? a.process) - (b.rank ?? b.process) || a.process - b.process);
    const places: (number | null)[] = [];
    const ranks = sorted.map((own): CommRank => {
      const known = own.rank === null ? -1 : places.indexOf(own.rank);
      return { ...own, place: known >= 0 ? known : places.push(own.rank) - 1 };
    });
    const rankOf = new Map(ranks.map((rank, index) => [rank.process, index]));
    const order = Int32Array.from(process, (_, i) => i).sort(
      (a, b) => rankOf.get(process[a])! - rankOf.get(process[b])! || start[a] - start[b] || a - b,
    );
    const ordered = <T extends Int32Array | Float64Array>(column: GrowingColumn): T => {
      const cells = column.finishAll() as T;
      return cells.map((_, i) => cells[order[i]]) as T;
    };
    return {
      ranks,
      places,
      keys: this.keys,
      length: order.length,
      rank: order.map(i => rankOf.get(process[i])!),
      key: ordered(columns.key),
      start: Float64Array.from(order, i => start[i]),
      end: ordered(columns.end),
      number: ordered(columns.number),
      work: ordered(columns.work),
      message: ordered(columns.message),
      messages: this.messages,
    };
  }
}
