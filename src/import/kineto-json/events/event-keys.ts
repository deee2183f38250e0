/**
 * The arguments of a trace event that mean something to us, as the writers spelled them over the years.
 * Sources: libkineto's output_json.cpp, torch/csrc/profiler/kineto_shim.cpp, ROCm's RoctracerActivity.
 */
import { KeyTable } from '../../../base/json/key-table.js';

/** Arguments that are numbers. The value is the argument's place in EventReader.numbers. */
export const Arg = {
  device: 0,
  context: 1,
  stream: 2,
  correlation: 3,
  externalId: 4,
  bytes: 5,
  registers: 6,
  sharedMemory: 7,
  occupancy: 8,
  graphNode: 9,
  graph: 10,
  pythonId: 11,
  pythonParentId: 12,
  deviceType: 13,
  deviceId: 14,
  address: 15,
  totalAllocated: 16,
  totalReserved: 17,
  waitedEvent: 18,
  // The three numbers of a grid or block follow one another.
  gridX: 19,
  gridY: 20,
  gridZ: 21,
  blockX: 22,
  blockY: 23,
  blockZ: 24,
  // Of collectives (torch/csrc/distributed/c10d/ParamCommsUtils.cpp).
  inElements: 25,
  outElements: 26,
  groupSize: 27,
  messageNumber: 28,
} as const;
export const ARG_COUNT = 29;

/** Arguments that are text or nested, numbered after the numbers. */
export const TextArg = {
  name: 32,
  kind: 33,
  labels: 34,
  shapes: 35,
  types: 36,
  stack: 37,
  grid: 38,
  block: 39,
  collective: 40,
  elementType: 41,
  groupName: 42,
  groupRanks: 43,
} as const;

export const argumentKeys = new KeyTable([
  ['device', Arg.device],
  ['context', Arg.context],
  ['stream', Arg.stream],
  ['correlation', Arg.correlation],
  ['External id', Arg.externalId],
  ['external id', Arg.externalId],
  ['bytes', Arg.bytes],
  ['Bytes', Arg.bytes],
  ['registers per thread', Arg.registers],
  ['shared memory', Arg.sharedMemory],
  ['est. achieved occupancy %', Arg.occupancy],
  ['graph node id', Arg.graphNode],
  ['graph id', Arg.graph],
  ['Python id', Arg.pythonId],
  ['Python parent id', Arg.pythonParentId],
  ['Device Type', Arg.deviceType],
  ['Device Id', Arg.deviceId],
  ['Addr', Arg.address],
  ['Total Allocated', Arg.totalAllocated],
  ['Total Reserved', Arg.totalReserved],
  ['wait_on_cuda_event_id', Arg.waitedEvent],
  ['In msg nelems', Arg.inElements],
  ['Out msg nelems', Arg.outElements],
  ['Group size', Arg.groupSize],
  ['Seq', Arg.messageNumber],
  ['Collective name', TextArg.collective],
  ['dtype', TextArg.elementType],
  ['Process Group Name', TextArg.groupName],
  ['Process Group Ranks', TextArg.groupRanks],
  ['name', TextArg.name],
  ['kind', TextArg.kind],
  ['cuda_sync_kind', TextArg.kind],
  ['labels', TextArg.labels],
  ['Input Dims', TextArg.shapes],
  ['Input type', TextArg.types],
  ['Call stack', TextArg.stack],
  ['grid', TextArg.grid],
  ['block', TextArg.block],
]);
