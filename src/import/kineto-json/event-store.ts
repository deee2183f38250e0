/** Decides what an event is and puts it into the rows of its table. */
import { NONE } from '../../base/column.js';
import type { ProfileBuilder } from '../../model/builder.js';
import { OpKind, RangeKind, type TableName } from '../../model/schema.js';
import { Categories, Kind } from './categories.js';
import { type CopyName, parseCopyName, parseMemsetName } from './copy-name.js';
import { Arg } from './event-keys.js';
import type { EventReader } from './event-reader.js';
import { shortKernelName } from './kernel-name.js';
import type { Labels } from './labels.js';
import { Lanes } from './lanes.js';
import { OpenEvents } from './open-events.js';
import { TextStore } from './text-store.js';
import { TraceNames } from './trace-names.js';
import { kinetoTables, TraceRows } from './trace-rows.js';

const COMPLETE = 0x58; // X
const BEGIN = 0x42; // B
const END = 0x45; // E
const INSTANT = 0x69; // i
const OLD_INSTANT = 0x49; // I
const METADATA = 0x4d; // M
const FLOW_START = 0x73; // s
const FLOW_STEP = 0x74; // t
const FLOW_FINISH = 0x66; // f

const syncKinds: Record<string, number> = {
  'event sync': 1,
  'stream wait event': 2,
  'stream sync': 3,
  'context sync': 4,
};
/** CUPTI's "no stream", signed and unsigned. */
const NO_STREAM = 0xffffffff;

export class EventStore {
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
  private readonly open = new OpenEvents();
  private readonly wanted: Readonly<Record<(typeof kinetoTables)[number], boolean>>;
  private readonly shortNames = new Map<number, number>();
  private readonly copyNames = new Map<number, CopyName>();
  private readonly memoryName: number;
  private bytes: Uint8Array = new Uint8Array(0);

  constructor(
    private readonly builder: ProfileBuilder,
    private readonly event: EventReader,
    private readonly labels: Labels,
    tables?: ReadonlySet<TableName>,
  ) {
    this.texts = new TextStore(builder.strings, builder.notes);
    this.names = new TraceNames(labels);
    this.memoryName = builder.strings.intern('[memory]');
    this.wanted = Object.fromEntries(kinetoTables.map(name => [name, !tables || tables.has(name)])) as never;
    builder.skipped = kinetoTables.filter(name => !this.wanted[name]);
  }

  /** Stores what the reader has just read; `bytes` is what its marks point into. */
  store(bytes: Uint8Array): void {
    const event = this.event;
    this.bytes = bytes;
    this.events++;
    const phase = event.phase;
    const category = this.categories.count(bytes, event.category, phase);
    if (phase === METADATA) {
      this.names.add(bytes, event);
      return;
    }
    if (phase === 0) {
      this.builder.notes.add(
        'not-an-event',
        'warning',
        'Objects in the event list that have no phase (ph) were left out',
      );
      return;
    }
    if (!event.hasTime) {
      this.noteDropped('no-timestamp', 'Events without a time were left out');
      return;
    }
    if (this.originMicros !== this.originMicros) this.originMicros = event.micros;
    const start = (event.micros - this.originMicros) * 1000 + event.nanos;
    if (phase === COMPLETE) this.storeComplete(start, category);
    else if (phase === FLOW_START || phase === FLOW_FINISH || phase === FLOW_STEP)
      this.storeFlow(start, phase);
    else if (phase === INSTANT || phase === OLD_INSTANT) this.storeInstant(start);
    else if (phase === BEGIN) {
      if (!this.labels.isPseudo(event.pid))
        this.open.begin(
          this.lanes.place(event.pid, event.tid),
          start,
          category,
          event,
          this.texts.name(bytes, event.name),
        );
    } else if (phase === END) this.storeEnd(start);
  }

  /** Turns what was begun and never ended into open ranges or a note. Called once, after the last event. */
  finish(): void {
    for (const { lane, begun } of this.open.remaining()) {
      if (this.categories.kindOf(begun.category) === Kind.annotation) {
        this.pushRange(begun.start, Number.NaN, lane, begun.name);
        this.lanes.cpuEvents[lane]++;
      }
      this.builder.notes.add(
        'unmatched-begin',
        'warning',
        'Events that begin (ph B) and never end',
        this.builder.strings.text(begun.name),
      );
    }
  }

  private storeComplete(start: number, category: number): void {
    const event = this.event;
    if (!event.hasDuration) {
      this.builder.notes.add(
        'no-duration',
        'warning',
        'Complete events without a duration are taken as 0 ns long',
        this.exampleName(),
      );
    } else if (event.durationNs < 0) {
      this.noteDropped('negative-duration', 'Events with a negative duration were left out');
      return;
    }
    const end = start + event.durationNs;
    const kind = this.categories.kindOf(category);
    if (kind === Kind.kernel) this.storeKernel(start, end);
    else if (kind === Kind.copy) this.storeCopy(start, end);
    else if (kind === Kind.memset) this.storeMemset(start, end);
    else if (kind === Kind.gpuAnnotation) this.storeGpuAnnotation(start, end);
    else if (kind === Kind.sync) this.storeSync(start, end);
    else if (kind === Kind.recording) {
      this.recordingStart = start;
      this.recordingEnd = end;
    } else this.storeCpu(start, end, kind);
  }

  private storeCpu(start: number, end: number, kind: number): void {
    const event = this.event;
    if (this.labels.isPseudo(event.pid)) return;
    // A category we do not know that names a stream is drawn on a GPU, not run by a thread.
    if (kind === Kind.other && event.numbers[Arg.stream] === event.numbers[Arg.stream]) return;
    const lane = this.lanes.place(event.pid, event.tid);
    if (kind === Kind.overhead) {
      if (this.wanted.overheads) this.storeOverhead(start, end, lane);
      return;
    }
    this.lanes.cpuEvents[lane]++;
    if (kind === Kind.runtimeCall || kind === Kind.driverCall) {
      this.lanes.apiCalls[lane]++;
      if (this.wanted.apiCalls) this.storeCall(start, end, lane, kind);
    } else if (kind === Kind.annotation) {
      this.pushRange(start, end, lane, this.texts.name(this.bytes, event.name));
    } else if (this.wanted.ops) {
      const opKind =
        kind === Kind.op ? OpKind.framework : kind === Kind.python ? OpKind.python : OpKind.other;
      this.storeOp(start, end, lane, opKind);
    }
  }

  private storeOp(start: number, end: number, lane: number, kind: number): void {
    const { numbers, name, shapes, types, stack } = this.event;
    const ops = this.rows.ops;
    ops.start.push(start);
    ops.end.push(end);
    ops.thread.push(lane);
    ops.name.push(this.texts.name(this.bytes, name));
    ops.kind.push(kind);
    ops.shapes.push(this.texts.value(this.bytes, shapes));
    ops.types.push(this.texts.value(this.bytes, types));
    ops.stack.push(this.texts.detail(this.bytes, stack));
    ops.externalId.push(numbers[Arg.externalId]);
    ops.pythonId.push(numbers[Arg.pythonId]);
    ops.pythonParentId.push(numbers[Arg.pythonParentId]);
  }

  private storeCall(start: number, end: number, lane: number, kind: number): void {
    const calls = this.rows.apiCalls;
    calls.start.push(start);
    calls.end.push(end);
    calls.thread.push(lane);
    calls.correlation.push(this.correlation());
    calls.name.push(this.texts.name(this.bytes, this.event.name));
    calls.class.push(kind === Kind.runtimeCall ? 0 : 1);
    this.rows.callExternalIds.push(this.externalId());
  }

  private storeKernel(start: number, end: number): void {
    const stream = this.streamLane();
    if (!this.wanted.kernels) return;
    const numbers = this.event.numbers;
    const kernels = this.rows.kernels;
    const name = this.texts.name(this.bytes, this.event.name);
    kernels.start.push(start);
    kernels.end.push(end);
    kernels.stream.push(stream);
    kernels.correlation.push(this.correlation());
    kernels.name.push(name);
    kernels.shortName.push(this.shortName(name));
    kernels.graphNode.push(graphNumber(numbers[Arg.graphNode]));
    kernels.graph.push(graphNumber(numbers[Arg.graph]));
    kernels.gridX.push(whole(numbers[Arg.gridX]));
    kernels.gridY.push(whole(numbers[Arg.gridY]));
    kernels.gridZ.push(whole(numbers[Arg.gridZ]));
    kernels.blockX.push(whole(numbers[Arg.blockX]));
    kernels.blockY.push(whole(numbers[Arg.blockY]));
    kernels.blockZ.push(whole(numbers[Arg.blockZ]));
    kernels.registersPerThread.push(whole(numbers[Arg.registers]));
    // Kineto gives static and dynamic together.
    kernels.dynamicSharedBytes.push(whole(numbers[Arg.sharedMemory]));
    kernels.occupancyPercent.push(numbers[Arg.occupancy]);
    this.rows.kernelExternalIds.push(this.externalId());
  }

  private storeCopy(start: number, end: number): void {
    const stream = this.streamLane();
    if (!this.wanted.copies) return;
    const numbers = this.event.numbers;
    const copies = this.rows.copies;
    const { kind, sourceMemory, targetMemory } = this.copyName();
    copies.start.push(start);
    copies.end.push(end);
    copies.stream.push(stream);
    copies.correlation.push(this.correlation());
    copies.graphNode.push(graphNumber(numbers[Arg.graphNode]));
    copies.graph.push(graphNumber(numbers[Arg.graph]));
    copies.bytes.push(numbers[Arg.bytes]);
    copies.kind.push(kind);
    copies.sourceMemory.push(sourceMemory);
    copies.targetMemory.push(targetMemory);
  }

  private storeMemset(start: number, end: number): void {
    const stream = this.streamLane();
    if (!this.wanted.memsets) return;
    const numbers = this.event.numbers;
    const memsets = this.rows.memsets;
    memsets.start.push(start);
    memsets.end.push(end);
    memsets.stream.push(stream);
    memsets.correlation.push(this.correlation());
    memsets.graphNode.push(graphNumber(numbers[Arg.graphNode]));
    memsets.graph.push(graphNumber(numbers[Arg.graph]));
    memsets.bytes.push(numbers[Arg.bytes]);
    memsets.memory.push(
      parseMemsetName(this.builder.strings.text(this.texts.name(this.bytes, this.event.name))),
    );
  }

  private storeSync(start: number, end: number): void {
    if (!this.wanted.syncs) return;
    const numbers = this.event.numbers;
    const syncs = this.rows.syncs;
    const id = numbers[Arg.stream];
    const name = this.builder.strings.text(this.texts.name(this.bytes, this.event.name)).toLowerCase();
    syncs.start.push(start);
    syncs.end.push(end);
    syncs.stream.push(id >= 0 && id < NO_STREAM ? this.streamLane() : NONE);
    syncs.correlation.push(this.correlation());
    syncs.kind.push(syncKinds[name] ?? 0);
    syncs.event.push(whole(numbers[Arg.waitedEvent]));
  }

  /** These name only a place; which stream that is follows from the kernels there. */
  private storeGpuAnnotation(start: number, end: number): void {
    if (!this.wanted.ranges) return;
    const ranges = this.rows.ranges;
    ranges.start.push(start);
    ranges.end.push(end);
    ranges.thread.push(NONE);
    ranges.name.push(this.texts.name(this.bytes, this.event.name));
    ranges.kind.push(RangeKind.gpuAnnotation);
    ranges.domain.push(NONE);
    ranges.stream.push(this.lanes.place(this.event.pid, this.event.tid));
  }

  private pushRange(
    start: number,
    end: number,
    lane: number,
    name: number,
    kind: number = RangeKind.pushPop,
  ): void {
    if (!this.wanted.ranges) return;
    const ranges = this.rows.ranges;
    ranges.start.push(start);
    ranges.end.push(end);
    ranges.thread.push(lane);
    ranges.name.push(name);
    ranges.kind.push(kind);
    ranges.domain.push(NONE);
    ranges.stream.push(NONE);
  }

  private storeOverhead(start: number, end: number, lane: number): void {
    const overheads = this.rows.overheads;
    overheads.start.push(start);
    overheads.end.push(end);
    overheads.thread.push(lane);
    overheads.name.push(this.texts.name(this.bytes, this.event.name));
  }

  private storeFlow(start: number, phase: number): void {
    if (!this.wanted.flows) return;
    const { event, rows } = this;
    rows.flows.start.push(start);
    rows.flows.thread.push(this.lanes.place(event.pid, event.tid));
    rows.flows.id.push(event.id);
    rows.flows.category.push(this.texts.name(this.bytes, event.category));
    rows.flows.phase.push(phase === FLOW_START ? 0 : phase === FLOW_STEP ? 1 : 2);
  }

  private storeInstant(start: number): void {
    const event = this.event;
    if (this.labels.isPseudo(event.pid)) return;
    const name = this.texts.name(this.bytes, event.name);
    const lane = this.lanes.place(event.pid, event.tid);
    this.lanes.cpuEvents[lane]++;
    if (name !== this.memoryName) this.pushRange(start, start, lane, name, RangeKind.mark);
    else if (this.wanted.memoryEvents) this.storeMemory(start, lane);
  }

  private storeMemory(start: number, lane: number): void {
    const numbers = this.event.numbers;
    const memory = this.rows.memoryEvents;
    const onCpu = numbers[Arg.deviceType] === 0;
    memory.start.push(start);
    memory.process.push(lane);
    memory.gpu.push(onCpu ? NONE : whole(numbers[Arg.deviceId]));
    memory.bytes.push(numbers[Arg.bytes]);
    memory.address.push(numbers[Arg.address]);
    memory.memory.push(onCpu ? 0 : 2);
    memory.totalAllocatedBytes.push(numbers[Arg.totalAllocated]);
    memory.totalReservedBytes.push(numbers[Arg.totalReserved]);
  }

  private storeEnd(end: number): void {
    const event = this.event;
    if (this.labels.isPseudo(event.pid)) return;
    const begun = this.open.end(this.lanes.place(event.pid, event.tid));
    if (!begun) {
      this.noteDropped('unmatched-end', 'Events that end (ph E) without having begun were left out');
      return;
    }
    const name = this.builder.strings.bytes(begun.name);
    event.resume(begun.numbers, name.length, end - begun.start);
    this.bytes = name;
    this.storeComplete(begun.start, begun.category);
  }

  private streamLane(): number {
    const { pid, tid, numbers } = this.event;
    return this.lanes.stream(pid, tid, numbers[Arg.device], numbers[Arg.context], numbers[Arg.stream]);
  }

  private correlation(): number {
    const id = this.event.numbers[Arg.correlation];
    return id > 0 && id <= 0xffffffff ? id : 0;
  }

  /** Where no op is behind an event, Kineto repeats the correlation as external id: that links to nothing. */
  private externalId(): number {
    const numbers = this.event.numbers;
    return numbers[Arg.externalId] === numbers[Arg.correlation] ? Number.NaN : numbers[Arg.externalId];
  }

  private shortName(name: number): number {
    let short = this.shortNames.get(name);
    if (short === undefined) {
      const { strings } = this.builder;
      short = strings.intern(shortKernelName(strings.text(name)));
      this.shortNames.set(name, short);
    }
    return short;
  }

  private copyName(): CopyName {
    const name = this.texts.name(this.bytes, this.event.name);
    let parsed = this.copyNames.get(name);
    if (!parsed || parsed.kind === 0) {
      const { strings } = this.builder;
      const kind = this.event.kind.to === 0 ? '' : strings.text(this.texts.name(this.bytes, this.event.kind));
      parsed = parseCopyName(strings.text(name), kind);
      this.copyNames.set(name, parsed);
    }
    return parsed;
  }

  private noteDropped(code: string, text: string): void {
    this.builder.notes.add(code, 'loss', text, this.exampleName());
  }

  private exampleName(): string {
    return this.builder.strings.text(this.texts.name(this.bytes, this.event.name));
  }
}

/** Kineto writes 0 for work outside graphs. */
function graphNumber(value: number): number {
  return value === 0 ? Number.NaN : value;
}

function whole(value: number): number {
  return value === value && Math.abs(value) <= 0x7fffffff ? Math.trunc(value) : NONE;
}
