/**
 * A Perfetto trace as the JSON that the PyTorch profiler writes, piece by piece: one reader knows what its events mean.
 * The file is looked through once for its tracks and the order of its slices, then read.
 */
import type { ByteSource } from '../../base/byte-source.js';
import type { NoteCounter } from '../../base/notes.js';
import { EventType } from '../../catalog/perfetto-fields.js';
import { type EventContent, eventContent, stageContent } from './event-content.js';
import { type InternedTexts, PacketReader } from './packet-reader.js';
import { PacketStream } from './packets.js';
import { eventKind, SliceOrders } from './slice-order.js';
import { Tracks } from './tracks.js';

const PIECE_CHARACTERS = 1 << 18;
/** Events on a GPU, wherever their track is. */
const GPU_CATEGORY = /^(kernel|gpu_\w+|graph_replay|cuda_sync)$/;
/** September 2001, and 31 years. */
const SINCE_1970_NS = 1_000_000_000_000_000_000n;
const DERIVED = 'stepscope_';
const CAPTURE = 'stepscope_capture';
/** What Stepscope wrote about the machine; any other key would be a stranger's. */
const HEAD_KEYS = new Set(['schemaVersion', 'deviceProperties', 'distributedInfo', 'stepscope']);

interface Begun {
  readonly ns: number;
  readonly bytes: Uint8Array;
  readonly texts: InternedTexts;
}

interface Timed extends Begun {
  readonly isBegin: boolean;
}

export class TraceJson {
  /** Track events and GPU stages that were found. */
  events = 0;
  cut = false;
  private readonly tracks = new Tracks();
  private readonly orders = new SliceOrders();
  private readonly open = new Map<number | string, OpenSlices>();
  private readonly unsorted = new Map<number | string, Timed[]>();
  private readonly head = new Map<string, string>();
  /** The same of a trace that Kineto wrote. */
  private readonly machine = new Map<string, string>();
  /** What the last packet of a file of ours says: how many events there are. */
  private promised = Number.NaN;
  private lines: string[] = [];
  private characters = 0;

  constructor(
    private readonly source: ByteSource,
    private readonly mostUnpacked: number,
    private readonly notes: NoteCounter,
  ) {}

  *pieces(onProgress: (done: number) => void): Iterable<string> {
    this.look(onProgress);
    yield '{"traceEvents":[\n{"ph":"M","name":"trace"}';
    for (const line of this.tracks.names()) this.add(line);
    const stream = new PacketStream(this.source, this.mostUnpacked, this.notes);
    const reader = new PacketReader();
    for (const packet of stream.packets()) {
      if (!reader.read(packet)) this.noteDamage('packet');
      else if (!Number.isNaN(reader.ns)) this.take(reader);
      else if (reader.event) this.takeUntimed(reader);
      if (reader.dropped)
        this.notes.add('dropped-packets', 'loss', 'Packets were lost while the trace was recorded', '');
      if (this.characters < PIECE_CHARACTERS) continue;
      onProgress(0.2 + 0.8 * stream.done);
      yield this.takeLines();
    }
    this.finish(stream, reader);
    yield `${this.takeLines()}\n]${this.metadata(reader)}}\n`;
  }

  private look(onProgress: (done: number) => void): void {
    const stream = new PacketStream(this.source, this.mostUnpacked);
    const reader = new PacketReader();
    let packets = 0;
    for (const packet of stream.packets()) {
      if (!reader.read(packet)) continue;
      if (reader.descriptor) this.tracks.add(reader.bytes, reader.descriptor);
      const kind = reader.event && eventKind(reader.bytes, reader.event, reader.defaultTrack);
      if (kind && !Number.isNaN(reader.ns)) this.orders.see(kind, reader.ns);
      if (++packets % 100_000 === 0) onProgress(0.2 * stream.done);
    }
    this.orders.finish();
  }

  private take(reader: PacketReader): void {
    const { bytes, event, stage, ns, texts, defaultTrack } = reader;
    if (stage) {
      const content = stageContent(bytes.subarray(stage.from, stage.to), texts, this.missing);
      if (!content) this.noteDamage('GPU stage');
      else {
        this.events++;
        this.write('X', ns, content, 0, content.durationNs);
      }
    }
    if (!event) return;
    const kind = eventKind(bytes, event, defaultTrack);
    if (!kind) {
      this.noteDamage('event');
      return;
    }
    const { type, track } = kind;
    this.events++;
    const own = () => ({ ns, texts, bytes: bytes.slice(event.from, event.to) });
    const isBegin = type === EventType.begin;
    if (isBegin || type === EventType.end) {
      const order = this.orders.of(track);
      if (order === 'sorted') listOf(this.unsorted, track).push({ ...own(), isBegin });
      else if (isBegin) this.begin(track, own());
      else this.end(track, ns, order === 'runs');
    } else if (type === EventType.instant) this.instant(own(), track);
    else if (type !== EventType.counter)
      this.notes.add(
        'legacy-event',
        'loss',
        'Events of a kind that Stepscope does not read were left out',
        '',
      );
  }

  private begin(track: number | string, begun: Begun): void {
    let open = this.open.get(track);
    if (!open) {
      open = new OpenSlices();
      this.open.set(track, open);
    }
    open.add(begun);
  }

  /** Kineto's own writer says what it knows about the machine in events without a time. */
  private takeUntimed({ bytes, event, texts }: PacketReader): void {
    const content = event && eventContent(bytes.subarray(event.from, event.to), texts, this.missing);
    if (content?.name === 'device_properties')
      this.keepHead('deviceProperties', content.args.get('properties'), true);
    else if (content?.name === 'trace_metadata')
      for (const key of HEAD_KEYS) this.keepHead(key, content.args.get(key), false);
  }

  private keepHead(key: string, json: string | undefined, isList: boolean): void {
    if (json === undefined || !HEAD_KEYS.has(key)) return;
    try {
      const text = JSON.parse(json) as string;
      const value = isList ? `[${text}]` : text;
      JSON.parse(value);
      this.machine.set(key, value);
    } catch {
      // Not what Kineto writes.
    }
  }

  private end(track: number | string, ns: number, isFirst: boolean): void {
    const begun = this.open.get(track)?.take(isFirst);
    if (!begun) {
      this.notes.add(
        'unmatched-end',
        'loss',
        'Ends of slices without a beginning were left out',
        `track ${track}`,
      );
      return;
    }
    this.slice(begun, track, ns);
  }

  private slice({ ns, bytes, texts }: Begun, track: number | string, endNs: number): void {
    const content = eventContent(bytes, texts, this.missing);
    if (!content) this.noteDamage('event');
    else if (endNs < ns)
      this.notes.add(
        'negative-duration',
        'loss',
        'Slices that end before they begin were left out',
        content.name,
      );
    else this.write('X', ns, content, track, endNs - ns);
  }

  private instant({ ns, bytes, texts }: Begun, track: number | string): void {
    const content = eventContent(bytes, texts, this.missing);
    if (!content) this.noteDamage('event');
    else if (content.category === CAPTURE) this.capture(content);
    else this.write('i', ns, content, track);
  }

  private capture({ name, args }: EventContent): void {
    this.events--;
    if (name === 'end') this.promised = Number(args.get('packets'));
    else
      for (const [key, json] of args) if (HEAD_KEYS.has(key)) this.head.set(key, JSON.parse(json) as string);
  }

  private write(
    phase: string,
    ns: number,
    content: EventContent,
    track: number | string,
    lengthNs = 0,
  ): void {
    const { name, args } = content;
    // Derived again from what was recorded.
    if (content.category.startsWith(DERIVED)) return;
    const category =
      content.category || (this.tracks.processName(track) === 'Overhead' ? 'overhead' : content.category);
    const number = (key: string) => Number(args.get(key) ?? Number.NaN);
    const { pid, tid } = GPU_CATEGORY.test(category)
      ? this.tracks.gpuPlaceOf(track, number('device'), number('stream'))
      : this.tracks.placeOf(track);
    const entries = [...args].map(([key, json]) => `${JSON.stringify(key)}:${json}`);
    const length = phase === 'X' ? `,"dur":${micros(lengthNs)}` : '';
    this.add(
      `{"ph":"${phase}","cat":${JSON.stringify(category)},"name":${JSON.stringify(name)},"pid":${pid},"tid":${tid},"ts":${micros(ns)}${length},"args":{${entries.join(',')}}}`,
    );
  }

  /** Tracks out of order, slices that never ended, and what is missing. */
  private finish(stream: PacketStream, reader: PacketReader): void {
    for (const [track, events] of this.unsorted) {
      events.sort((a, b) => a.ns - b.ns);
      for (const event of events)
        if (event.isBegin) this.begin(track, event);
        else this.end(track, event.ns, false);
    }
    for (const [track, open] of this.open)
      for (const { ns, bytes, texts } of open.left()) {
        const content = eventContent(bytes, texts, this.missing);
        if (content) this.write('B', ns, content, track);
      }
    this.cut = stream.cut;
    const isOurs = this.head.size > 0;
    if (isOurs && !stream.cut && Number.isNaN(this.promised)) {
      this.cut = true;
      return;
    }
    if (isOurs && this.promised > this.events)
      this.notes.add(
        'missing-packets',
        'loss',
        'Packets are missing from the file',
        `${this.events} of ${this.promised}`,
        this.promised - this.events,
      );
    if (reader.unknownClocks > 0) {
      const text = 'Times of a clock that the trace does not relate to its own are taken as they are';
      this.notes.add('unknown-clock', 'warning', text, '', reader.unknownClocks);
    }
  }

  private metadata({ originNs, wallOffsetNs }: PacketReader): string {
    const known = [...this.machine, ...this.head];
    const entries = known.map(([key, json]) => `,${JSON.stringify(key)}:${json}`);
    // Times count from the first packet: its time of day is that of the whole. Without a clock that says so, only what no
    // machine has been running for is a time since 1970.
    const offset = wallOffsetNs ?? (originNs !== undefined && originNs > SINCE_1970_NS ? 0n : undefined);
    if (originNs !== undefined && offset !== undefined)
      entries.push(`,"baseTimeNanoseconds":${originNs + offset}`);
    return entries.join('');
  }

  private readonly missing = (what: string): void => {
    const text = 'Events refer to texts that the trace does not have';
    this.notes.add('missing-text', 'loss', text, what);
  };

  private noteDamage(what: string): void {
    this.notes.add('damaged-packet', 'loss', 'Damaged packets were left out', what);
  }

  private add(line: string): void {
    this.lines.push(line);
    this.characters += line.length + 2;
  }

  private takeLines(): string {
    const text = this.lines.map(line => `,\n${line}`).join('');
    this.lines = [];
    this.characters = 0;
    return text;
  }
}

/** Slices of a track that have begun and not ended. */
class OpenSlices {
  private readonly list: (Begun | undefined)[] = [];
  private first = 0;

  add(begun: Begun): void {
    this.list.push(begun);
  }

  take(isFirst: boolean): Begun | undefined {
    if (!isFirst) return this.list.length > this.first ? this.list.pop() : undefined;
    const begun = this.list[this.first];
    this.list[this.first++] = undefined;
    if (this.first >= this.list.length) this.first = this.list.length = 0;
    return begun;
  }

  left(): readonly Begun[] {
    return this.list.slice(this.first) as Begun[];
  }
}

function listOf<Item>(lists: Map<number | string, Item[]>, track: number | string): Item[] {
  let list = lists.get(track);
  if (!list) {
    list = [];
    lists.set(track, list);
  }
  return list;
}

/** Nanoseconds as microseconds, every digit. */
function micros(ns: number): string {
  const whole = Math.abs(ns);
  const rest = whole % 1000;
  return `${ns < 0 ? '-' : ''}${(whole - rest) / 1000}${rest === 0 ? '' : `.${String(rest).padStart(3, '0')}`}`;
}
