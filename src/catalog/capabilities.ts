/**
 * What a capture can answer. Derived from the tables alone, so "not recorded" is never mistaken for zero, and each
 * gap comes with the flag that would have closed it.
 */
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';

interface Capability {
  readonly table: TableName;
  readonly label: string;
  readonly rows: number;
  readonly recorded: boolean;
  /** Nothing is left of it because the file is damaged. */
  readonly damaged: boolean;
  /** The profiler records it along with what is there, so that nothing of the kind happened. */
  readonly none: boolean;
  /** How to record it next time, for the profiler this file came from: a phrase to follow "not recorded:". */
  readonly hint: string;
}

const cudaActivity = 'capture with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]';
const byItself = 'recorded automatically';
const notByTorch = (instead: string) => `the PyTorch profiler cannot; use nsys ${instead}`;

const what: Record<TableName, { label: string; nsys: string; kineto: string }> = {
  kernels: { label: 'GPU kernels', nsys: 'capture with -t cuda', kineto: cudaActivity },
  copies: { label: 'memory copies', nsys: 'capture with -t cuda', kineto: cudaActivity },
  memsets: { label: 'memory sets', nsys: 'capture with -t cuda', kineto: cudaActivity },
  graphLaunches: {
    label: 'CUDA graph replays as blocks',
    nsys: 'capture with --cuda-graph-trace=graph',
    kineto: notByTorch('--cuda-graph-trace=graph'),
  },
  graphNodes: {
    label: 'CUDA graph node creation',
    nsys: 'capture with --cuda-graph-trace=node',
    kineto: notByTorch('--cuda-graph-trace=node'),
  },
  graphEvents: {
    label: 'CUDA graph creation',
    nsys: 'capture with -t cuda (2024 and newer)',
    kineto: notByTorch('-t cuda'),
  },
  graphParts: {
    label: 'layers inside CUDA graphs',
    nsys: 'capture with --agent and STEPSCOPE_MARKERS=step,layers, and also give its file',
    kineto: 'capture with the agent and STEPSCOPE_MARKERS=step,layers, and also give its file',
  },
  quietSteps: {
    label: 'steps without a profiler',
    nsys: "capture with --agent and --iterations, or also give the engine's log",
    kineto: "capture with the agent and STEPSCOPE_PROFILE_START_STOP, or also give the engine's log",
  },
  apiCalls: { label: 'CUDA API calls', nsys: 'capture with -t cuda', kineto: cudaActivity },
  syncs: {
    label: 'synchronizations',
    nsys: 'capture with -t cuda',
    kineto: 'capture with experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)',
  },
  ranges: {
    label: 'NVTX ranges and annotations',
    nsys: 'capture with -t nvtx',
    kineto: 'mark steps with torch.profiler.record_function',
  },
  ops: {
    label: 'framework ops',
    nsys: 'capture with --pytorch=functions-trace (2024.5 and newer), or take a PyTorch trace',
    kineto: 'capture with activities=[ProfilerActivity.CPU]',
  },
  frames: {
    label: 'Python frames',
    nsys: 'take a PyTorch trace with with_stack=True',
    kineto: 'capture with with_stack=True',
  },
  stackFrames: {
    label: 'call stacks',
    nsys: 'capture with --sample=process-tree --backtrace=dwarf, or --cudabacktrace=all',
    kineto: notByTorch('--sample=process-tree'),
  },
  hostSamples: {
    label: 'CPU and Python samples',
    nsys: 'capture with --sample=process-tree, or --python-sampling=true (export with --include-blobs=true)',
    kineto: notByTorch('--sample=process-tree'),
  },
  contextSwitches: {
    label: 'context switches',
    nsys: 'capture with --cpuctxsw=process-tree',
    kineto: notByTorch('--cpuctxsw=process-tree'),
  },
  osCalls: { label: 'OS runtime calls', nsys: 'capture with -t osrt', kineto: notByTorch('-t osrt') },
  otherEvents: {
    label: 'OpenMP, OpenACC, MPI and graphics API calls',
    nsys: 'capture with -t openmp, openacc, mpi, vulkan or opengl',
    kineto: notByTorch('-t openmp'),
  },
  pageFaults: {
    label: 'unified memory page faults',
    nsys: 'capture with --cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true',
    kineto: notByTorch('--cuda-um-cpu-page-faults=true'),
  },
  memoryEvents: {
    label: 'GPU memory usage',
    nsys: 'capture with --cuda-memory-usage=true',
    kineto: 'capture with profile_memory=True',
  },
  metricSamples: {
    label: 'GPU metrics (SM, tensor, DRAM …)',
    nsys: 'capture with --gpu-metrics-devices=0',
    kineto: notByTorch('--gpu-metrics-devices=0'),
  },
  overheads: { label: 'profiler overhead', nsys: byItself, kineto: byItself },
  diagnostics: { label: 'profiler diagnostics', nsys: byItself, kineto: 'the PyTorch profiler writes none' },
  flows: {
    label: 'flows between events',
    nsys: 'not needed: launches are linked by correlation id',
    kineto: byItself,
  },
};

/** The agent writes down steps; everything else is a profiler's. */
const beside = 'also give the capture of the same run: nsys profile, or STEPSCOPE_TORCH_TRACE=base';

/** Both profilers record these with kernels, or not at all. */
const WITH_KERNELS: readonly TableName[] = ['copies', 'memsets'];
const noneHappened = 'none happened: this capture records them with its kernels';

/** Capturing anew would not help where the copy is bad. */
const against = 'copy the file again, or export the report again';

const isDamaged = ({ damaged, tables }: Profile, table: TableName): boolean =>
  tables[table] === undefined && damaged?.includes(table) === true;

const isNone = (profile: Profile, table: TableName): boolean =>
  WITH_KERNELS.includes(table) &&
  profile.tables[table] === undefined &&
  profile.tables.kernels !== undefined &&
  !isDamaged(profile, table);

export function capabilities(profile: Profile): Capability[] {
  return (Object.keys(what) as TableName[])
    .filter(table => !profile.skipped.includes(table))
    .map(table => {
      const rows = profile.tables[table]?.length ?? 0;
      return {
        table,
        label: what[table].label,
        rows,
        recorded: rows > 0,
        damaged: isDamaged(profile, table),
        none: isNone(profile, table),
        hint: hintOn(profile, table),
      };
    });
}

function hintOn(profile: Profile, table: TableName): string {
  if (isDamaged(profile, table)) return against;
  if (isNone(profile, table)) return noneHappened;
  const { profiler } = profile.capture;
  return profiler === 'agent' ? beside : what[table][profiler];
}
