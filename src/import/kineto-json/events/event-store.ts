/** Decides what an event is, where it belongs, and whether its times can be trusted. */
import type { NoteCounter } from '../../../base/notes.js';
import type { StringTable } from '../../../base/string-table.js';
import { OpKind, RangeKind, type TableName } from '../../../model/schema.js';
import { Categories, Kind } from './categories.js';
import { CpuEvents } from './cpu-events.js';
import { MAX_CORRELATION } from './event-arguments.js';
import { Arg } from './event-keys.js';
import type { EventReader } from './event-reader.js';
import { GpuEvents } from './gpu-events.js';
import type { Labels } from './labels.js';
import { Lanes } from './lanes.js';
import { OpenEvents } from './open-events.js';
import type { ReadTrace } from './read-trace.js';
import { TextStore } from './text-store.js';
import { TraceNames } from './trace-names.js';
import { type KinetoTable, kinetoTables, TraceRows } from './trace-rows.js';

const COMPLETE = 0x58; // X
const BEGIN = 0x42; // B
const END = 0x45; // E
const INSTANT = 0x69; // i
const OLD_INSTANT = 0x49; // I
const METADATA = 0x4d; // M
const FLOW_START = 0x73; // s
const FLOW_STEP = 0x74; // t
const FLOW_FINISH = 0x66; // f

/** Traces from before 2022 have the profiler's steps among the operators. */
const STEP = new TextEncoder().encode('ProfilerStep#');
/** A PyTorch built without Kineto writes no categories; what our agent marked is known by name. */
const AGENT = new TextEncoder().encode('stepscope.');

/** The name of allocations, which every reader of a trace numbers first. */
export const MEMORY_NAME = '[memory]';

export class EventStore implements ReadTrace {
  readonly categories = new Categories();
  readonly lanes = new Lanes();
  readonly rows = new TraceRows();
  readonly names: TraceNames;
  events = 0;
  /** The whole microsecond all times are counted from: that of the first event with a time. */
  originMicros = Number.NaN;
  /** Kineto's own statement of when it recorded. */
  recordingStart = Number.NaN;
  recordingEnd = Number.NaN;
  private readonly texts: TextStore;
  private readonly cpu: CpuEvents;
  private readonly gpu: GpuEvents;
  private readonly open = new OpenEvents();
  private readonly wanted: Readonly<Record<KinetoTable, boolean>>;
  private readonly memoryName: number;

  constructor(
    private readonly builder: { readonly strings: StringTable; readonly notes: NoteCounter },
    private readonly event: EventReader,
    private readonly labels: Labels,
    tables?: { has(table: TableName): boolean },
  ) {
    this.texts = new TextStore(builder.strings, builder.notes);
    this.cpu = new CpuEvents(event, this.texts, this.rows);
    this.gpu = new GpuEvents(event, this.texts, this.rows, this.lanes, builder.strings);
    this.names = new TraceNames(labels);
    this.memoryName = builder.strings.intern(MEMORY_NAME);
    const wanted = kinetoTables.map(name => [name, !tables || tables.has(name)]);
    this.wanted = Object.fromEntries(wanted) as Record<KinetoTable, boolean>;
  }

  /** How many events have begun (ph B) and not ended. */
  get openEvents(): number {
    return this.open.count;
  }

  get detailBytes(): number {
    return this.texts.detailBytes;
  }

  /** Stores what the reader has just read; `bytes` is what its marks point into. */
  store(bytes: Uint8Array): void {
    const event = this.event;
    const phase = event.phase;
    this.texts.bytes = bytes;
    this.events++;
    if (event.passedOver) return;
    const category = this.categories.count(bytes, event.category, phase);
    if (phase === METADATA) {
      this.names.add(bytes, event);
      return;
    }
    if (phase === 0) {
      this.noteDropped('not-an-event', 'Objects without a phase (ph) in the event list were left out');
      return;
    }
    if (!event.hasTime) {
      this.noteDropped('no-timestamp', 'Events without a time were left out');
      return;
    }
    if (this.categories.kindOf(category) === Kind.derived) return;
    if (Number.isNaN(this.originMicros)) this.originMicros = event.micros;
    const start = (event.micros - this.originMicros) * 1000 + event.nanos;
    if (Math.abs(start) > Number.MAX_SAFE_INTEGER) this.noteFarTime();
    if (Number.isNaN(event.pid)) this.noteHomeless();
    if (event.numbers[Arg.correlation] > MAX_CORRELATION) this.noteLargeId();
    if (phase === COMPLETE) this.storeComplete(start, category);
    else if (phase === FLOW_START) this.storeFlow(start, 0);
    else if (phase === FLOW_STEP) this.storeFlow(start, 1);
    else if (phase === FLOW_FINISH) this.storeFlow(start, 2);
    else if (this.labels.isPseudo(event.pid)) return;
    else if (phase === INSTANT || phase === OLD_INSTANT) this.storeInstant(start);
    else if (phase === BEGIN) this.storeBegin(start, category);
    else if (phase === END) this.storeEnd(start);
  }

  /** What stands in the list of events and is no object. */
  countNonEvent(): void {
    this.events++;
    const text = 'Objects without a phase (ph) in the event list were left out';
    this.builder.notes.add('not-an-event', 'loss', text, 'a value that is not an object');
  }

  /** Turns what was begun and never ended into open ranges or a note. Called once, after the last event. */
  finish(): void {
    for (const { lane, begun } of this.open.remaining()) {
      const isAnnotation = this.categories.kindOf(begun.category) === Kind.annotation;
      if (isAnnotation && this.wanted.ranges) {
        this.cpu.addRange(begun.start, Number.NaN, lane, begun.name);
        this.lanes.cpuEvents[lane]++;
      }
      const text = 'Events begin (ph B) and never end: annotations stay open, others were left out';
      this.builder.notes.add('unmatched-begin', 'warning', text, this.builder.strings.text(begun.name));
    }
  }

  private storeComplete(start: number, category: number): void {
    const { event, wanted } = this;
    if (event.durationNs < 0) {
      this.noteDropped('negative-duration', 'Events with a negative duration were left out');
      return;
    }
    if (!event.hasDuration) {
      const text = 'Complete events without a duration count as 0 ns long';
      this.builder.notes.add('no-duration', 'warning', text, this.exampleName());
    }
    const end = start + event.durationNs;
    const kind = this.categories.kindOf(category);
    if (kind === Kind.kernel) {
      if (wanted.kernels) this.gpu.addKernel(start, end);
    } else if (kind === Kind.copy) {
      if (wanted.copies) this.gpu.addCopy(start, end);
    } else if (kind === Kind.memset) {
      if (wanted.memsets) this.gpu.addMemset(start, end);
    } else if (kind === Kind.gpuAnnotation) {
      if (wanted.ranges) this.gpu.addAnnotation(start, end);
    } else if (kind === Kind.sync) {
      if (wanted.syncs) this.gpu.addSync(start, end);
    } else if (kind === Kind.recording) {
      this.recordingStart = start;
      this.recordingEnd = end;
    } else this.storeCpu(start, end, kind);
  }

  private storeCpu(start: number, end: number, kind: number): void {
    const { event, wanted } = this;
    if (this.labels.isPseudo(event.pid)) return;
    // A category we do not know that names a stream is drawn on a GPU, not run by a thread.
    if (kind === Kind.other && !Number.isNaN(event.numbers[Arg.stream])) return;
    const lane = this.lanes.place(event.pid, event.tid);
    if (kind === Kind.overhead) {
      // Not counted as the thread's: Kineto puts these on process -1.
      if (wanted.overheads) this.cpu.addOverhead(start, end, lane);
      return;
    }
    this.lanes.cpuEvents[lane]++;
    if (kind === Kind.runtimeCall || kind === Kind.driverCall) {
      this.lanes.apiCalls[lane]++;
      if (wanted.apiCalls) this.cpu.addCall(start, end, lane, kind === Kind.runtimeCall ? 0 : 1);
    } else if (
      kind === Kind.annotation ||
      (kind === Kind.op && this.nameBegins(STEP)) ||
      (kind === Kind.other && this.nameBegins(AGENT))
    ) {
      if (wanted.ranges) this.cpu.addRange(start, end, lane, this.texts.name(event.name));
    } else if (kind === Kind.python) {
      if (wanted.frames) this.cpu.addFrame(start, end, lane);
    } else if (wanted.ops)
      this.cpu.addOp(start, end, lane, kind === Kind.op ? OpKind.framework : OpKind.other);
  }

  private nameBegins(start: Uint8Array): boolean {
    const { from, to } = this.event.name;
    const { bytes } = this.texts;
    return to - from > start.length && start.every((byte, i) => bytes[from + i] === byte);
  }

  private storeFlow(start: number, phase: number): void {
    if (this.wanted.flows) this.cpu.addFlow(start, this.lanes.place(this.event.pid, this.event.tid), phase);
  }

  private storeInstant(start: number): void {
    const name = this.texts.name(this.event.name);
    const lane = this.lanes.place(this.event.pid, this.event.tid);
    this.lanes.cpuEvents[lane]++;
    if (name === this.memoryName) {
      if (this.wanted.memoryEvents) this.cpu.addMemory(start, lane);
    } else if (this.wanted.ranges) this.cpu.addRange(start, start, lane, name, RangeKind.mark);
  }

  private storeBegin(start: number, category: number): void {
    const { event } = this;
    const lane = this.lanes.place(event.pid, event.tid);
    this.open.begin(lane, {
      start,
      category,
      name: this.texts.name(event.name),
      numbers: event.numbers.slice(),
    });
  }

  private storeEnd(end: number): void {
    const begun = this.open.end(this.lanes.place(this.event.pid, this.event.tid));
    if (!begun) {
      this.noteDropped('unmatched-end', 'End events (ph E) without a begin event were left out');
      return;
    }
    const name = this.builder.strings.bytes(begun.name);
    this.event.resume(begun.numbers, name.length, end - begun.start);
    this.texts.bytes = name;
    this.storeComplete(begun.start, begun.category);
  }

  private noteFarTime(): void {
    const text = 'Events are more than 104 days from the first event: their times are exact only to 1 µs';
    this.builder.notes.add('time-far', 'warning', text, this.exampleName());
  }

  private noteHomeless(): void {
    const text = 'Events without a process ID are assigned to process 0';
    this.builder.notes.add('no-process', 'warning', text, this.exampleName());
  }

  private noteLargeId(): void {
    const text = 'Events with a correlation ID of more than 32 bits are not linked to a launch';
    this.builder.notes.add('id-too-large', 'loss', text, this.exampleName());
  }

  private noteDropped(code: string, text: string): void {
    this.builder.notes.add(code, 'loss', text, this.exampleName());
  }

  private exampleName(): string {
    return this.builder.strings.text(this.texts.name(this.event.name));
  }
}
