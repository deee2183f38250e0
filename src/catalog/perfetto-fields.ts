/**
 * Field numbers of Perfetto traces, as far as we write or read them.
 * Source: protos/perfetto/trace/*.proto of https://github.com/google/perfetto (checked against perfetto 0.59.1 of PyPI).
 */

export const TRACE_PACKET = 1;

export const PacketField = {
  clockSnapshot: 6,
  timestamp: 8,
  sequence: 10,
  trackEvent: 11,
  internedData: 12,
  sequenceFlags: 13,
  stateCleared: 41,
  dropped: 42,
  compressed: 50,
  gpuCounter: 52,
  gpuStage: 53,
  clock: 58,
  defaults: 59,
  trackDescriptor: 60,
  zstdCompressed: 133,
} as const;

export const SequenceFlag = { cleared: 1, needed: 2 } as const;

export const EventField = {
  category: 3,
  annotation: 4,
  legacy: 6,
  type: 9,
  name: 10,
  track: 11,
  categoryText: 22,
  nameText: 23,
  counter: 30,
  doubleCounter: 44,
  flow: 47,
} as const;

export const EventType = { begin: 1, end: 2, instant: 3, counter: 4 } as const;

export const AnnotationField = {
  name: 1,
  bool: 2,
  uint: 3,
  int: 4,
  double: 5,
  text: 6,
  pointer: 7,
  json: 9,
  nameText: 10,
  entry: 11,
  item: 12,
  textInterned: 17,
} as const;

export const TrackField = {
  uuid: 1,
  name: 2,
  process: 3,
  thread: 4,
  parent: 5,
  counter: 8,
  staticName: 10,
  childOrder: 11,
  rank: 12,
  atraceName: 13,
} as const;

/** Values of TrackField.childOrder. */
export const EXPLICIT_ORDER = 3;

export const ProcessField = { pid: 1, name: 6, label: 8 } as const;
export const ThreadField = { pid: 1, tid: 2, name: 5 } as const;
export const CounterField = { unit: 3, unitName: 6 } as const;
export const UNIT_BYTES = 3;
export const ClocksField = { clock: 1, id: 1, timestamp: 2, incremental: 3, unitNs: 4 } as const;
export const ClockId = { realtime: 1, boottime: 6 } as const;
/** Clocks from here to 127 belong to one sequence and may count from the last packet. */
export const FIRST_OWN_CLOCK = 64;
export const DefaultsField = { trackEvent: 11, clock: 58, track: 11 } as const;

/** Texts by number: the field of each list, and the two fields of its entries. */
export const InternedField = {
  categories: 1,
  names: 2,
  annotationNames: 3,
  gpuContexts: 23,
  gpuSpecifications: 24,
  annotationTexts: 29,
  computeKernels: 1000,
  computeArguments: 1001,
} as const;
export const EntryField = { id: 1, text: 2, pid: 2, demangled: 3 } as const;

/** Work on a GPU as the profiler of PyTorch's newest builds writes it (torch/csrc/profiler/cuspy/cuspy_pftrace.cpp). */
export const GpuStageField = {
  duration: 2,
  extra: 6,
  gpu: 11,
  queue: 13,
  stage: 14,
  nameText: 17,
  kernel: 19,
  name: 20,
  launch: 21,
} as const;
export const ExtraField = { name: 1, value: 2 } as const;
export const LaunchField = { grid: 1, block: 2, argument: 3, argumentName: 1, uint: 4 } as const;
