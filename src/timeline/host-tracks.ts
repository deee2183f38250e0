/** What host threads did: ranges, CUDA calls, framework ops, Python frames, system calls; GC and GIL on lanes of their own. */

import type { Analyzer } from '../analyze/analysis.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import {
  ALLOCATION_CALL,
  activityOf,
  functionOfFrame,
  GIL_HOLD,
  GIL_WAIT,
  GRAPH_LAUNCH,
  SYNC_CALL,
} from '../catalog/host-activities.js';
import type { Profile, Row } from '../model/profile.js';
import { tableNamed } from '../model/rows.js';
import { RangeKind } from '../model/schema.js';
import type { EventLabels } from './labels.js';
import { type EventSource, makeLanes, rowsByOwner } from './make-lanes.js';
import { toneOf } from './palettes.js';
import type { HostTable, Track } from './track.js';

const host = (id: string) => toneOf('host', id);

/** Threads beyond these, least busy last, are folded away. */
const OPEN_THREADS = 2;

interface Kind {
  readonly id: string;
  readonly label: string;
  readonly table: HostTable;
  readonly collapsed: boolean;
  /** Which rows of the table it shows; all where absent. */
  readonly wanted?: (nameId: number) => boolean;
}

export function hostTracks(
  analyzer: Analyzer,
  labels: EventLabels,
  endNs: number,
): { tracks: Track[]; tooDeep: number } {
  const { profile } = analyzer;
  const rangeKind = rangeKinds(profile);
  const kinds: readonly Kind[] = [
    {
      id: 'gc',
      label: 'garbage collection',
      table: 'ranges',
      collapsed: false,
      wanted: id => rangeKind(id) === 'gc',
    },
    { id: 'gil', label: 'GIL', table: 'ranges', collapsed: false, wanted: id => rangeKind(id) === 'gil' },
    {
      id: 'ranges',
      label: 'ranges',
      table: 'ranges',
      collapsed: false,
      wanted: id => rangeKind(id) === 'range',
    },
    { id: 'api', label: 'CUDA API', table: 'apiCalls', collapsed: false },
    { id: 'ops', label: 'framework ops', table: 'ops', collapsed: false },
    { id: 'frames', label: 'Python frames', table: 'frames', collapsed: true },
    { id: 'os', label: 'OS calls', table: 'osCalls', collapsed: true },
    { id: 'profiler', label: 'profiler overhead', table: 'overheads', collapsed: true },
  ];
  const rowsOf = new Map(
    kinds.map(kind => [kind.id, rowsByOwner(ownersOf(profile, kind), profile.threads.length)]),
  );
  const order = threadsInOrder(analyzer, rowsOf);
  const repeated = repeatedNames(profile);
  let tooDeep = 0;
  const tracks = order.flatMap((thread, place) =>
    kinds.flatMap((kind): Track[] => {
      const rows = rowsOf.get(kind.id)![thread];
      if (rows.length === 0) return [];
      const { process, name, tid } = profile.threads[thread];
      const made = makeLanes(rows, hostSource(profile, kind, labels, endNs));
      tooDeep += made.tooDeep;
      const collapsed = kind.collapsed || (place >= OPEN_THREADS && kind.id !== 'gil' && kind.id !== 'gc');
      return [
        {
          id: `thread:${thread}/${kind.id}`,
          group: `process:${process}`,
          label: `${name && !repeated.has(`${process}/${name}`) ? name : `${name || 'thread'} ${tid}`} · ${kind.label}`,
          palette: 'host',
          lanes: made.lanes,
          ...(collapsed ? { collapsed } : {}),
        },
      ];
    }),
  );
  return { tracks, tooDeep };
}

/** Names that several threads of a process have: there the number tells them apart. */
function repeatedNames({ threads }: Profile): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { process, name } of threads) {
    const key = `${process}/${name}`;
    if (seen.has(key)) repeated.add(key);
    seen.add(key);
  }
  return repeated;
}

/** The thread of each row this kind of track shows, NONE for the others. */
function ownersOf(profile: Profile, { table, wanted }: Kind): ArrayLike<number> {
  const rows = tableNamed(profile, table as 'ranges');
  if (!rows) return [];
  if (!wanted) return rows.thread;
  const owners = new Int32Array(rows.length);
  for (let row = 0 as Row<'ranges'>; row < rows.length; row++)
    owners[row] =
      rows.kind[row] !== RangeKind.gpuAnnotation && wanted(rows.name[row]) ? rows.thread[row] : NONE;
  return owners;
}

function rangeKinds(profile: Profile): (nameId: number) => 'gc' | 'gil' | 'range' {
  const known: ('gc' | 'gil' | 'range')[] = [];
  return id => {
    if (id < 0) return 'range';
    const kind = known[id];
    if (kind) return kind;
    const text = profile.strings.text(id);
    const isGil = text === GIL_WAIT || text === GIL_HOLD;
    known[id] = isGil ? 'gil' : activityOf(text) === 'garbage-collection' ? 'gc' : 'range';
    return known[id];
  };
}

function hostSource(profile: Profile, { table, id }: Kind, labels: EventLabels, endNs: number): EventSource {
  const rows = tableNamed(profile, table as 'ranges')!;
  const label = labels.ofNames(table === 'frames' ? shortFrame : undefined);
  const known: number[] = [];
  const tone = (name: number) => (known[name] ??= toneOfName(profile.strings.text(name), table, id));
  const isRange = table === 'ranges';
  return {
    source: table,
    start: rows.start,
    ...(isRange ? {} : { ends: rows.end }),
    // A range still open at the end of the capture reaches to it.
    end(row: Row<'ranges'>) {
      if (!Number.isNaN(rows.end[row])) return rows.end[row];
      const isMoment = isRange && rows.kind[row] === RangeKind.mark;
      return isMoment ? rows.start[row] : Math.max(endNs, rows.start[row]);
    },
    describe(own, labels, tones) {
      for (let at = 0; at < own.length; at++) {
        const row = own[at] as Row<'ranges'>;
        const name = rows.name[row];
        labels[at] = label(name);
        tones[at] = isRange ? toneOfRange(row) : name === NONE ? 0 : tone(name);
      }
    },
  };

  function toneOfRange(row: Row<'ranges'>): number {
    if (rows.kind[row] === RangeKind.mark) return host('mark');
    if (rows.kind[row] === RangeKind.libraryCall) return host('library');
    return rows.name[row] === NONE ? 0 : tone(rows.name[row]);
  }
}

function toneOfName(name: string, table: HostTable, kind: string): number {
  if (table === 'apiCalls') {
    if (GRAPH_LAUNCH.test(name)) return host('graph-launch');
    if (SYNC_CALL.test(name)) return host('synchronisation');
    if (ALLOCATION_CALL.test(name)) return host('allocation');
    return host(/Launch/.test(name) ? 'launch' : 'api');
  }
  if (table === 'osCalls') return host('os-call');
  if (table === 'overheads') return host('profiler-overhead');
  if (kind === 'gil') return host(name === GIL_WAIT ? 'gil' : 'gil-hold');
  if (table === 'ops') return host('op');
  const activity = activityOf(functionOfFrame(name));
  return host(activity ?? (table === 'frames' ? 'frame' : 'range'));
}

/** `…/scheduler.py(12): run_batch` → `run_batch (scheduler.py:12)` */
function shortFrame(name: string): string {
  const match = /([^/\\]+\.py)\((\d+)\): (.*)$/.exec(name);
  return match ? `${match[3]} (${match[1]}:${match[2]})` : name;
}

/** The threads that run steps first, then those with most CUDA calls, then the busiest. */
function threadsInOrder(analyzer: Analyzer, rowsOf: ReadonlyMap<string, readonly Int32Array[]>): number[] {
  const { profile } = analyzer;
  const lanes = analyzer.get(stepsOf)?.lanes ?? [];
  const score = profile.threads.map((_, thread) => {
    const count = (id: string) => rowsOf.get(id)![thread].length;
    const all = [...rowsOf.keys()].reduce((sum, id) => sum + count(id), 0);
    return (lanes.some(lane => lane.thread === thread) ? 1e12 : 0) + count('api') * 1e3 + all;
  });
  return profile.threads
    .map((_, thread) => thread)
    .sort((a, b) => profile.threads[a].process - profile.threads[b].process || score[b] - score[a]);
}

/** First and last moment of everything recorded. */
export function threadSpan(profile: Profile): { startNs: number; endNs: number } {
  let startNs = Infinity;
  let endNs = -Infinity;
  for (const table of Object.values(profile.tables)) {
    const { start, end } = table as unknown as { start: Float64Array; end?: Float64Array; length: number };
    if (!start || start.length === 0) continue;
    startNs = Math.min(startNs, start[0]);
    // Rows are in order of start.
    endNs = Math.max(endNs, start[start.length - 1]);
    if (end) endNs = Math.max(endNs, latestOf(end));
  }
  return Number.isFinite(startNs)
    ? { startNs, endNs: Math.max(endNs, startNs + 1) }
    : { startNs: 0, endNs: 1 };
}

/** The largest that is a number. */
function latestOf(moments: Float64Array): number {
  let latest = -Infinity;
  for (let row = 0; row < moments.length; row++) if (moments[row] > latest) latest = moments[row];
  return latest;
}
