/**
 * The tables of a Profile, column by column. This is the format documentation: types, validation, merging and
 * serializing all follow from it.
 *
 * Times are nanoseconds relative to Profile.originNs. Tables are sorted by `start`. A column marked optional is
 * absent when the capture did not record it. A table without `start` belongs to no time: a window of the profile keeps
 * it whole. Inside a present column a missing number is NaN (f64), NONE (i32) or
 * 0 (u32, u8 where said so).
 */
import type { Storage } from '../base/column.js';

export type EntityName = 'gpus' | 'processes' | 'threads' | 'streams' | 'metrics';

export interface ColumnSpec {
  readonly storage: Storage;
  /** The column holds row numbers of this table or entity list, or NONE. */
  readonly ref?: string;
  /** The column holds ids of Profile.strings, or NONE. */
  readonly text?: true;
  readonly optional?: true;
}

const nanoseconds = { storage: 'f64' } as const;
const amount = { storage: 'f64', optional: true } as const;
const whole = { storage: 'i32', optional: true } as const;
const code = { storage: 'i32' } as const;
const text = { storage: 'i32', text: true } as const;
const maybeText = { storage: 'i32', text: true, optional: true } as const;
/** CUPTI's correlation id: one launch call and all GPU work it caused share it. 0 means none. */
const correlation = { storage: 'u32' } as const;
const ref = <Target extends string>(target: Target) => ({ storage: 'i32', ref: target }) as const;
const maybeRef = <Target extends string>(target: Target) =>
  ({ storage: 'i32', ref: target, optional: true }) as const;

/** What every piece of GPU work has. `launch` is the API call that caused it, found through the correlation id. */
const gpuWork = {
  start: nanoseconds,
  end: nanoseconds,
  stream: ref('streams'),
  correlation,
  launch: ref('apiCalls'),
} as const;

/** CUDA-graph membership: the node's id inside its graph, when nodes were traced one by one. NaN outside graphs. */
const graphMember = { graphNode: amount, graph: amount } as const;

const schema = {
  /**
   * Call stacks, shared by all events that have one. A row is a function as called by its parent, so a whole stack is
   * one number: the row of its innermost function. Parents come before their children.
   */
  stackFrames: {
    /** The caller; NONE for the outermost. */
    parent: ref('stackFrames'),
    /** NONE where the profiler could not name the function; neighbours of that kind in one module are one row. */
    name: text,
    /** The library, or the file of Python code. */
    module: text,
    /** See FrameKind. */
    kind: { storage: 'u8' },
    /** In the file; NONE for native code. */
    line: whole,
  },
  kernels: {
    ...gpuWork,
    ...graphMember,
    /** Full demangled name, base name without template arguments, and the raw symbol. */
    name: text,
    shortName: maybeText,
    mangledName: maybeText,
    gridX: whole,
    gridY: whole,
    gridZ: whole,
    blockX: whole,
    blockY: whole,
    blockZ: whole,
    clusterX: whole,
    clusterY: whole,
    clusterZ: whole,
    registersPerThread: whole,
    staticSharedBytes: whole,
    dynamicSharedBytes: whole,
    localBytesPerThread: whole,
    /** CUPTI launch type: 0 unset, 1 regular, 2 cooperative single device, 3 cooperative multi device. */
    launchType: whole,
    /** PyTorch's estimate of achieved occupancy, percent. */
    occupancyPercent: amount,
    /** The framework op that launched it, where the profiler links them. */
    op: maybeRef('ops'),
    /** What a collective moves and among whom, where the profiler states it: JSON text, see catalog/messages.ts. */
    message: maybeText,
    /** Which collective of its group it is, counted by the framework. */
    messageNumber: amount,
  },
  copies: {
    ...gpuWork,
    ...graphMember,
    bytes: { storage: 'f64' },
    /** CUPTI memcpy kind: 1 host to device, 2 device to host, 8 device to device, 10 peer to peer … */
    kind: code,
    /** CUPTI memory kind: 0 pageable, 1 pinned, 2 device, 3 array, 4 managed. */
    sourceMemory: whole,
    targetMemory: whole,
    sourceDevice: whole,
    /** Of the page, where unified memory moved it. */
    address: amount,
    targetDevice: whole,
  },
  memsets: {
    ...gpuWork,
    ...graphMember,
    bytes: { storage: 'f64' },
    value: amount,
    memory: whole,
  },
  /** Whole CUDA-graph replays recorded as one block: the kernels inside were not recorded. */
  graphLaunches: {
    ...gpuWork,
    graph: amount,
    graphExec: amount,
  },
  /** Creation of graph nodes (while a graph is captured or instantiated). Links a node to the one it was cloned from. */
  graphNodes: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    node: { storage: 'f64' },
    originalNode: amount,
    graph: amount,
  },
  /** Life of whole graphs: captured, cloned, instantiated. Says which graph an executable one was made from. */
  graphEvents: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    name: text,
    graph: amount,
    originalGraph: amount,
    graphExec: amount,
  },
  /**
   * Parts of the model inside captured graphs, as our agent counted them: nodes keep their numbers in every copy and
   * replay. A part that lies inside another comes after it.
   */
  graphParts: {
    /** When the graph was captured. */
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    name: text,
    /** Tells the captured graphs of a process apart. */
    captured: code,
    firstNode: code,
    endNode: code,
    firstKernel: code,
    endKernel: code,
    /** Of the whole graph. */
    nodes: code,
    kernels: code,
    /** 1: the nodes run one after another, in the order of their numbers. */
    isChain: { storage: 'u8' },
  },
  /** CUDA runtime and driver calls (and HIP's). */
  apiCalls: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    correlation,
    name: text,
    result: whole,
    /** nsys event class: 0 runtime, 1 driver, others as CUPTI numbers them. */
    class: whole,
    /** The framework op that made the call, where the profiler links them. */
    op: maybeRef('ops'),
    /** Who called it, native (--cudabacktrace) and in Python (--python-backtrace). */
    stack: maybeRef('stackFrames'),
    pythonStack: maybeRef('stackFrames'),
  },
  /** Waits as the driver saw them: which stream or event was waited for. */
  syncs: {
    start: nanoseconds,
    end: nanoseconds,
    stream: ref('streams'),
    correlation,
    launch: ref('apiCalls'),
    /** CUPTI: 1 event, 2 stream wait event, 3 stream, 4 context. */
    kind: code,
    event: whole,
  },
  /** NVTX ranges and marks, cuBLAS/cuDNN ranges, GIL ranges, Kineto annotations. `end` is NaN while open. */
  ranges: {
    start: nanoseconds,
    end: nanoseconds,
    /** NONE for annotations that live on a GPU stream. */
    thread: ref('threads'),
    name: text,
    /** 0 push/pop, 1 start/end, 2 mark, 3 annotation drawn on the GPU by the profiler, 4 call of a library. See RangeKind. */
    kind: { storage: 'u8' },
    /** Name of the NVTX domain; NONE for the default domain. */
    domain: text,
    /** Where a start/end range was ended by another thread. */
    endThread: maybeRef('threads'),
    stream: maybeRef('streams'),
    category: whole,
    categoryName: maybeText,
    /** ARGB. */
    color: { storage: 'u32', optional: true },
    payload: amount,
    payloadText: maybeText,
    /** The row's id in the file it came from, so that reports can be checked against other tools. */
    sourceRow: amount,
  },
  /** Framework ops (Kineto cpu_op and what it does not name). */
  ops: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    name: text,
    /** See OpKind. */
    kind: { storage: 'u8' },
    /** Input shapes and types as the profiler wrote them (JSON text). */
    shapes: maybeText,
    types: maybeText,
    /** Strides of tensors, and values of what is no tensor, the same way; read only where they are asked for by name. */
    strides: maybeText,
    values: maybeText,
    stack: maybeText,
    externalId: amount,
  },
  /** Python functions and modules on the stack (Kineto python_function). */
  frames: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    name: text,
    pythonId: amount,
    pythonParentId: amount,
  },
  osCalls: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    name: text,
    result: whole,
    class: whole,
    /** Who called it; recorded for calls that took long. */
    stack: maybeRef('stackFrames'),
  },
  /** What a thread was executing at moments the profiler chose. */
  hostSamples: {
    start: nanoseconds,
    thread: ref('threads'),
    /** NONE where the profiler could not walk the stack. */
    stack: ref('stackFrames'),
    /** See SampleSource. */
    source: { storage: 'u8' },
    cpu: whole,
    /** See ThreadState. */
    state: whole,
    /** Events of the sampling counter since the last sample of the thread; 1 where samples are taken by time. */
    weight: amount,
  },
  /** Threads getting and losing a CPU. */
  contextSwitches: {
    start: nanoseconds,
    thread: ref('threads'),
    cpu: code,
    /** 1: the thread runs on this CPU from here on; 0: it no longer does. */
    isIn: { storage: 'u8' },
    /** Why it stopped, see ThreadState; 0 (unknown) where the kernel's reason was not recorded. */
    state: whole,
  },
  /** Calls and ranges of other interfaces: OpenMP, OpenACC, MPI, Vulkan, Direct3D, OpenGL. */
  otherEvents: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    /** NONE where the event only ends what another began. */
    name: text,
    /** The table of the export it comes from, which says what it is. */
    source: text,
    class: whole,
    id: amount,
    context: whole,
    correlation: { storage: 'u32', optional: true },
    file: maybeText,
    line: whole,
  },
  /** Pages of unified memory that were touched where they were not. */
  pageFaults: {
    start: nanoseconds,
    process: ref('processes'),
    address: { storage: 'f64' },
    /** 0 on the CPU, 1 on the GPU. */
    side: { storage: 'u8' },
    /** Faults of this page in one event. */
    faults: { storage: 'f64' },
    /** The instruction on the CPU. */
    name: maybeText,
  },
  /** Allocations and frees of GPU memory, and allocator totals where the profiler gives them. */
  memoryEvents: {
    start: nanoseconds,
    process: ref('processes'),
    gpu: ref('gpus'),
    /** Signed: a free is negative. */
    bytes: { storage: 'f64' },
    address: amount,
    memory: whole,
    name: maybeText,
    correlation: { storage: 'u32', optional: true },
    totalAllocatedBytes: amount,
    totalReservedBytes: amount,
  },
  /** Hardware counters sampled over time; the names are in Profile.metrics. */
  metricSamples: {
    start: nanoseconds,
    gpu: ref('gpus'),
    metric: ref('metrics'),
    value: { storage: 'f64' },
  },
  /** Time the profiler itself took. */
  overheads: {
    start: nanoseconds,
    end: nanoseconds,
    thread: ref('threads'),
    name: text,
  },
  /** What the profiler said about its own run. */
  diagnostics: {
    start: nanoseconds,
    /** nsys severity levels: 1 info, 2 warning, 3 error, 4 verbose. */
    severity: code,
    text,
  },
  /**
   * Steps of the same run, or of a second run of its command, that no profiler recorded, so that their time is
   * undisturbed: noted by our agent, or printed by the engine.
   */
  quietSteps: {
    /** NONE for those an engine printed, and for those of a second run. */
    process: ref('processes'),
    /** See QuietSource. */
    source: { storage: 'u8' },
    /** NaN where the line is a mean of many steps. */
    iteration: { storage: 'f64' },
    /** A phase of catalog/phases.ts. */
    phase: text,
    /** NaN where not said. */
    contextRequests: { storage: 'f64' },
    contextTokens: { storage: 'f64' },
    generationRequests: { storage: 'f64' },
    generationTokens: { storage: 'f64' },
    /** From the start of this step to the start of the next. */
    periodNs: { storage: 'f64' },
    /** Time on the GPU, as the engine measured it. */
    deviceNs: amount,
    /** Wall clock when it started, since 1970 and to 0.3 µs; NaN where only the engine's log has it. */
    utcNs: amount,
  },
  /** Arrows between events: Kineto's launch and forward/backward flows. `id` ties the two ends. */
  flows: {
    start: nanoseconds,
    thread: ref('threads'),
    stream: ref('streams'),
    id: { storage: 'f64' },
    category: text,
    /** 0 start, 1 step, 2 finish. */
    phase: { storage: 'u8' },
  },
} as const satisfies Record<string, Record<string, ColumnSpec>>;

export type Schema = typeof schema;
export type TableName = keyof Schema;
export const tableNames = Object.keys(schema) as TableName[];

export const RangeKind = { pushPop: 0, startEnd: 1, mark: 2, gpuAnnotation: 3, libraryCall: 4 } as const;
/** `unresolved`: the module is known, the function is not. `artificial`: words of the profiler, not a function. */
export const FrameKind = { native: 0, kernelMode: 1, unresolved: 2, artificial: 3, python: 4 } as const;
export const SampleSource = { cpu: 0, python: 1 } as const;
/** As nsys numbers them (ENUM_SAMPLING_THREAD_STATE). */
export const ThreadState = {
  ...{ unknown: 0, running: 1, interruptible: 2, uninterruptible: 3, stopped: 4, terminated: 5 },
  ...{ unscheduled: 6, waiting: 7, osRuntime: 8, initialized: 9, transition: 10 },
} as const;
export const FaultSide = { cpu: 0, gpu: 1 } as const;
/**
 * `serverLog`: the mean of the steps between two lines, computed from throughput and batch. `calibration`: the same
 * steps in a second run of the command, without a profiler.
 */
export const QuietSource = {
  ...{ beforeWindow: 0, afterWindow: 1, iterationLog: 2, serverLog: 3, calibration: 4 },
} as const;
export const OpKind = { framework: 0, other: 1 } as const;

export function columnsOf(table: TableName): [name: string, spec: ColumnSpec][] {
  return Object.entries(schema[table] as Record<string, ColumnSpec>);
}
