/** Unified memory: pages that moved, and the faults that moved them. */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { FaultSide } from '../../model/schema.js';
import { numbers, texts } from './columns.js';
import type { StatsReport } from './report.js';

/** Kinds of copies by which unified memory moves pages. */
const TO_DEVICE = 11;
const TO_HOST = 12;
const USUAL_ROWS = 10;

interface Page {
  readonly address: number;
  cpuFaults?: number;
  gpuFaults?: number;
  toDeviceBytes?: number;
  toHostBytes?: number;
  movingNs: number;
}

function pagesOf({ tables }: Profile): Page[] {
  const pages = new Map<number, Page>();
  const page = (address: number): Page => {
    const known = pages.get(address) ?? { address, movingNs: 0 };
    pages.set(address, known);
    return known;
  };
  const { pageFaults, copies } = tables;
  for (let row = 0 as Row<'pageFaults'>; pageFaults && row < pageFaults.length; row++) {
    const at = page(pageFaults.address[row]);
    const faults = pageFaults.faults[row];
    if (pageFaults.side[row] === FaultSide.cpu) at.cpuFaults = (at.cpuFaults ?? 0) + faults;
    else at.gpuFaults = (at.gpuFaults ?? 0) + faults;
  }
  for (let row = 0 as Row<'copies'>; copies && row < copies.length; row++) {
    const kind = copies.kind[row];
    if (kind !== TO_DEVICE && kind !== TO_HOST) continue;
    const at = page(copies.address?.[row] ?? Number.NaN);
    at.movingNs += copies.end[row] - copies.start[row];
    if (kind === TO_DEVICE) at.toDeviceBytes = (at.toDeviceBytes ?? 0) + copies.bytes[row];
    else at.toHostBytes = (at.toHostBytes ?? 0) + copies.bytes[row];
  }
  return [...pages.values()];
}

/** Bytes times the whole pages' moves that fit a second: NVIDIA divides integers here, as in its traces. */
function throughput({ toDeviceBytes, toHostBytes, movingNs }: Page): number | undefined {
  if (toDeviceBytes === undefined && toHostBytes === undefined) return undefined;
  return movingNs > 0
    ? ((toDeviceBytes ?? 0) + (toHostBytes ?? 0)) * Math.floor(1_000_000_000 / movingNs)
    : undefined;
}

const addressText = (address: number | undefined) =>
  address === undefined || Number.isNaN(address) ? null : `0x${address.toString(16).toUpperCase()}`;

const reads = { copies: ['address'], pageFaults: ['name'] } as const;
const needs = [['copies'], ['pageFaults']] as const;

export const umSum: StatsReport = {
  id: 'um_sum',
  title: 'Unified Memory Analysis Summary',
  aliases: ['unifiedmemory'],
  options: ['rows'],
  reads,
  needs,
  compute(profile, { numbers: { rows = USUAL_ROWS } }) {
    const fastest = pagesOf(profile).sort((a, b) => (throughput(b) ?? -1) - (throughput(a) ?? -1));
    const pages = rows < 0 ? fastest : fastest.slice(0, rows);
    return [
      texts('Virtual Address', pages, page => addressText(page.address)),
      numbers('HtoD Migration Size (MB)', 'bytes', pages, page => page.toDeviceBytes),
      numbers('DtoH Migration Size (MB)', 'bytes', pages, page => page.toHostBytes),
      numbers('CPU Page Faults', 'count', pages, page => page.cpuFaults),
      numbers('GPU Page Faults', 'count', pages, page => page.gpuFaults),
      numbers('Migration Throughput (MB/s)', 'bytes-per-second', pages, throughput),
    ];
  },
};

export const umTotalSum: StatsReport = {
  id: 'um_total_sum',
  title: 'Unified Memory Totals Summary',
  aliases: ['unifiedmemorytotals'],
  options: [],
  reads,
  needs,
  compute(profile) {
    const pages = pagesOf(profile);
    const kinds = ['cpuFaults', 'gpuFaults', 'toDeviceBytes', 'toHostBytes'] as const;
    const total = (kind: (typeof kinds)[number]) => {
      const found = pages.filter(page => page[kind] !== undefined);
      return found.length === 0 ? undefined : found.reduce((sum, page) => sum + page[kind]!, 0);
    };
    // SQL's minimum of several is nothing where one of them is.
    const isWhole = kinds.every(kind => total(kind) !== undefined);
    const addresses = isWhole ? pages.map(page => page.address).filter(address => address >= 0) : [];
    const bound = (choose: (a: number, b: number) => number) =>
      addresses.length === 0 ? undefined : addresses.reduce((a, b) => choose(a, b));
    const once = [0];
    return [
      numbers('Total HtoD Migration Size (MB)', 'bytes', once, () => total('toDeviceBytes')),
      numbers('Total DtoH Migration Size (MB)', 'bytes', once, () => total('toHostBytes')),
      numbers('Total CPU Page Faults', 'count', once, () => total('cpuFaults') ?? 0),
      numbers('Total GPU PageFaults', 'count', once, () => total('gpuFaults')),
      texts('Minimum Virtual Address', once, () => addressText(bound(Math.min))),
      texts('Maximum Virtual Address', once, () => addressText(bound(Math.max))),
    ];
  },
};

export const umCpuPageFaultsSum: StatsReport = {
  id: 'um_cpu_page_faults_sum',
  title: 'Unified Memory CPU Page Faults Summary',
  aliases: ['umcpupagefaults'],
  options: [],
  reads: { pageFaults: ['name'] },
  needs: [['pageFaults']],
  compute({ tables, strings }) {
    const { side, name, length } = tables.pageFaults!;
    const counts = new Map<number, number>();
    for (let row = 0 as Row<'pageFaults'>; row < length; row++) {
      if (side[row] !== FaultSide.cpu) continue;
      const id = name?.[row] ?? NONE;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const rows = [...counts].sort((a, b) => b[1] - a[1]);
    return [
      numbers('CPU Page Faults', 'count', rows, ([, count]) => count),
      texts('CPU Instruction Address', rows, ([id]) => (id === NONE ? null : strings.text(id))),
    ];
  },
};
