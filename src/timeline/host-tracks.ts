/** What host threads did: ranges, CUDA calls, framework ops, Python frames, system calls; GC and GIL on lanes of their own. */

import type { Analyzer } from '../analyze/analysis.js';
import { stepsOf } from '../analyze/inference/steps.js';
import type { Profile, Row } from '../model/profile.js';
import { tableNamed } from '../model/rows.js';
import { type HostLanes, type HostLanesOf, hostKinds, hostLanes, type UnnamedLane } from './host-lanes.js';
import { type EventLabels, labelCells } from './labels.js';
import { levelsWith } from './slice-pyramid.js';
import { type HostTable, type LaneData, rowAt, type SliceLane, type Track } from './track.js';

/** Threads beyond these, least busy last, are folded away. */
const OPEN_THREADS = 2;

export function hostTracks(analyzer: Analyzer, labels: EventLabels): { tracks: Track[]; tooDeep: number } {
  const { profile } = analyzer;
  const byThread = tracksByThread(analyzer.get(hostLanes), profile.threads.length);
  const nameOf = threadLabels(profile);
  let tooDeep = 0;
  const tracks = threadsInOrder(analyzer, byThread).flatMap((thread, place) =>
    byThread[thread].map((track): Track => {
      const kind = hostKinds[track.kind];
      const { process } = profile.threads[thread];
      const named = lanesNamed(profile, kind.table, labels);
      tooDeep += track.tooDeep;
      const collapsed = kind.collapsed || (place >= OPEN_THREADS && kind.id !== 'gil' && kind.id !== 'gc');
      return {
        id: `thread:${thread}/${kind.id}`,
        group: `process:${process}`,
        label: `${nameOf(thread)} · ${kind.label}`,
        palette: 'host',
        lanes: track.lanes.map(named),
        ...(collapsed ? { collapsed } : {}),
      };
    }),
  );
  return { tracks, tooDeep };
}

/** Those of a thread in order of their kinds. */
function tracksByThread({ tracks }: HostLanes, threads: number): HostLanesOf[][] {
  const byThread = Array.from({ length: threads }, (): HostLanesOf[] => []);
  for (const track of tracks) byThread[track.thread].push(track);
  return byThread;
}

function lanesNamed(
  profile: Profile,
  table: HostTable,
  labels: EventLabels,
): (lane: UnnamedLane) => SliceLane {
  const { name } = tableNamed(profile, table as 'ranges')!;
  const labelOf = labels.ofNames(table === 'frames' ? shortFrame : undefined);
  return ({ levels, ...lane }) => {
    const label = labelCells(lane.length, labels, cells => {
      for (let at = 0; at < lane.length; at++)
        cells[at] = labelOf(name[rowAt(lane.row, at) as Row<'ranges'>]);
    });
    const data: LaneData = { source: table, ...lane, label };
    return { kind: 'slices', data, levels: levelsWith(data, levels) };
  };
}

/** `python3`; with its number where several threads of the process have the name. */
export function threadLabels(profile: Profile): (thread: number) => string {
  const repeated = repeatedNames(profile);
  return thread => {
    const { process, name, tid } = profile.threads[thread];
    return name && !repeated.has(`${process}/${name}`) ? name : `${name || 'thread'} ${tid}`;
  };
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

/** `…/scheduler.py(12): run_batch` → `run_batch (scheduler.py:12)` */
function shortFrame(name: string): string {
  const match = /([^/\\]+\.py)\((\d+)\): (.*)$/.exec(name);
  return match ? `${match[3]} (${match[1]}:${match[2]})` : name;
}

/** The threads that run steps first, then those with most CUDA calls, then the busiest. */
function threadsInOrder(analyzer: Analyzer, byThread: readonly (readonly HostLanesOf[])[]): number[] {
  const { profile } = analyzer;
  const lanes = analyzer.get(stepsOf)?.lanes ?? [];
  const score = profile.threads.map((_, thread) => {
    const own = byThread[thread];
    const calls = own.find(({ kind }) => hostKinds[kind].id === 'api')?.events ?? 0;
    const all = own.reduce((sum, { events }) => sum + events, 0);
    return (lanes.some(lane => lane.thread === thread) ? 1e12 : 0) + calls * 1e3 + all;
  });
  return profile.threads
    .map((_, thread) => thread)
    .sort((a, b) => profile.threads[a].process - profile.threads[b].process || score[b] - score[a]);
}
