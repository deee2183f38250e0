/**
 * Which SQLite table and column each part of the model comes from. Tables and columns come and go between schema
 * versions (none, 2.9, 3.0 … 3.25); whatever is missing is simply not recorded.
 */
import { FaultSide, RangeKind, SampleSource, type TableName } from '../../model/schema.js';

/** Whose row it is: GPU work belongs to a stream, host events to a thread, allocations to a process. */
type Owner = 'stream' | 'thread' | 'process' | 'none';

export interface TableSource {
  readonly table: string;
  readonly owner: Owner;
  /** Model column from file column, both numbers. */
  readonly numbers: Readonly<Record<string, string>>;
  /** Model column from file column that holds an id of StringIds. */
  readonly names?: Readonly<Record<string, string>>;
  /** Model column from file column that holds text itself. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Model column from file column that holds the id of a call stack. */
  readonly stacks?: Readonly<Record<string, string>>;
  /** Model columns that are the same for all rows: a number, or a text for text columns. */
  readonly constants?: Readonly<Record<string, number | string>>;
}

const span = { start: 'start', end: 'end' };
const gpuWork = { ...span, correlation: 'correlationId' };
const graphMember = { graphNode: 'graphNodeId', graph: 'graphId' };

/** Calls of NVIDIA's libraries: ranges beside those of NVTX, told apart by their kind. */
function libraryCalls(table: string, domain: string): TableSource {
  const constants = { kind: RangeKind.libraryCall, domain };
  return { table, owner: 'thread', numbers: span, names: { name: 'nameId' }, constants };
}

/** Tables read as they stand. NVTX, memory usage and metrics need a hand of their own (see their files). */
const plainSources: Partial<Record<TableName, TableSource | readonly TableSource[]>> = {
  kernels: {
    table: 'CUPTI_ACTIVITY_KIND_KERNEL',
    owner: 'stream',
    numbers: {
      ...gpuWork,
      ...graphMember,
      gridX: 'gridX',
      gridY: 'gridY',
      gridZ: 'gridZ',
      blockX: 'blockX',
      blockY: 'blockY',
      blockZ: 'blockZ',
      clusterX: 'clusterX',
      clusterY: 'clusterY',
      clusterZ: 'clusterZ',
      registersPerThread: 'registersPerThread',
      staticSharedBytes: 'staticSharedMemory',
      dynamicSharedBytes: 'dynamicSharedMemory',
      localBytesPerThread: 'localMemoryPerThread',
      launchType: 'launchType',
    },
    names: { name: 'demangledName', shortName: 'shortName', mangledName: 'mangledName' },
  },
  copies: {
    table: 'CUPTI_ACTIVITY_KIND_MEMCPY',
    owner: 'stream',
    numbers: {
      ...gpuWork,
      ...graphMember,
      bytes: 'bytes',
      kind: 'copyKind',
      sourceMemory: 'srcKind',
      targetMemory: 'dstKind',
      sourceDevice: 'srcDeviceId',
      targetDevice: 'dstDeviceId',
      address: 'virtualAddress',
    },
  },
  memsets: {
    table: 'CUPTI_ACTIVITY_KIND_MEMSET',
    owner: 'stream',
    numbers: { ...gpuWork, ...graphMember, bytes: 'bytes', value: 'value', memory: 'memKind' },
  },
  graphLaunches: {
    table: 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE',
    owner: 'stream',
    numbers: { ...gpuWork, graph: 'graphId', graphExec: 'graphExecId' },
  },
  graphNodes: {
    table: 'CUDA_GRAPH_NODE_EVENTS',
    owner: 'thread',
    numbers: { ...span, node: 'graphNodeId', originalNode: 'originalGraphNodeId', graph: 'graphId' },
  },
  graphEvents: {
    table: 'CUDA_GRAPH_EVENTS',
    owner: 'thread',
    numbers: { ...span, graph: 'graphId', originalGraph: 'originalGraphId', graphExec: 'graphExecId' },
    names: { name: 'nameId' },
  },
  apiCalls: {
    table: 'CUPTI_ACTIVITY_KIND_RUNTIME',
    owner: 'thread',
    numbers: { ...gpuWork, result: 'returnValue', class: 'eventClass' },
    names: { name: 'nameId' },
    stacks: { stack: 'callchainId' },
  },
  syncs: {
    table: 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION',
    owner: 'stream',
    numbers: { ...gpuWork, kind: 'syncType', event: 'eventId' },
  },
  ranges: [libraryCalls('CUBLAS_EVENTS', 'cuBLAS'), libraryCalls('CUDNN_EVENTS', 'cuDNN')],
  osCalls: {
    table: 'OSRT_API',
    owner: 'thread',
    numbers: { ...span, result: 'returnValue', class: 'eventClass' },
    names: { name: 'nameId' },
    stacks: { stack: 'callchainId' },
  },
  hostSamples: {
    table: 'COMPOSITE_EVENTS',
    owner: 'thread',
    numbers: { start: 'start', cpu: 'cpu', state: 'threadState', weight: 'cpuCycles' },
    stacks: { stack: 'id' },
    constants: { source: SampleSource.cpu },
  },
  contextSwitches: {
    table: 'SCHED_EVENTS',
    owner: 'thread',
    numbers: { start: 'start', cpu: 'cpu', isIn: 'isSchedIn', state: 'threadState' },
  },
  overheads: [
    { table: 'PROFILER_OVERHEAD', owner: 'thread', numbers: span, names: { name: 'nameId' } },
    // CUPTI's own share (buffer flushes, lazy loading …), which newer releases write apart.
    { table: 'CUPTI_ACTIVITY_KIND_OVERHEAD', owner: 'thread', numbers: span, names: { name: 'nameId' } },
  ],
  pageFaults: [
    {
      table: 'CUDA_UM_CPU_PAGE_FAULT_EVENTS',
      owner: 'process',
      numbers: { start: 'start', address: 'address' },
      names: { name: 'CpuInstruction' },
      constants: { side: FaultSide.cpu, faults: 1 },
    },
    {
      table: 'CUDA_UM_GPU_PAGE_FAULT_EVENTS',
      owner: 'process',
      numbers: { start: 'start', address: 'address', faults: 'numberOfPageFaults' },
      constants: { side: FaultSide.gpu },
    },
  ],
  diagnostics: {
    table: 'DIAGNOSTIC_EVENT',
    owner: 'none',
    numbers: { start: 'timestamp', severity: 'severity' },
    texts: { text: 'text' },
  },
};

/** Tables of events whose number of kinds grows with the releases: found by how they are called. */
const otherEventTables =
  /^(?:OPENMP_EVENT_KIND_\w+|CUPTI_ACTIVITY_KIND_OPENACC_\w+|MPI_(?:P2P|START_WAIT|OTHER|COLLECTIVES)_EVENTS|VULKAN_(?:API|DEBUG_API|WORKLOAD)|D3D1[12]_PIX_DEBUG_API|DX12_WORKLOAD|KHR_DEBUG_EVENTS)$/;
/** Those whose names are called texts. */
const named = /^(?:OPENMP|CUPTI|VULKAN_API)/;

export const sourcesOf = (model: TableName, tables: Iterable<string>): readonly TableSource[] =>
  model === 'otherEvents'
    ? [...tables].filter(table => otherEventTables.test(table)).map(otherEventsIn)
    : [plainSources[model] ?? []].flat();

function otherEventsIn(table: string): TableSource {
  return {
    table,
    owner: 'thread',
    numbers: {
      ...span,
      class: 'eventClass',
      id: 'id',
      context: 'contextId',
      correlation: 'correlationId',
      line: 'lineNo',
    },
    names: { name: named.test(table) ? 'nameId' : 'textId', file: 'srcFile' },
    constants: { source: table },
  };
}

/** The file's own tables that make it an nsys export: at least one is always there. */
export const signatureTables = [
  'StringIds',
  'META_DATA_EXPORT',
  'EXPORT_META_DATA',
  'ANALYSIS_DETAILS',
  'TARGET_INFO_SYSTEM_ENV',
  'TARGET_INFO_SESSION_START_TIME',
  'CUPTI_ACTIVITY_KIND_KERNEL',
  'CUPTI_ACTIVITY_KIND_RUNTIME',
  'NVTX_EVENTS',
];
