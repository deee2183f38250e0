/** Rows of what GPUs did: kernels, copies, memsets, waits, annotations. Streams are lanes until the end. */
import { NONE } from '../../../base/column.js';
import type { StringTable } from '../../../base/string-table.js';
import { messageText } from '../../../catalog/messages.js';
import { RangeKind } from '../../../model/schema.js';
import { type CopyName, parseCopyName, parseMemsetName } from './copy-name.js';
import { correlationOf, graphNumber, linkedExternalId, wholeOrNone } from './event-arguments.js';
import { Arg } from './event-keys.js';
import type { EventReader, TextMark } from './event-reader.js';
import { shortKernelName } from './kernel-name.js';
import { KnownByShape } from './known-by-shape.js';
import type { Lanes } from './lanes.js';
import type { TextStore } from './text-store.js';
import type { TraceRows } from './trace-rows.js';

const syncKinds: Record<string, number> = {
  'event sync': 1,
  'stream wait event': 2,
  'stream sync': 3,
  'context sync': 4,
};
/** CUPTI's "no stream", as an unsigned number; as a signed one it is -1. */
const NO_STREAM = 0xffffffff;

export class GpuEvents {
  private readonly models = new KnownByShape();
  /** By name. */
  private readonly shortNames: number[] = [];
  private readonly copyNames = new Map<number, CopyName>();

  constructor(
    private readonly event: EventReader,
    private readonly texts: TextStore,
    private readonly rows: TraceRows,
    private readonly lanes: Lanes,
    private readonly strings: StringTable,
  ) {}

  addKernel(start: number, end: number): void {
    const { numbers, name } = this.event;
    const { kernels, kernelExternalIds, kernelModels } = this.rows;
    let model = this.models.find(name.key);
    if (model < 0) {
      model = this.addModel();
      this.models.keep(name.key, model);
    }
    kernelModels.push(model);
    kernels.start.push(start);
    kernels.end.push(end);
    kernels.correlation.push(correlationOf(numbers));
    kernels.graphNode.push(graphNumber(numbers[Arg.graphNode]));
    kernels.messageNumber.push(numbers[Arg.messageNumber]);
    kernelExternalIds.push(linkedExternalId(numbers));
  }

  /** What kernels of one shape have in common (modelColumns in trace-rows.ts). */
  private addModel(): number {
    const { numbers } = this.event;
    const { kernels } = this.rows;
    const name = this.texts.name(this.event.name);
    const model = kernels.name.length;
    kernels.stream.push(this.streamLane());
    kernels.graph.push(graphNumber(numbers[Arg.graph]));
    kernels.name.push(name);
    kernels.shortName.push(this.shortName(name));
    kernels.gridX.push(wholeOrNone(numbers[Arg.gridX]));
    kernels.gridY.push(wholeOrNone(numbers[Arg.gridY]));
    kernels.gridZ.push(wholeOrNone(numbers[Arg.gridZ]));
    kernels.blockX.push(wholeOrNone(numbers[Arg.blockX]));
    kernels.blockY.push(wholeOrNone(numbers[Arg.blockY]));
    kernels.blockZ.push(wholeOrNone(numbers[Arg.blockZ]));
    kernels.registersPerThread.push(wholeOrNone(numbers[Arg.registers]));
    // Kineto gives static and dynamic together.
    kernels.dynamicSharedBytes.push(wholeOrNone(numbers[Arg.sharedMemory]));
    kernels.occupancyPercent.push(numbers[Arg.occupancy]);
    kernels.message.push(this.message());
    return model;
  }

  addCopy(start: number, end: number): void {
    const { numbers } = this.event;
    const { copies } = this.rows;
    const { kind, sourceMemory, targetMemory } = this.copyName();
    copies.start.push(start);
    copies.end.push(end);
    copies.stream.push(this.streamLane());
    copies.correlation.push(correlationOf(numbers));
    copies.graphNode.push(graphNumber(numbers[Arg.graphNode]));
    copies.graph.push(graphNumber(numbers[Arg.graph]));
    copies.bytes.push(numbers[Arg.bytes]);
    copies.kind.push(kind);
    copies.sourceMemory.push(sourceMemory);
    copies.targetMemory.push(targetMemory);
  }

  addMemset(start: number, end: number): void {
    const { numbers } = this.event;
    const { memsets } = this.rows;
    memsets.start.push(start);
    memsets.end.push(end);
    memsets.stream.push(this.streamLane());
    memsets.correlation.push(correlationOf(numbers));
    memsets.graphNode.push(graphNumber(numbers[Arg.graphNode]));
    memsets.graph.push(graphNumber(numbers[Arg.graph]));
    memsets.bytes.push(numbers[Arg.bytes]);
    memsets.memory.push(parseMemsetName(this.nameText()));
  }

  addSync(start: number, end: number): void {
    const { numbers } = this.event;
    const { syncs } = this.rows;
    const stream = numbers[Arg.stream];
    syncs.start.push(start);
    syncs.end.push(end);
    syncs.stream.push(stream >= 0 && stream < NO_STREAM ? this.streamLane() : NONE);
    syncs.correlation.push(correlationOf(numbers));
    syncs.kind.push(syncKinds[this.nameText().toLowerCase()] ?? 0);
    syncs.event.push(wholeOrNone(numbers[Arg.waitedEvent]));
  }

  /** These name only a place; which stream that is follows from the kernels there. */
  addAnnotation(start: number, end: number): void {
    const { ranges } = this.rows;
    ranges.start.push(start);
    ranges.end.push(end);
    ranges.thread.push(NONE);
    ranges.name.push(this.texts.name(this.event.name));
    ranges.kind.push(RangeKind.gpuAnnotation);
    ranges.domain.push(NONE);
    ranges.stream.push(this.lanes.place(this.event.pid, this.event.tid));
  }

  /** Only collectives have one, and they repeat: few texts are made and fewer kept. */
  private message(): number {
    const { collective, elementType, groupName, groupRanks, numbers } = this.event;
    if (collective.to === 0) return NONE;
    const text = (mark: TextMark) => this.strings.text(this.texts.name(mark));
    return this.strings.intern(
      messageText({
        collective: text(collective),
        inElements: numbers[Arg.inElements],
        outElements: numbers[Arg.outElements],
        elementType: text(elementType),
        groupSize: numbers[Arg.groupSize],
        group: text(groupName),
        ranks: text(groupRanks),
        ...peersOf(numbers[Arg.sourceRank], numbers[Arg.destinationRank]),
      }),
    );
  }

  private streamLane(): number {
    const { pid, tid, numbers } = this.event;
    return this.lanes.stream(pid, tid, numbers[Arg.device], numbers[Arg.context], numbers[Arg.stream]);
  }

  private shortName(name: number): number {
    let short: number | undefined = this.shortNames[name];
    if (short === undefined) {
      short = this.strings.intern(shortKernelName(this.strings.text(name)));
      this.shortNames[name] = short;
    }
    return short;
  }

  private copyName(): CopyName {
    const name = this.texts.name(this.event.name);
    let parsed = this.copyNames.get(name);
    if (!parsed) {
      parsed = parseCopyName(this.strings.text(name), '');
      this.copyNames.set(name, parsed);
    }
    const { kind } = this.event;
    if (parsed.kind !== 0 || kind.to === 0) return parsed;
    // A name that does not tell the kind leaves it to each event's argument.
    return parseCopyName(this.strings.text(name), this.strings.text(this.texts.name(kind)));
  }

  private nameText(): string {
    return this.strings.text(this.texts.name(this.event.name));
  }
}

/** Who sends to whom. torch writes the other side only, and -1 or nothing for all other collectives. */
const peersOf = (source: number, destination: number) => ({
  ...(source >= 0 ? { source } : {}),
  ...(destination >= 0 ? { destination } : {}),
});
