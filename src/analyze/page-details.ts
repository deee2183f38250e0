/** The lower half of the page: kernels per step, one line for each other question, and the steps. */
import { summarize } from '../base/stats.js';
import { formatBytes, formatCount, formatDuration, formatShare, plural } from '../base/units.js';
import { type FamilyId, familyOf } from '../catalog/kernels/families.js';
import type { Phase } from '../catalog/phases.js';
import type { Analyzer } from './analysis.js';
import type { Block, Fact, FactsBlock, TableBlock } from './block.js';
import { gpuMetricsAnalysis } from './gpu/gpu-metrics.js';
import { graphCoverage } from './gpu/graph-coverage.js';
import { type FamilyRow, kernelFamilies } from './gpu/kernel-families.js';
import { memoryInUse } from './gpu/memory-in-use.js';
import { memoryOperations } from './gpu/memory-operations.js';
import { allocations } from './host/allocations.js';
import { gc } from './host/gc.js';
import { gil } from './host/gil.js';
import { launchOverhead } from './host/launch-overhead.js';
import { criticalPath } from './inference/critical-path.js';
import type { IterationRow } from './inference/iterations.js';
import { layers } from './inference/layers.js';
import { rankSkew } from './inference/rank-skew.js';
import { speedOfLight } from './inference/speed-of-light.js';
import { tokenTime } from './inference/token-time.js';
import type { Ask } from './page.js';

const MOST_FAMILIES = 10;
const MOST_STEPS = 12;

export function familiesTable(ask: Ask, phase: Phase | null): Block[] {
  const found = ask(kernelFamilies);
  if (!found) return [];
  const own = found.rows
    .flatMap(row => {
      const part = row.phases.find(candidate => candidate.phase === phase);
      return part ? [{ label: familyLabel(row), ...part }] : [];
    })
    .sort((a, b) => b.nsPerStep - a.nsPerStep);
  const rest = own.slice(MOST_FAMILIES - 1);
  const shown = rest.length > 1 ? own.slice(0, MOST_FAMILIES - 1) : own;
  const sum = (of: (part: (typeof own)[number]) => number, parts = own) =>
    parts.reduce((total, part) => total + of(part), 0);
  const lines = [
    ...shown,
    ...(rest.length > 1
      ? [
          {
            label: `${rest.length} more families`,
            kernelsPerStep: sum(part => part.kernelsPerStep, rest),
            nsPerStep: sum(part => part.nsPerStep, rest),
          },
        ]
      : []),
  ];
  const total = sum(part => part.nsPerStep);
  const table: TableBlock = {
    kind: 'table',
    id: 'kernel-families',
    title: `Kernels ${phase === null ? 'in all' : 'per step'}${structureText(ask, phase)}`,
    rows: lines.length,
    columns: [
      { header: 'Family', kind: 'text', values: lines.map(line => line.label) },
      { header: 'Count', kind: 'mean', values: lines.map(line => line.kernelsPerStep) },
      { header: 'Time', kind: 'ns-mean', values: lines.map(line => line.nsPerStep) },
      { header: 'Share of GPU time (%)', kind: 'share', values: lines.map(line => line.nsPerStep / total) },
    ],
  };
  return [table];
}

/** `GEMM (bf16, cuBLAS)`: what most of the family's time is. */
function familyLabel(row: FamilyRow): string {
  const { label } = familyOf(row.family as FamilyId);
  const [main] = row.variants;
  const words = main ? [main.variant, main.dtype, main.library].filter(Boolean) : [];
  const isMost = main && main.totalNs >= 0.5 * row.totalNs;
  return isMost && words.length > 0 ? `${label} (${words.join(', ')})` : label;
}

/** ` 1,016 = 22 × 46 + 4` */
function structureText(ask: Ask, phase: Phase | null): string {
  const structure = ask(layers)?.summary?.structure as
    | { phase: string; repeats: number; kernelsPerRepeat: number; otherKernels: number; kernels: number }
    | null
    | undefined;
  if (!structure || structure.phase !== phase) return '';
  const { repeats, kernelsPerRepeat, otherKernels, kernels } = structure;
  return `  ${formatCount(kernels)} = ${repeats} layers × ${kernelsPerRepeat}${otherKernels > 0 ? ` + ${otherKernels}` : ''}`;
}

export function moreFacts(analyzer: Analyzer, ask: Ask, phase: Phase | null): FactsBlock {
  const facts: Fact[] = [];
  const say = (label: string, text: string | undefined | false) => {
    if (text) facts.push({ label, text });
  };
  const graphs = ask(graphCoverage)?.rows.find(row => row.phase === phase);
  say(
    'graphs',
    graphs &&
      graphs.graphLaunches > 0 &&
      `${formatShare(graphs.timeShare)} of GPU time runs from ${plural(graphs.graphLaunches, 'graph launch', 'graph launches')}`,
  );
  const launch = ask(launchOverhead)?.rows.find(row => /Launch/.test(row.call));
  say(
    'launches',
    launch &&
      `${launch.call} ${formatDuration(launch.medianNs)} median, ${formatCount(Math.round(launch.callsPerStep))} per step, then ${formatDuration(launch.queueMedianNs)} in the queue; the work takes ${formatDuration(launch.operationMeanNs)} on average`,
  );
  const token = ask(tokenTime)?.rows.find(row => row.phase === phase);
  say(
    'per token',
    token &&
      `${formatDuration(token.perTokenNs)} = kernels ${formatDuration(token.kernelNs)} + communication ${formatDuration(token.communicationNs)} + copies ${formatDuration(token.copyNs)} + host ${formatDuration(token.hostNs)} + other idle ${formatDuration(token.idleNs)}`,
  );
  const copies = ask(memoryOperations)?.rows;
  say('copies', copies && copies.length > 0 && copiesText(copies));
  const allocated = ask(allocations)?.rows;
  say(
    'allocations',
    allocated &&
      (allocated.length === 0
        ? 'none in the steps'
        : `${formatCount(Number(allocated.reduce((sum, row) => sum + row.countPerStep, 0).toFixed(1)))} per step, ${formatDuration(allocated.reduce((sum, row) => sum + row.totalNs, 0))} in all (${allocated[0].call} …)`),
  );
  const memory = ask(memoryInUse)?.rows[0];
  say(
    'memory',
    memory &&
      `peak ${formatBytes(memory.peakBytes)} by ${memory.source}${memory.ofMemory === null ? '' : `, ${formatShare(memory.ofMemory)} of the GPU`}`,
  );
  const collected = ask(gc)?.rows;
  say(
    'GC',
    collected &&
      (collected.length === 0
        ? 'no collection in the steps'
        : `${formatDuration(collected.reduce((sum, row) => sum + row.nsPerStep, 0))} per step, GPU idle in ${formatShare(shareOf(collected.map(row => [row.gpuIdleNs, row.totalNs])))} of it`),
  );
  const lock = ask(gil)?.rows.find(row => row.runsSteps);
  say(
    'GIL',
    lock &&
      `the step thread waits ${formatDuration(lock.waitPerStepNs)} per step (${plural(lock.waits, 'wait')}), GPU idle in ${formatShare(lock.waitNs > 0 ? lock.gpuIdleNs / lock.waitNs : 0)} of it`,
  );
  say('metrics', metricsText(ask));
  const skew = ask(rankSkew);
  say(
    'ranks',
    skew &&
      `${plural(skew.rows.length, 'rank')}; host starts spread ${formatDuration(skew.summary?.medianStartSkewNs as number)}, GPU ends ${formatDuration((skew.summary?.medianEndSkewNs as number) ?? Number.NaN)} (medians)`,
  );
  const path = ask(criticalPath)?.rows;
  say(
    'path',
    path &&
      path.length > 0 &&
      `${path
        .slice(0, 3)
        .map(row => `${formatShare(row.share)} ${row.what}${row.where === 'gpu' ? '' : ` (${row.where})`}`)
        .join(', ')}`,
  );
  const light = ask(speedOfLight)?.rows.find(row => row.phase === phase);
  say(
    'least time',
    light &&
      `${formatDuration(light.leastNs)} for this model and GPU (${light.bound ?? 'no'} bound): ${formatShare(light.ofLeast ?? Number.NaN)} of the speed of light`,
  );
  facts.push(...unmeasured(analyzer));
  return { kind: 'facts', id: 'details', title: 'Details', facts };
}

const shareOf = (pairs: readonly (readonly [part: number, whole: number])[]): number => {
  const whole = pairs.reduce((sum, pair) => sum + pair[1], 0);
  return whole > 0 ? pairs.reduce((sum, pair) => sum + pair[0], 0) / whole : 0;
};

function copiesText(
  rows: readonly {
    countPerStep: number;
    bytes: number;
    count: number;
    totalNs: number;
    hostWaits: boolean | null;
  }[],
): string {
  const perStep = rows.reduce((sum, row) => sum + row.countPerStep, 0);
  const waiting = rows.filter(row => row.hostWaits).reduce((sum, row) => sum + row.countPerStep, 0);
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const time = rows.reduce((sum, row) => sum + row.totalNs, 0);
  const waits = waiting > 0 ? `; the host waits for ${Number(waiting.toFixed(1))} of them` : '';
  return `${Number(perStep.toFixed(1))} per step, ${formatBytes(Math.round((bytes / count) * perStep))} and ${formatDuration((time / count) * perStep)} per step${waits}`;
}

function metricsText(ask: Ask): string | undefined {
  const rows = ask(gpuMetricsAnalysis)?.rows.filter(row => row.phase === null && row.family === null);
  if (!rows || rows.length === 0) return undefined;
  const shown = ['SMs active', 'SM issue', 'tensor active', 'DRAM read', 'DRAM write'];
  const parts = shown.flatMap(metric => {
    const row = rows.find(candidate => candidate.metric === metric);
    return row && row.overBusy !== null ? [`${metric} ${row.overBusy.toFixed(0)}%`] : [];
  });
  const uncertainty = rows.find(row => row.uncertainty !== null)?.uncertainty ?? 0;
  return `while busy: ${parts.join(', ')}${uncertainty >= 2 ? ` (± ${uncertainty.toFixed(0)} points: samples are mostly idle)` : ''}`;
}

/** What was not recorded, each with how to record it. */
function unmeasured(analyzer: Analyzer): Fact[] {
  const asked = [gpuMetricsAnalysis, gc, gil, memoryInUse, kernelFamilies, speedOfLight];
  return asked.flatMap((analysis): Fact[] => {
    const outcome = analyzer.run(analysis);
    if (outcome.status !== 'not-recorded') return [];
    return [{ label: 'not measured', text: outcome.what, hint: outcome.hint, tone: 'quiet' }];
  });
}

export function stepsFacts(rows: readonly IterationRow[]): FactsBlock {
  const selected = rows.filter(row => row.selected);
  const walls = selected.map(row => row.wallNs);
  const summary = summarize(Float64Array.from(walls));
  const sorted = [...walls].sort((a, b) => a - b);
  const p99 = sorted[Math.min(sorted.length - 1, Math.ceil(0.99 * sorted.length) - 1)];
  const slowest = selected.find(row => row.wallNs === summary.max)!;
  const unit = summary.median >= 1e6 ? { ns: 1e6, label: 'ms' } : { ns: 1e3, label: 'µs' };
  const listed = walls.slice(0, MOST_STEPS).map(ns => (ns / unit.ns).toPrecision(3));
  const more = walls.length > MOST_STEPS ? ` … ${walls.length - MOST_STEPS} more` : '';
  return {
    kind: 'facts',
    id: 'steps',
    title: 'Steps',
    facts: [
      {
        label: unit.label,
        text: `${listed.join('  ')}${more}   p50 ${formatDuration(summary.median)}  p99 ${formatDuration(p99)}   slowest ${slowest.iteration}`,
      },
    ],
  };
}
