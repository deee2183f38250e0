/** Rows of what threads did: ops, API calls, annotations, allocations. `lane` is where; it becomes a thread at the end. */
import { NONE } from '../../../base/column.js';
import { RangeKind } from '../../../model/schema.js';
import { correlationOf, linkedExternalId, wholeOrNone } from './event-arguments.js';
import { Arg } from './event-keys.js';
import type { EventReader } from './event-reader.js';
import type { TextStore } from './text-store.js';
import type { TraceRows } from './trace-rows.js';

export class CpuEvents {
  constructor(
    private readonly event: EventReader,
    private readonly texts: TextStore,
    private readonly rows: TraceRows,
  ) {}

  addOp(start: number, end: number, lane: number, kind: number): void {
    const { numbers, name, shapes, types, strides, values, stack } = this.event;
    const { ops } = this.rows;
    ops.start.push(start);
    ops.end.push(end);
    ops.thread.push(lane);
    ops.name.push(this.texts.name(name));
    ops.kind.push(kind);
    ops.shapes.push(this.texts.value(shapes));
    ops.types.push(this.texts.value(types));
    ops.strides.push(this.texts.value(strides));
    ops.values.push(this.texts.value(values));
    ops.stack.push(this.texts.detail(stack));
    ops.externalId.push(numbers[Arg.externalId]);
  }

  addFrame(start: number, end: number, lane: number): void {
    const { numbers, name } = this.event;
    const { frames } = this.rows;
    frames.start.push(start);
    frames.end.push(end);
    frames.thread.push(lane);
    frames.name.push(this.texts.name(name));
    frames.pythonId.push(numbers[Arg.pythonId]);
    frames.pythonParentId.push(numbers[Arg.pythonParentId]);
  }

  /** `apiClass` as nsys numbers them: 0 runtime, 1 driver. */
  addCall(start: number, end: number, lane: number, apiClass: number): void {
    const { apiCalls, callExternalIds } = this.rows;
    apiCalls.start.push(start);
    apiCalls.end.push(end);
    apiCalls.thread.push(lane);
    apiCalls.correlation.push(correlationOf(this.event.numbers));
    apiCalls.name.push(this.texts.name(this.event.name));
    apiCalls.class.push(apiClass);
    callExternalIds.push(linkedExternalId(this.event.numbers));
  }

  addRange(start: number, end: number, lane: number, name: number, kind: number = RangeKind.pushPop): void {
    const { ranges } = this.rows;
    ranges.start.push(start);
    ranges.end.push(end);
    ranges.thread.push(lane);
    ranges.name.push(name);
    ranges.kind.push(kind);
    ranges.domain.push(NONE);
    ranges.stream.push(NONE);
  }

  addOverhead(start: number, end: number, lane: number): void {
    const { overheads } = this.rows;
    overheads.start.push(start);
    overheads.end.push(end);
    overheads.thread.push(lane);
    overheads.name.push(this.texts.name(this.event.name));
  }

  /** An end of an arrow. Which of thread and stream its place is, is known at the end. */
  addFlow(start: number, lane: number, phase: number): void {
    const { flows } = this.rows;
    flows.start.push(start);
    flows.thread.push(lane);
    flows.id.push(this.event.id);
    flows.category.push(this.texts.name(this.event.category));
    flows.phase.push(phase);
  }

  addMemory(start: number, lane: number): void {
    const { numbers } = this.event;
    const { memoryEvents } = this.rows;
    // c10::DeviceType: 0 is the CPU.
    const onCpu = numbers[Arg.deviceType] === 0;
    memoryEvents.start.push(start);
    memoryEvents.process.push(lane);
    memoryEvents.gpu.push(onCpu ? NONE : wholeOrNone(numbers[Arg.deviceId]));
    memoryEvents.bytes.push(numbers[Arg.bytes]);
    memoryEvents.address.push(numbers[Arg.address]);
    memoryEvents.memory.push(onCpu ? 0 : 2);
    memoryEvents.totalAllocatedBytes.push(numbers[Arg.totalAllocated]);
    memoryEvents.totalReservedBytes.push(numbers[Arg.totalReserved]);
  }
}
