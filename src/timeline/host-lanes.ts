/**
 * When host threads did what, in lanes that can be drawn at any zoom. Names are not known yet, and nothing of what the
 * GPU did is needed: of large profiles a thread that helps makes these first (`threads/help-ahead.ts`).
 */
import type { Derived } from '../analyze/analysis.js';
import { NONE } from '../base/column.js';
import { latestOf } from '../base/intervals.js';
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
import { type RowTimes, rowsByOwner, rowsKept, timesInLanes } from './make-lanes.js';
import { toneOf } from './palettes.js';
import { type UnnamedLevel, unnamedLevels } from './slice-pyramid.js';
import type { HostTable, LaneData } from './track.js';

const host = (id: string) => toneOf('host', id);

export interface HostLanes {
  /** First and last moment of everything recorded. */
  readonly span: { readonly startNs: number; readonly endNs: number };
  /** Threads and kinds of tracks with events. */
  readonly tracks: readonly HostLanesOf[];
}

export interface HostLanesOf {
  readonly thread: number;
  /** Its place in `hostKinds`. */
  readonly kind: number;
  /** All of them, also those that found no lane. */
  readonly events: number;
  readonly tooDeep: number;
  readonly lanes: readonly UnnamedLane[];
}

export interface UnnamedLane extends Omit<LaneData, 'source' | 'label'> {
  readonly levels: readonly UnnamedLevel[];
}

export const hostLanes: Derived<HostLanes> = {
  id: 'host-lanes',
  reads: { ranges: [], apiCalls: [], ops: [], frames: [], osCalls: [], overheads: [] },
  uses: [],
  compute({ profile }) {
    const span = wholeSpan(profile);
    const rangeKind = rangeKinds(profile);
    const tracks = hostKinds.flatMap((kind, place) =>
      rowsByOwner(ownersOf(profile, kind, rangeKind), profile.threads.length).flatMap(
        (rows, thread): HostLanesOf[] => {
          if (rows.length === 0) return [];
          const { lanes, tooDeep } = timesInLanes(rows, timesOf(profile, kind, span.endNs));
          const tones = tonesOf(profile, kind);
          const painted = lanes.map((own): UnnamedLane => {
            const events = { ...own, row: rowsKept(own.row), tone: tones(own.row) };
            return { ...events, levels: unnamedLevels(events) };
          });
          return [{ thread, kind: place, events: rows.length, tooDeep, lanes: painted }];
        },
      ),
    );
    return { span, tracks };
  },
};

/** Memory that another thread can be given: columns of the profile are not among it. */
export const ownBuffersOf = ({ tracks }: HostLanes): ArrayBuffer[] =>
  tracks.flatMap(({ lanes }) =>
    lanes.flatMap(({ row, tone, levels }) =>
      [
        ...(typeof row === 'number' ? [] : [row]),
        tone,
        ...levels.flatMap(({ merged }) => (merged ? Object.values(merged) : [])),
      ].map(({ buffer }) => buffer as ArrayBuffer),
    ),
  );

interface Kind {
  readonly id: string;
  readonly label: string;
  readonly table: HostTable;
  readonly collapsed: boolean;
  /** Which of the ranges it shows. */
  readonly ranges?: RangeSort;
}

type RangeSort = 'gc' | 'gil' | 'range';

export const hostKinds: readonly Kind[] = [
  { id: 'gc', label: 'garbage collection', table: 'ranges', collapsed: false, ranges: 'gc' },
  { id: 'gil', label: 'GIL', table: 'ranges', collapsed: false, ranges: 'gil' },
  { id: 'ranges', label: 'ranges', table: 'ranges', collapsed: false, ranges: 'range' },
  { id: 'api', label: 'CUDA API', table: 'apiCalls', collapsed: false },
  { id: 'ops', label: 'framework ops', table: 'ops', collapsed: false },
  { id: 'frames', label: 'Python frames', table: 'frames', collapsed: true },
  { id: 'os', label: 'OS calls', table: 'osCalls', collapsed: true },
  { id: 'profiler', label: 'profiler overhead', table: 'overheads', collapsed: true },
];

/** The thread of each row this kind of track shows, NONE for the others. */
function ownersOf(
  profile: Profile,
  { table, ranges }: Kind,
  rangeKind: (nameId: number) => RangeSort,
): ArrayLike<number> {
  const rows = tableNamed(profile, table as 'ranges');
  if (!rows) return [];
  if (!ranges) return rows.thread;
  const owners = new Int32Array(rows.length);
  for (let row = 0 as Row<'ranges'>; row < rows.length; row++)
    owners[row] =
      rows.kind[row] !== RangeKind.gpuAnnotation && rangeKind(rows.name[row]) === ranges
        ? rows.thread[row]
        : NONE;
  return owners;
}

function rangeKinds(profile: Profile): (nameId: number) => RangeSort {
  const known: RangeSort[] = [];
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

function timesOf(profile: Profile, { table }: Kind, endNs: number): RowTimes {
  const rows = tableNamed(profile, table as 'ranges')!;
  const isRange = table === 'ranges';
  return {
    start: rows.start,
    ...(isRange ? {} : { ends: rows.end }),
    // A range still open at the end of the capture reaches to it.
    end(row: Row<'ranges'>) {
      if (!Number.isNaN(rows.end[row])) return rows.end[row];
      const isMoment = isRange && rows.kind[row] === RangeKind.mark;
      return isMoment ? rows.start[row] : Math.max(endNs, rows.start[row]);
    },
  };
}

function tonesOf(profile: Profile, { table, id }: Kind): (own: Int32Array) => Uint8Array {
  const rows = tableNamed(profile, table as 'ranges')!;
  const isRange = table === 'ranges';
  const known: number[] = [];
  const toneOf = (name: number) =>
    name === NONE ? 0 : (known[name] ??= toneOfName(profile.strings.text(name), table, id));
  return own => {
    const tone = new Uint8Array(own.length);
    for (let at = 0; at < own.length; at++) {
      const row = own[at] as Row<'ranges'>;
      tone[at] = (isRange ? toneOfKind(rows.kind[row]) : undefined) ?? toneOf(rows.name[row]);
    }
    return tone;
  };
}

function toneOfKind(kind: number): number | undefined {
  if (kind === RangeKind.mark) return host('mark');
  return kind === RangeKind.libraryCall ? host('library') : undefined;
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

function wholeSpan(profile: Profile): { startNs: number; endNs: number } {
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
