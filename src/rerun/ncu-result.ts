/** What Nsight Compute measured of a launch, from its page of raw metrics, and what limits the kernel by that. */
import { parseCsv } from '../base/parse-csv.js';

interface NcuFigure {
  readonly metric: string;
  readonly label: string;
  readonly value: number;
  readonly unit: string;
}

export interface NcuLaunch {
  readonly kernel: string;
  readonly grid: string;
  readonly block: string;
  readonly figures: readonly NcuFigure[];
}

/** In the order in which they are shown; Nsight Compute's own words for them. */
const metrics = [
  ['gpu__time_duration.sum', 'Duration'],
  ['sm__throughput.avg.pct_of_peak_sustained_elapsed', 'Compute (SM) throughput'],
  ['gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed', 'Memory throughput'],
  ['gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed', 'DRAM throughput'],
  ['dram__bytes.sum.per_second', 'DRAM bandwidth'],
  ['lts__t_sector_hit_rate.pct', 'L2 hit rate'],
  ['sm__warps_active.avg.pct_of_peak_sustained_active', 'Achieved occupancy'],
  ['sm__maximum_warps_per_active_cycle_pct', 'Theoretical occupancy'],
  ['launch__waves_per_multiprocessor', 'Waves per SM'],
  ['launch__registers_per_thread', 'Registers per thread'],
  ['gpc__cycles_elapsed.avg.per_second', 'SM frequency'],
] as const;
const COMPUTE = metrics[1][0];
const MEMORY = metrics[2][0];

/** Lines of the program come first where ncu's output was not separated from it. Undefined: not such a page. */
export function parseNcuCsv(text: string): NcuLaunch[] | undefined {
  const begin = text.search(/^"ID","Process ID"/m);
  if (begin < 0) return undefined;
  const [header, units, ...rows] = parseCsv(text.slice(begin));
  if (!header || !units) return undefined;
  const at = new Map(header.map((name, column) => [name, column]));
  const cell = (row: readonly string[], name: string) => row[at.get(name) ?? -1] ?? '';
  return rows
    .filter(row => row.length === header.length)
    .map(row => ({
      kernel: cell(row, 'Kernel Name'),
      grid: cell(row, 'Grid Size'),
      block: cell(row, 'Block Size'),
      figures: metrics.flatMap(([metric, label]): NcuFigure[] => {
        const written = cell(row, metric).replaceAll(',', '');
        const value = Number(written);
        // A counter that could not be read is left empty.
        if (written === '' || !Number.isFinite(value)) return [];
        return [{ metric, label, value, unit: cell(units, metric) }];
      }),
    }));
}

/** As Nsight Compute's Speed Of Light rule judges: what is busy to 60% limits, and if nothing is, waiting does. */
const BUSY = 60;

export function limitOf({ figures }: NcuLaunch): string {
  const of = (metric: string) => figures.find(figure => figure.metric === metric)?.value;
  const [compute, memory] = [of(COMPUTE), of(MEMORY)];
  if (compute === undefined || memory === undefined)
    return 'cannot tell: throughput was not measured (--set full)';
  if (Math.max(compute, memory) < BUSY)
    return `latency-bound: neither compute (${compute.toFixed(0)}%) nor memory (${memory.toFixed(0)}%) is 60% busy`;
  return memory >= compute
    ? `memory-bound: memory is ${memory.toFixed(0)}% busy, compute ${compute.toFixed(0)}%`
    : `compute-bound: compute is ${compute.toFixed(0)}% busy, memory ${memory.toFixed(0)}%`;
}
