/** What is in this file? Plain results for `stepscope info`, and their words. */

import { NONE } from '../base/column.js';
import { latestOf } from '../base/intervals.js';
import { formatBytes, formatCount, formatDuration, plural } from '../base/units.js';
import { capabilities } from '../catalog/capabilities.js';
import { matchMarker } from '../catalog/engine-markers.js';
import { profilers } from '../catalog/profilers.js';
import { distinctGpus } from '../model/distinct-gpus.js';
import { graphMode } from '../model/graph-mode.js';
import { oncePerProfile } from '../model/once-per-profile.js';
import type { Gpu, GraphMode, Profile, Row } from '../model/profile.js';
import { RangeKind, type TableName } from '../model/schema.js';
import type { Block, Fact } from './block.js';

interface MarkerInfo {
  readonly engine: string;
  readonly count: number;
  readonly example: string;
  /** First and last iteration number seen, where the markers carry one. */
  readonly first?: number;
  readonly last?: number;
}

interface CaptureSummary {
  readonly profiler: string;
  readonly profilerVersion: string;
  readonly formatVersion: string;
  readonly files: readonly string[];
  readonly sizeBytes: number;
  readonly startedUtc?: string;
  readonly span: { readonly startNs: number; readonly endNs: number; readonly durationNs: number };
  readonly gpus: readonly (Gpu & { readonly used: boolean })[];
  readonly processes: number;
  readonly threads: number;
  readonly streams: number;
  readonly ranks: readonly number[];
  readonly worldSize?: number;
  readonly clock: string;
  readonly cudaGraphs: GraphMode;
  readonly markers: readonly MarkerInfo[];
  readonly recorded: readonly { readonly table: TableName; readonly label: string; readonly rows: number }[];
  readonly notRecorded: readonly {
    readonly table: TableName;
    /** It was recorded, and nothing of it can be read. */
    readonly damaged?: boolean;
    /** It would have been recorded: there was none. */
    readonly none?: boolean;
    readonly label: string;
    readonly hint: string;
  }[];
  /** How to record GPU work with this profiler. */
  readonly gpuHint: string;
  readonly sourceCounts: Readonly<Record<string, number>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly environment: { readonly variables: number; readonly looksSecret: number };
  readonly notes: Profile['notes'];
}

export function summarizeCapture(profile: Profile): CaptureSummary {
  const { capture } = profile;
  const span = spanOf(profile);
  const abilities = capabilities(profile);
  // Kineto draws on its own names; nsys cannot record framework ops without help, and so on: gaps that no flag of
  // this profiler closes are not worth a line each.
  const missing = abilities.filter(ability => !ability.recorded && worthMentioning(ability.table, profile));
  return {
    profiler: profilers[capture.profiler].about,
    profilerVersion: capture.profilerVersion,
    formatVersion: capture.formatVersion,
    files: capture.files,
    sizeBytes: capture.sizeBytes,
    ...(profile.clock === 'utc' ? { startedUtc: utcText(profile.originNs) } : {}),
    span,
    gpus: gpusOf(profile),
    processes: profile.processes.length,
    threads: profile.threads.length,
    streams: profile.streams.length,
    ranks: capture.ranks,
    ...(capture.distributed ? { worldSize: capture.distributed.worldSize } : {}),
    clock: profile.clock,
    cudaGraphs: graphMode(profile),
    markers: findMarkers(profile),
    recorded: abilities.filter(a => a.recorded).map(({ table, label, rows }) => ({ table, label, rows })),
    notRecorded: missing.map(({ table, label, hint, damaged, none }) => ({
      table,
      label,
      hint,
      ...(damaged ? { damaged } : {}),
      ...(none ? { none } : {}),
    })),
    gpuHint: abilities.find(ability => ability.table === 'kernels')?.hint ?? '',
    sourceCounts: capture.sourceCounts,
    settings: capture.settings,
    versions: capture.versions,
    environment: capture.environment,
    notes: profile.notes,
  };
}

function worthMentioning(table: TableName, profile: Profile): boolean {
  const always: TableName[] = ['kernels', 'copies', 'apiCalls', 'ranges', 'memoryEvents'];
  return always.includes(table) || profilers[profile.capture.profiler].mayRecord.includes(table);
}

/** What the span is made of. Counters, allocations and graph creation are recorded outside the captured window too. */
const eventTables: readonly TableName[] = [
  'kernels',
  'copies',
  'memsets',
  'graphLaunches',
  'apiCalls',
  'syncs',
  'ranges',
  'ops',
  'frames',
  'osCalls',
];

/** From the first start to the last end of any event. */
export const spanOf = oncePerProfile((profile): { startNs: number; endNs: number; durationNs: number } => {
  let startNs = Infinity;
  let endNs = -Infinity;
  for (const name of eventTables) {
    const table = profile.tables[name] as unknown as
      | { length: number; start: Float64Array; end?: Float64Array }
      | undefined;
    if (!table) continue;
    startNs = Math.min(startNs, table.start[0]);
    endNs = Math.max(endNs, latestOf(table.end ?? table.start));
  }
  if (profilers[profile.capture.profiler].startsAtZero && endNs > 0) startNs = Math.max(startNs, 0);
  if (startNs > endNs) return { startNs: 0, endNs: 0, durationNs: 0 };
  return { startNs, endNs, durationNs: endNs - startNs };
});

function findMarkers(profile: Profile): MarkerInfo[] {
  const { ranges } = profile.tables;
  if (!ranges) return [];
  const counts = new Map<number, number>();
  for (let row = 0 as Row<'ranges'>; row < ranges.length; row++) {
    const name = ranges.name[row];
    // What the profiler drew on the GPU repeats what the thread marked.
    if (name !== NONE && ranges.kind[row] !== RangeKind.gpuAnnotation)
      counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const found = new Map<string, { -readonly [K in keyof MarkerInfo]: MarkerInfo[K] }>();
  for (const [id, count] of counts) {
    const text = profile.strings.text(id);
    const match = matchMarker(text);
    if (!match) continue;
    const { engine } = match.grammar;
    const known = found.get(engine) ?? { engine, count: 0, example: text };
    known.count += count;
    if (match.facts.iteration !== undefined) {
      const { iteration } = match.facts;
      known.first = Math.min(known.first ?? iteration, iteration);
      known.last = Math.max(known.last ?? iteration, iteration);
    }
    found.set(engine, known);
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

function utcText(originNs: bigint): string {
  return new Date(Number(originNs / 1_000_000n)).toISOString().replace(/\.\d+Z$/, 'Z');
}

const graphWords: Record<GraphMode, string> = {
  nodes: 'recorded node by node: every kernel is visible',
  blocks: 'recorded as blocks: the kernels inside replays are hidden',
  none: 'none',
};

export function describeCapture(summary: CaptureSummary): Block[] {
  const facts: Fact[] = [
    {
      label: 'file',
      text: `${summary.files.length === 1 ? summary.files[0] : `${summary.files.length} files`}, ${formatBytes(summary.sizeBytes)}`,
    },
    {
      label: 'profiler',
      text: [
        `${summary.profiler} ${summary.profilerVersion}`.trim(),
        summary.formatVersion && `format ${summary.formatVersion}`,
      ]
        .filter(Boolean)
        .join(', '),
    },
    ...gpuFacts(summary),
    {
      label: 'span',
      text: `${formatDuration(summary.span.durationNs)}${summary.startedUtc ? `, began ${summary.startedUtc}` : ''}`,
    },
    {
      label: 'ran on',
      text: [
        plural(summary.processes, 'process', 'processes'),
        plural(summary.threads, 'thread'),
        plural(summary.streams, 'GPU stream'),
      ].join(', '),
    },
  ];
  if (summary.ranks.length > 0) {
    const listed = summary.ranks.length <= 16 ? ` (${summary.ranks.join(', ')})` : '';
    const world =
      summary.worldSize && summary.ranks.length < summary.worldSize ? ` of ${summary.worldSize}` : '';
    facts.push({ label: 'ranks', text: `${summary.ranks.length}${world}${listed}` });
  }
  facts.push({
    label: 'CUDA graphs',
    text: graphWords[summary.cudaGraphs],
    ...(summary.cudaGraphs === 'blocks'
      ? { tone: 'bad' as const, hint: 'capture with --cuda-graph-trace=node' }
      : {}),
  });
  facts.push(...markerFacts(summary));
  facts.push(environmentFact(summary));
  return [
    { kind: 'facts', id: 'capture', title: 'Capture', facts },
    recordedBlock(summary),
    ...(summary.notes.length > 0 ? [notesBlock(summary)] : []),
  ];
}

function gpusOf({ gpus, streams }: Profile): CaptureSummary['gpus'] {
  const used = new Set(streams.map(stream => gpus[stream.gpu]));
  const isUsed = (gpu: Gpu) => gpus.some(other => used.has(other) && (other === gpu || isSame(other, gpu)));
  const isSame = (a: Gpu, b: Gpu) => a.uuid !== undefined && a.uuid === b.uuid;
  return distinctGpus(gpus).map(gpu => {
    const { uuid: _, ...shown } = gpu;
    return { ...shown, used: isUsed(gpu) };
  });
}

function gpuFacts(summary: CaptureSummary): Fact[] {
  const used = summary.gpus.filter(gpu => gpu.used);
  const shown = used.length > 0 ? used : summary.gpus;
  if (shown.length === 0) return [{ label: 'GPU', text: 'the file names no GPU', tone: 'quiet' }];
  const byName = new Map<string, typeof shown>();
  for (const gpu of shown) byName.set(gpu.name, [...(byName.get(gpu.name) ?? []), gpu]);
  return [...byName].map(([name, gpus]) => {
    const [gpu] = gpus;
    const limits = [
      gpu.smCount && `${gpu.smCount} SMs`,
      gpu.memoryBytes && formatBytes(gpu.memoryBytes),
      gpu.memoryBandwidthBytesPerSecond && `${formatBytes(gpu.memoryBandwidthBytesPerSecond)}/s`,
      gpu.computeCapability && `compute ${gpu.computeCapability}`,
    ].filter(Boolean);
    const idle = summary.gpus.length - used.length;
    const count = gpus.length > 1 ? `${gpus.length} × ` : '';
    const unused = used.length === 0 ? ', no work recorded on it' : idle > 0 ? `, ${idle} more idle` : '';
    return {
      label: 'GPU',
      text: `${count}${name || 'unnamed'}${limits.length > 0 ? `, ${limits.join(', ')}` : ''}${unused}`,
    };
  });
}

function markerFacts(summary: CaptureSummary): Fact[] {
  if (summary.markers.length === 0) {
    return [{ label: 'iterations', text: 'no known step markers', tone: 'quiet' }];
  }
  return summary.markers.map(marker => {
    const numbers = marker.first === undefined ? '' : `, iterations ${marker.first} to ${marker.last}`;
    return {
      label: 'iterations',
      text: `${plural(marker.count, 'step marker')} of ${marker.engine}${numbers}: ${marker.example}`,
    };
  });
}

function environmentFact({ environment }: CaptureSummary): Fact {
  if (environment.variables === 0)
    return { label: 'environment', text: 'no environment variables in the file', tone: 'quiet' };
  const { variables, looksSecret } = environment;
  return {
    label: 'environment',
    text: `the file carries ${plural(variables, 'environment variable')}, ${looksSecret} of them ${looksSecret === 1 ? 'looks like a secret' : 'look like secrets'}`,
    ...(looksSecret > 0 ? { tone: 'bad' as const, hint: 'do not share this file unredacted' } : {}),
  };
}

function recordedBlock(summary: CaptureSummary): Block {
  const facts: Fact[] = summary.recorded.map(({ label, rows }) => ({
    label: formatCount(rows),
    text: label,
  }));
  if (!summary.recorded.some(({ table }) => table === 'kernels' || table === 'graphLaunches')) {
    facts.unshift({
      label: '0',
      ...(summary.notRecorded.some(({ table, damaged }) => table === 'kernels' && damaged)
        ? { text: 'GPU kernels: damaged in this file', hint: summary.gpuHint }
        : {
            text: 'GPU kernels: no GPU work was recorded',
            hint: `${summary.gpuHint}; profile the process that runs the model, not its client, and check that the run reached the capture window`,
          }),
      tone: 'bad',
    });
  }
  for (const { label, hint, table, damaged, none } of summary.notRecorded) {
    if (table === 'kernels') continue;
    const text = `${label}: ${damaged ? 'damaged in this file' : none ? 'none' : 'not recorded'}`;
    facts.push({ label: '–', text, tone: damaged ? 'bad' : 'quiet', hint });
  }
  return { kind: 'facts', id: 'recorded', title: 'Recorded', facts };
}

function notesBlock(summary: CaptureSummary): Block {
  const facts: Fact[] = summary.notes.map(note => ({
    label: formatCount(note.count),
    text: `${note.text}${note.example ? ` (e.g. ${note.example})` : ''}`,
    tone: note.severity === 'loss' ? 'bad' : 'quiet',
  }));
  return { kind: 'facts', id: 'notes', title: 'Notes', facts };
}
