/** The tracks of a trace, and which process and thread of it, or which GPU, each stands for. */
import { MessageReader } from '../../base/protobuf/message-reader.js';
import { ProcessField, ThreadField, TrackField } from '../../catalog/perfetto-fields.js';
import type { BytePart } from './packet-reader.js';

type TrackKey = number | string;

interface TrackInfo {
  parent: TrackKey;
  name: string;
  /** Of a process or thread. */
  pid?: number;
  tid?: number;
  rank?: number;
}

/**
 * Perfetto takes two processes of one number for one, and a thread has one track of its own: Stepscope writes the others
 * as plain tracks, whose names say whose they are (timeline/export/perfetto-trace.ts).
 */
function placeByName(info: TrackInfo): void {
  const process = /^process (\d+)(?: · rank (\d+))?(?: · (.*))?$/s.exec(info.name);
  if (process) {
    info.pid = Number(process[1]);
    if (process[2] !== undefined) info.rank = Number(process[2]);
    info.name = process[3] ?? '';
  }
  const thread = /^thread (-?\d+) · (.*)$/s.exec(info.name);
  if (thread) {
    info.tid = Number(thread[1]);
    info.name = thread[2];
  }
}

/** A place as Kineto writes it, in JSON: what ranks number alike is told apart by their label. */
interface JsonPlace {
  readonly pid: string;
  readonly tid: string;
}

/** Parents beyond this depth are a circle. */
const DEEPEST = 32;

export class Tracks {
  private readonly known = new Map<TrackKey, TrackInfo>();
  private readonly places = new Map<TrackKey, JsonPlace>();
  private readonly reader = new MessageReader();
  private readonly inner = new MessageReader();

  /** False where the descriptor is damaged. */
  add(bytes: Uint8Array, { from, to }: BytePart): boolean {
    const info: TrackInfo = { parent: 0, name: '' };
    let uuid: TrackKey = 0;
    const reader = this.reader.of(bytes, from, to);
    while (reader.next()) {
      if (reader.field === TrackField.uuid && !reader.isBytes) uuid = reader.key;
      else if (reader.field === TrackField.parent && !reader.isBytes) info.parent = reader.key;
      else if (!reader.isBytes) continue;
      else if (reader.field === TrackField.process || reader.field === TrackField.thread) {
        if (!this.owner(bytes, reader.from, reader.to, info, reader.field === TrackField.thread))
          return false;
      } else if (
        [TrackField.name, TrackField.staticName, TrackField.atraceName].includes(reader.field as never)
      )
        info.name ||= reader.text;
    }
    if (reader.damaged) return false;
    if (info.pid === undefined) placeByName(info);
    this.known.set(uuid, info);
    return true;
  }

  private owner(bytes: Uint8Array, from: number, to: number, info: TrackInfo, isThread: boolean): boolean {
    const reader = this.inner.of(bytes, from, to);
    const fields = isThread ? ThreadField : ProcessField;
    while (reader.next()) {
      if (reader.field === fields.pid && !reader.isBytes) info.pid = reader.signed;
      else if (isThread && reader.field === ThreadField.tid && !reader.isBytes) info.tid = reader.signed;
      else if (reader.field === fields.name && reader.isBytes) info.name = reader.text;
      else if (!isThread && reader.field === ProcessField.label && reader.isBytes)
        info.rank = Number(/^rank (\d+)$/.exec(reader.text)?.[1] ?? Number.NaN);
    }
    return !reader.damaged;
  }

  /** Of host events: the thread or process the track belongs to, through however many tracks above it. */
  placeOf(uuid: TrackKey): JsonPlace {
    let place = this.places.get(uuid);
    if (!place) {
      const chain = this.chain(uuid);
      const owner = chain.find(({ pid }) => pid !== undefined);
      const thread = chain.find(({ tid }) => tid !== undefined);
      const root = chain.at(-1)?.name ?? '';
      place = owner
        ? { pid: ranked(owner.pid!, this.rankOf(chain)), tid: String(thread?.tid ?? owner.pid) }
        : { pid: JSON.stringify(root || 'trace'), tid: JSON.stringify(chain[0]?.name || `track ${uuid}`) };
      this.places.set(uuid, place);
    }
    return place;
  }

  /** Of work on a GPU: its device and stream, which are among what is said about it. */
  gpuPlaceOf(uuid: TrackKey, device: number, stream: number): JsonPlace {
    const chain = this.chain(uuid);
    const owner = chain.find(({ pid }) => pid !== undefined);
    const labels = chain.flatMap(({ name }) => /^GPU \d+ · rank (\d+)\b/.exec(name)?.[1] ?? []);
    const rank = labels.length > 0 ? Number(labels[0]) : this.rankOf(chain);
    return {
      pid: ranked(Number.isNaN(device) ? (owner?.pid ?? 0) : device, rank),
      tid: String(Number.isNaN(stream) ? (owner?.tid ?? 0) : stream),
    };
  }

  /** Of the process a track belongs to, or of the tracks above it. */
  processName(uuid: TrackKey): string {
    return this.chain(uuid).find(({ pid, tid }) => pid !== undefined && tid === undefined)?.name ?? '';
  }

  /** Names of processes and threads, as events of Kineto. */
  *names(): Iterable<string> {
    for (const [uuid, { pid, tid, name }] of this.known) {
      if ((pid === undefined && tid === undefined) || name === '') continue;
      const place = this.placeOf(uuid);
      const what = tid === undefined ? 'process_name' : 'thread_name';
      yield `{"ph":"M","name":"${what}","pid":${place.pid},"tid":${place.tid},"args":{"name":${JSON.stringify(name)}}}`;
    }
  }

  private chain(uuid: TrackKey): TrackInfo[] {
    const chain: TrackInfo[] = [];
    for (let at = this.known.get(uuid); at && chain.length < DEEPEST; at = this.known.get(at.parent))
      chain.push(at);
    return chain;
  }

  private rankOf(chain: readonly TrackInfo[]): number {
    return chain.find(({ rank }) => rank !== undefined && !Number.isNaN(rank))?.rank ?? Number.NaN;
  }
}

const ranked = (pid: number, rank: number) => (Number.isNaN(rank) ? String(pid) : `"[TP${rank}] ${pid}"`);
