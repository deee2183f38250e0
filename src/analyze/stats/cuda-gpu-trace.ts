import { NONE } from '../../base/column.js';
import { orderBy } from '../../base/order.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows, type Rows, tableNamed } from '../../model/rows.js';
import type { TableColumn } from '../block.js';
import { column } from './columns.js';
import { copyName, kernelNames, MEMSET_NAME, memoryKindName } from './gpu-operations.js';
import { kernelNameOptions, launchShapeColumns, type StatsReport } from './report.js';

const pools = ['kernels', 'copies', 'memsets'] as const;
type WorkRow = Row<(typeof pools)[number]>;

export const cudaGpuTrace: StatsReport = {
  id: 'cuda_gpu_trace',
  title: 'CUDA GPU Trace',
  aliases: ['gputrace'],
  options: kernelNameOptions,
  reads: {
    kernels: [...launchShapeColumns, 'registersPerThread', 'staticSharedBytes', 'dynamicSharedBytes'],
    copies: ['sourceMemory', 'targetMemory'],
    memsets: ['memory'],
  },
  needs: [['kernels', 'copies', 'memsets']],
  compute(profile, options): TableColumn[] {
    const { pool, row } = mergedOrder(profile);
    const tables = pools.map(name => tableNamed(profile, name));
    const kernels = profile.tables.kernels;
    const copies = profile.tables.copies;
    const memsets = profile.tables.memsets;
    const names = kernels ? kernelNames(profile, options) : undefined;
    const length = pool.length;
    const numeric = (
      header: string,
      kind: TableColumn['kind'],
      value: (p: number, r: WorkRow) => number | undefined,
    ) => {
      const values = new Float64Array(length);
      for (let i = 0; i < length; i++) values[i] = value(pool[i], row[i]) ?? Number.NaN;
      return column(header, kind, values);
    };
    const textual = (header: string, value: (p: number, r: WorkRow) => string | null) => {
      const values: (string | null)[] = new Array(length);
      for (let i = 0; i < length; i++) values[i] = value(pool[i], row[i]);
      return column(header, 'text', values);
    };
    const duration = (p: number, r: WorkRow) => tables[p]!.end[r] - tables[p]!.start[r];
    const ofKernel = (values: ArrayLike<number> | undefined) => (p: number, r: WorkRow) =>
      p === 0 && values && values[r] !== NONE ? values[r] : undefined;
    const bytes = (p: number, r: WorkRow) =>
      p === 1 ? copies!.bytes[r] : p === 2 ? memsets!.bytes[r] : undefined;
    const stream = (p: number, r: WorkRow) => profile.streams[tables[p]!.stream[r]];
    const present = (value: number | undefined) => (value && value > 0 ? value : undefined);
    return [
      numeric('Start (ns)', 'timestamp', (p, r) => tables[p]!.start[r]),
      numeric('Duration (ns)', 'ns', duration),
      numeric('CorrId', 'id', (p, r) => tables[p]!.correlation[r]),
      numeric('GrdX', 'id', ofKernel(kernels?.gridX)),
      numeric('GrdY', 'id', ofKernel(kernels?.gridY)),
      numeric('GrdZ', 'id', ofKernel(kernels?.gridZ)),
      numeric('BlkX', 'id', ofKernel(kernels?.blockX)),
      numeric('BlkY', 'id', ofKernel(kernels?.blockY)),
      numeric('BlkZ', 'id', ofKernel(kernels?.blockZ)),
      numeric('Reg/Trd', 'id', ofKernel(kernels?.registersPerThread)),
      numeric('StcSMem (MB)', 'bytes', ofKernel(kernels?.staticSharedBytes)),
      numeric('DymSMem (MB)', 'bytes', ofKernel(kernels?.dynamicSharedBytes)),
      numeric('Bytes (MB)', 'bytes', bytes),
      numeric('Throughput (MB/s)', 'bytes-per-second', (p, r) => throughput(bytes(p, r), duration(p, r))),
      textual('SrcMemKd', (p, r) =>
        p === 1
          ? memoryKindName(copies!.sourceMemory?.[r])
          : p === 2
            ? memoryKindName(memsets!.memory?.[r])
            : null,
      ),
      textual('DstMemKd', (p, r) => (p === 1 ? memoryKindName(copies!.targetMemory?.[r]) : null)),
      textual('Device', (p, r) => deviceLabel(profile, tables[p]!.stream[r])),
      numeric('Ctx', 'id', (p, r) => present(stream(p, r)?.contextId)),
      numeric('GreenCtx', 'id', (p, r) => present(stream(p, r)?.greenContextId)),
      numeric('Strm', 'id', (p, r) => present(stream(p, r)?.streamId)),
      textual('Name', (p, r) =>
        p === 0 ? names!.text(names!.keys[r]) : p === 1 ? copyName(copies!.kind[r]) : MEMSET_NAME,
      ),
    ];
  },
};

/** Whole operations per second times bytes: NVIDIA divides as integers, so long copies lose their fraction. */
function throughput(bytes: number | undefined, durationNs: number): number | undefined {
  if (bytes === undefined || durationNs === 0) return undefined;
  return bytes * Math.floor(1e9 / durationNs);
}

function deviceLabel(profile: Profile, stream: number): string | null {
  const gpu = profile.gpus[profile.streams[stream]?.gpu];
  return gpu ? `${gpu.name} (${gpu.deviceId})` : null;
}

/** All GPU work in order of start: which table, which row. */
function mergedOrder(profile: Profile): { pool: Uint8Array; row: Rows<(typeof pools)[number]> } {
  const tables = pools.map(name => tableNamed(profile, name));
  const length = tables.reduce((sum, table) => sum + (table?.length ?? 0), 0);
  const start = new Float64Array(length);
  const pool = new Uint8Array(length);
  const row = new Int32Array(length);
  let i = 0;
  tables.forEach((table, p) => {
    for (let r = 0 as WorkRow; r < (table?.length ?? 0); r++, i++) {
      start[i] = table!.start[r];
      pool[i] = p;
      row[i] = r;
    }
  });
  const order = orderBy(start);
  return { pool: pool.map((_, n) => pool[order[n]]), row: asRows(row.map((_, n) => row[order[n]])) };
}
