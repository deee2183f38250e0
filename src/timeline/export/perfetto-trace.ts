/**
 * A trace as Perfetto's own format (a sequence of TracePacket messages), with exact nanoseconds. Slices of a Perfetto
 * track must lie inside each other or apart: what overlaps otherwise gets a second track of the same name, which Perfetto
 * draws together with the first. On every track packets are in order of time, and a slice ends before the next one begins,
 * so that readers that sort by time alone see the same slices.
 *
 *   recorded   [a────────]            track     [a────────]
 *                   [b────────]       its twin       [b────────]
 */
import { NONE } from '../../base/column.js';
import { MessageWriter } from '../../base/protobuf/message-writer.js';
import {
  AnnotationField,
  ClockId,
  ClocksField,
  CounterField,
  EntryField,
  EventField,
  EventType,
  EXPLICIT_ORDER,
  InternedField,
  PacketField,
  ProcessField,
  SequenceFlag,
  ThreadField,
  TRACE_PACKET,
  TrackField,
  UNIT_BYTES,
} from '../../catalog/perfetto-fields.js';
import type { Profile } from '../../model/profile.js';
import type { TraceArgument, TraceArguments, TraceEvent, TracePlace, TraceSlice } from './trace-event.js';
import { OWN_CATEGORY } from './trace-event.js';
import { TracePlaces, traceHead } from './trace-places.js';

const PIECE_BYTES = 1 << 20;
const SEQUENCE = 1;
const AFTER_OURS = 1_000_000;
const LOW_BITS = 2n ** 35n;

/** Pieces of a file; times are whole nanoseconds from the profile's origin. */
export function* perfettoTrace(profile: Profile, events: Iterable<TraceEvent>): Iterable<Uint8Array> {
  const writer = new PerfettoWriter(profile);
  for (const event of events) {
    writer.add(event);
    if (writer.length >= PIECE_BYTES) yield writer.take();
  }
  writer.finish();
  yield writer.take();
}

interface Lane {
  readonly uuid: number;
  /** Ends of the slices that are open, the innermost last. */
  readonly ends: number[];
}

interface Names {
  readonly field: number;
  readonly ids: Map<string, number>;
  readonly fresh: [id: number, text: string][];
}

const names = (field: number): Names => ({ field, ids: new Map(), fresh: [] });

class PerfettoWriter {
  private readonly out = new MessageWriter();
  private readonly places: TracePlaces;
  private readonly lanes = new Map<string, Lane[]>();
  private readonly tracks = new Map<string, number>();
  private readonly categories = names(InternedField.categories);
  private readonly names = names(InternedField.names);
  private readonly annotations = names(InternedField.annotationNames);
  private readonly originHigh: number;
  private readonly originLow: number;
  private nextUuid = 1;
  /** Of events. */
  private packets = 0;

  constructor(private readonly profile: Profile) {
    this.places = new TracePlaces(profile);
    const origin = originOf(profile);
    this.originHigh = Number(origin / LOW_BITS);
    this.originLow = Number(origin % LOW_BITS);
    this.clock();
    this.head();
  }

  get length(): number {
    return this.out.length;
  }

  take(): Uint8Array {
    return this.out.take();
  }

  add(event: TraceEvent): void {
    if (event.kind === 'counter')
      this.addCounter(event.gpu, event.name, event.unit, event.startNs, event.value);
    else if (event.kind === 'instant') {
      const [lane] = this.lanesOf(event.place);
      this.close(lane, event.startNs);
      this.event(EventType.instant, lane.uuid, event.startNs, event);
    } else this.addSlice(event);
  }

  /** Ends what is open. Slices whose end was not recorded stay open: Perfetto shows them as unfinished. */
  finish(): void {
    for (const lanes of this.lanes.values()) for (const lane of lanes) this.close(lane, Number.MAX_VALUE);
    // A file that was cut between two packets looks whole: the last one says how many there are.
    this.capture('end', { packets: this.packets });
  }

  private addSlice(event: TraceSlice): void {
    const { startNs, endNs } = event;
    const lanes = this.lanesOf(event.place);
    let lane: Lane | undefined;
    for (const one of lanes) {
      this.close(one, startNs);
      if (one.ends.length > 0 && one.ends[one.ends.length - 1] < endNs) continue;
      lane = one;
      break;
    }
    if (!lane) {
      lane = { uuid: this.describe(event.place), ends: [] };
      lanes.push(lane);
    }
    lane.ends.push(endNs);
    this.event(EventType.begin, lane.uuid, startNs, event);
  }

  /** Ends the slices of a lane that end before or at a time. */
  private close({ uuid, ends }: Lane, until: number): void {
    while (ends.length > 0 && ends[ends.length - 1] <= until) this.event(EventType.end, uuid, ends.pop()!);
  }

  private event(type: number, uuid: number, ns: number, about?: TraceSlice | TraceEvent): void {
    const packet = this.packet(ns);
    const event = this.out.open(PacketField.trackEvent);
    this.out.whole(EventField.type, type);
    this.out.whole(EventField.track, uuid);
    if (about && about.kind !== 'counter') {
      this.out.whole(EventField.category, this.id(this.categories, about.category));
      this.out.whole(EventField.name, this.id(this.names, about.name));
      if (about.kind === 'slice' && about.arrow) this.out.fixed64(EventField.flow, about.arrow.id);
      if (about.args) this.annotate(about.args);
    }
    this.out.close(event);
    this.endPacket(packet);
  }

  private annotate(args: TraceArguments): void {
    for (const name in args) {
      const at = this.out.open(EventField.annotation);
      this.out.whole(AnnotationField.name, this.id(this.annotations, name));
      this.value(args[name]);
      this.out.close(at);
    }
  }

  private value(value: TraceArgument): void {
    if (typeof value === 'string') this.out.text(AnnotationField.text, value);
    else if (typeof value !== 'number')
      for (const item of value) {
        const at = this.out.open(AnnotationField.item);
        this.value(item);
        this.out.close(at);
      }
    else if (Number.isSafeInteger(value)) this.out.signed(AnnotationField.int, value);
    else this.out.double(AnnotationField.double, value);
  }

  private addCounter(gpu: number, name: string, unit: string, ns: number, value: number): void {
    const key = `counter/${gpu}/${name}`;
    let uuid = this.tracks.get(key);
    if (uuid === undefined) {
      uuid = this.track(name, gpu === NONE ? 0 : this.gpuTrack(gpu), () => {
        const counter = this.out.open(TrackField.counter);
        if (unit === 'bytes') this.out.whole(CounterField.unit, UNIT_BYTES);
        else this.out.text(CounterField.unitName, unit);
        this.out.close(counter);
      });
      this.tracks.set(key, uuid);
    }
    const packet = this.packet(ns);
    const event = this.out.open(PacketField.trackEvent);
    this.out.whole(EventField.type, EventType.counter);
    this.out.whole(EventField.track, uuid);
    this.out.double(EventField.doubleCounter, value);
    this.out.close(event);
    this.endPacket(packet);
  }

  private lanesOf(place: TracePlace): Lane[] {
    const key = keyOf(place);
    let lanes = this.lanes.get(key);
    if (!lanes) {
      lanes = [{ uuid: this.describe(place), ends: [] }];
      this.lanes.set(key, lanes);
    }
    return lanes;
  }

  /** A new track of a place. Only the first of a thread is the thread's own. */
  private describe(place: TracePlace): number {
    if (place.kind === 'own') return this.track(place.track, this.ownParent(place.gpu), undefined, true);
    if (place.kind === 'stream') {
      const { gpu, streamId } = this.profile.streams[place.stream];
      return this.track(`stream ${streamId}`, this.gpuTrack(gpu));
    }
    const { process, tid, name } = this.profile.threads[place.thread];
    const parent = this.processTrack(process);
    const isFirst = !this.lanes.has(keyOf(place));
    const label = name || `thread ${tid}`;
    if (!isFirst || !this.isOwnPid(process)) return this.track(`thread ${tid} · ${label}`, parent);
    return this.track(undefined, parent, () => {
      const thread = this.out.open(TrackField.thread);
      this.out.signed(ThreadField.pid, this.profile.processes[process].pid);
      this.out.signed(ThreadField.tid, tid);
      this.out.text(ThreadField.name, label);
      this.out.close(thread);
    });
  }

  private processTrack(process: number): number {
    return this.once(`process/${process}`, () => {
      const { pid, name } = this.profile.processes[process];
      const rank = this.places.rankOfProcess(process);
      const label = rank === NONE ? '' : `rank ${rank}`;
      if (!this.isOwnPid(process))
        return this.track([`process ${pid}`, label, name].filter(Boolean).join(' · '), 0);
      return this.track(undefined, 0, () => {
        const own = this.out.open(TrackField.process);
        this.out.signed(ProcessField.pid, pid);
        this.out.text(ProcessField.name, name);
        if (label) this.out.text(ProcessField.label, label);
        this.out.close(own);
      });
    });
  }

  /** Perfetto knows a process by its number: of several with one number only the first is a process to it. */
  private isOwnPid(process: number): boolean {
    const { processes } = this.profile;
    const { pid } = processes[process];
    return pid <= 0x7fffffff && processes.findIndex(other => other.pid === pid) === process;
  }

  private gpuTrack(gpu: number): number {
    return this.once(`gpu/${gpu}`, () => this.track(this.places.gpuLabel(gpu), 0));
  }

  private ownParent(gpu: number): number {
    return gpu === NONE ? this.once('own', () => this.track('Stepscope', 0)) : this.gpuTrack(gpu);
  }

  private once(key: string, make: () => number): number {
    let uuid = this.tracks.get(key);
    if (uuid === undefined) {
      uuid = make();
      this.tracks.set(key, uuid);
    }
    return uuid;
  }

  private track(name: string | undefined, parent: number, more?: () => void, isFirst = false): number {
    const uuid = this.nextUuid++;
    const packet = this.out.open(TRACE_PACKET);
    this.out.whole(PacketField.sequence, SEQUENCE);
    const track = this.out.open(PacketField.trackDescriptor);
    this.out.whole(TrackField.uuid, uuid);
    if (parent > 0) {
      this.out.whole(TrackField.parent, parent);
      // What we derived stands above what was recorded; otherwise in the order in which they came.
      this.out.whole(TrackField.rank, isFirst ? uuid : AFTER_OURS + uuid);
    } else if (!more) this.out.whole(TrackField.childOrder, EXPLICIT_ORDER);
    if (name !== undefined) this.out.text(TrackField.name, name);
    more?.();
    this.out.close(track);
    this.out.close(packet);
    return uuid;
  }

  private packet(ns: number): number {
    this.packets++;
    const packet = this.out.open(TRACE_PACKET);
    this.timestamp(ns);
    this.out.whole(PacketField.sequence, SEQUENCE);
    this.out.whole(PacketField.sequenceFlags, SequenceFlag.needed);
    return packet;
  }

  private timestamp(ns: number): void {
    const whole = Math.round(ns);
    if (whole >= 0) {
      const high = Math.floor(whole / 2 ** 35);
      this.out.split(
        PacketField.timestamp,
        this.originHigh + high,
        this.originLow + (whole - high * 2 ** 35),
      );
    } else {
      // Before the origin: a few times in a file, if at all.
      const at = BigInt(this.originHigh) * LOW_BITS + BigInt(this.originLow) + BigInt(whole);
      this.out.split(PacketField.timestamp, Number(at / LOW_BITS), Number(at % LOW_BITS));
    }
  }

  /** What the packet names for the first time goes with it. */
  private endPacket(packet: number): void {
    const lists = [this.categories, this.names, this.annotations];
    if (lists.some(({ fresh }) => fresh.length > 0)) {
      const data = this.out.open(PacketField.internedData);
      for (const { field, fresh } of lists) {
        for (const [id, text] of fresh) {
          const entry = this.out.open(field);
          this.out.whole(EntryField.id, id);
          this.out.text(EntryField.text, text);
          this.out.close(entry);
        }
        fresh.length = 0;
      }
      this.out.close(data);
    }
    this.out.close(packet);
  }

  private id(list: Names, text: string): number {
    let id = list.ids.get(text);
    if (id === undefined) {
      id = list.ids.size + 1;
      list.ids.set(text, id);
      list.fresh.push([id, text]);
    }
    return id;
  }

  /** The trace's clock counts as the time of day where the file knows that; otherwise nothing relates the two. */
  private clock(): void {
    const packet = this.out.open(TRACE_PACKET);
    this.timestamp(0);
    this.out.whole(PacketField.sequence, SEQUENCE);
    this.out.whole(PacketField.sequenceFlags, SequenceFlag.cleared);
    const snapshot = this.out.open(PacketField.clockSnapshot);
    const ids = this.profile.clock === 'utc' ? [ClockId.boottime, ClockId.realtime] : [ClockId.boottime];
    for (const id of ids) {
      const clock = this.out.open(ClocksField.clock);
      this.out.whole(ClocksField.id, id);
      this.out.split(ClocksField.timestamp, this.originHigh, this.originLow);
      this.out.close(clock);
    }
    this.out.close(snapshot);
    this.out.close(packet);
  }

  /** What Perfetto has no field for: GPUs, ranks, and what else a reader of ours needs. */
  private head(): void {
    const args = Object.fromEntries(
      Object.entries(traceHead(this.profile)).map(([key, value]) => [key, JSON.stringify(value)]),
    );
    this.capture('capture', args);
  }

  private capture(name: string, args: TraceArguments): void {
    this.add({
      kind: 'instant',
      category: `${OWN_CATEGORY}capture`,
      name,
      startNs: 0,
      place: { kind: 'own', gpu: NONE, track: 'capture' },
      args,
    });
    this.packets--;
  }
}

/** Times of a trace are not negative: a clock of the session, whose zero means nothing, is moved where it has to be. */
function originOf({ originNs, tables }: Profile): bigint {
  const starts = Object.values(tables).map(
    table => (table as unknown as { readonly start?: ArrayLike<number> }).start?.[0] ?? 0,
  );
  const least = BigInt(Math.round(Math.min(0, ...starts.filter(Number.isFinite))));
  return originNs + least < 0n ? -least : originNs;
}

function keyOf(place: TracePlace): string {
  if (place.kind === 'own') return `own/${place.gpu}/${place.track}`;
  return place.kind === 'thread' ? `thread/${place.thread}` : `stream/${place.stream}`;
}
