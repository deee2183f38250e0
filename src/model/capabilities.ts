/**
 * What a capture can answer. Derived from the tables alone, so "not recorded" is never mistaken for zero, and each
 * gap comes with the flag that would have closed it.
 */
import type { GraphMode, Profile } from './profile.js';
import type { TableName } from './schema.js';

export interface Capability {
  readonly table: TableName;
  readonly label: string;
  readonly rows: number;
  readonly recorded: boolean;
  /** How to record it next time, for the profiler this file came from. */
  readonly hint: string;
}

const what: Record<TableName, { label: string; nsys: string; kineto: string }> = {
  kernels: { label: 'GPU kernels', nsys: '-t cuda', kineto: 'activities=[ProfilerActivity.CUDA]' },
  copies: { label: 'memory copies', nsys: '-t cuda', kineto: 'activities=[ProfilerActivity.CUDA]' },
  memsets: { label: 'memory sets', nsys: '-t cuda', kineto: 'activities=[ProfilerActivity.CUDA]' },
  graphLaunches: {
    label: 'CUDA graph replays as blocks',
    nsys: '--cuda-graph-trace=graph',
    kineto: 'not available from the PyTorch profiler',
  },
  graphNodes: {
    label: 'CUDA graph node creation',
    nsys: '--cuda-graph-trace=node',
    kineto: 'not available from the PyTorch profiler',
  },
  graphEvents: {
    label: 'CUDA graph creation',
    nsys: '-t cuda (2024 and newer)',
    kineto: 'not available from the PyTorch profiler',
  },
  apiCalls: { label: 'CUDA API calls', nsys: '-t cuda', kineto: 'activities=[ProfilerActivity.CUDA]' },
  syncs: { label: 'synchronisations', nsys: '-t cuda', kineto: 'enable_cuda_sync_events=True' },
  ranges: {
    label: 'NVTX ranges and annotations',
    nsys: '-t nvtx',
    kineto: 'torch.profiler.record_function("…")',
  },
  ops: {
    label: 'framework ops',
    nsys: '--pytorch=functions-trace,autograd-nvtx (2024.5 and newer), or a PyTorch profiler trace',
    kineto: 'activities=[ProfilerActivity.CPU]',
  },
  osCalls: { label: 'OS runtime calls', nsys: '-t osrt', kineto: 'not available from the PyTorch profiler' },
  memoryEvents: {
    label: 'GPU memory usage',
    nsys: '--cuda-memory-usage=true',
    kineto: 'profile_memory=True',
  },
  metricSamples: {
    label: 'GPU metrics (SM, tensor, DRAM …)',
    nsys: '--gpu-metrics-devices=0',
    kineto: 'not available from the PyTorch profiler; use nsys --gpu-metrics-devices=0',
  },
  overheads: { label: 'profiler overhead', nsys: 'recorded by itself', kineto: 'recorded by itself' },
  diagnostics: { label: 'profiler diagnostics', nsys: 'recorded by itself', kineto: 'not available' },
  flows: {
    label: 'flows between events',
    nsys: 'not needed: launches are linked by id',
    kineto: 'recorded by itself',
  },
};

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
        hint: what[table][profile.capture.profiler],
      };
    });
}

/** How CUDA graphs appear in the data, whatever the profiler was asked for. */
export function graphMode(profile: Profile): GraphMode {
  if (profile.tables.graphLaunches) return 'blocks';
  const { kernels, apiCalls } = profile.tables;
  if (kernels?.graphNode) return 'nodes';
  if (apiCalls && kernels && launchesGraphs(profile)) return 'nodes';
  return 'none';
}

/** Kineto gives no node ids before 2025, but work launched by a graph launch call is graph work all the same. */
function launchesGraphs(profile: Profile): boolean {
  const { kernels, apiCalls } = profile.tables;
  const launch = kernels!.launch as unknown as Int32Array;
  const name = apiCalls!.name as unknown as Int32Array;
  const isGraphLaunch = new Map<number, boolean>();
  for (let row = 0; row < launch.length; row++) {
    if (launch[row] < 0) continue;
    const id = name[launch[row]];
    let answer = isGraphLaunch.get(id);
    if (answer === undefined) {
      answer = /GraphLaunch/.test(profile.strings.text(id));
      isGraphLaunch.set(id, answer);
    }
    if (answer) return true;
  }
  return false;
}
