/**
 * Who had a CPU, from context switches: one track per core with the threads that ran on it, and one for each thread that
 * launches GPU work with the cores it ran on.
 *
 *   CPU 3     [python3 4711 ][metrics][python3 4711]
 *   CPU 7                                          [python3 4711]
 *   python3   [CPU 3        ]         [CPU 3      ][CPU 7       ]
 */
import type { Analyzer } from '../analyze/analysis.js';
import { cpuRuns } from '../analyze/host/cpu-runs.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import type { Profile, Row } from '../model/profile.js';
import { threadLabels } from './host-tracks.js';
import type { EventLabels } from './labels.js';
import { type EventSource, makeLanes } from './make-lanes.js';
import { toneOf } from './palettes.js';
import type { Track } from './track.js';

/** More cores than these are folded into their group. */
const OPEN_CORES = 8;

interface CpuTracks {
  readonly tracks: readonly Track[];
  /** Groups that begin folded. */
  readonly folded: ReadonlySet<string>;
}

export function cpuTracks(analyzer: Analyzer, labels: EventLabels): CpuTracks {
  const { profile } = analyzer;
  const switches = profile.tables.contextSwitches;
  if (!switches || switches.length === 0) return { tracks: [], folded: new Set() };
  const runs = analyzer.get(cpuRuns);
  const launching = launchingThreads(analyzer);
  const nameOf = threadLabels(profile);
  const hosts = [...new Set(profile.processes.map(({ host }) => host))];
  const ends = new Float64Array(switches.length).fill(Number.NaN);
  const cores = new Map<string, number[]>();
  const ofThread = new Map<number, number[]>();
  profile.threads.forEach(({ process }, thread) => {
    for (const { row, end, cpu } of runs.of(thread)) {
      ends[row] = end;
      addTo(cores, `${hosts.indexOf(profile.processes[process].host)}/${cpu}`, row);
      if (launching.has(thread)) addTo(ofThread, thread, row);
    }
  });
  const [own, other] = [toneOf('host', 'on-cpu-launching'), toneOf('host', 'on-cpu')];
  const sourceOf = (textOf: (row: number) => string): EventSource => ({
    source: 'contextSwitches',
    labels,
    start: switches.start,
    end: row => ends[row],
    describe(rows, label, tone) {
      for (let i = 0; i < rows.length; i++) {
        label[i] = labels.of(textOf(rows[i]));
        tone[i] = launching.has(switches.thread[rows[i] as Row<'contextSwitches'>]) ? own : other;
      }
    },
  });
  const byThread = sourceOf(row => nameOf(switches.thread[row as Row<'contextSwitches'>]));
  const byCore = sourceOf(row => `CPU ${switches.cpu[row as Row<'contextSwitches'>]}`);
  const made = (rows: number[], source: EventSource) =>
    makeLanes(
      Int32Array.from(rows).sort(
        (a, b) =>
          switches.start[a as Row<'contextSwitches'>] - switches.start[b as Row<'contextSwitches'>] || a - b,
      ),
      source,
    ).lanes;
  const onCores = [...cores]
    .map(([key, rows]) => ({ host: Number(key.split('/')[0]), cpu: Number(key.split('/')[1]), rows }))
    .sort((a, b) => a.host - b.host || a.cpu - b.cpu)
    .map(
      ({ host, cpu, rows }): Track => ({
        id: `cpus:${host}/${cpu}`,
        group: `cpus:${host}`,
        label: `CPU ${cpu}`,
        palette: 'host',
        lanes: made(rows, byThread),
      }),
    );
  const onThreads = [...ofThread].map(
    ([thread, rows]): Track => ({
      id: `thread:${thread}/cpu`,
      group: `process:${profile.threads[thread].process}`,
      label: `${nameOf(thread)} · on CPU`,
      palette: 'host',
      lanes: made(rows, byCore),
    }),
  );
  const groups = [...new Set(onCores.map(({ group }) => group))];
  const isLarge = (id: string) => onCores.filter(({ group }) => group === id).length > OPEN_CORES;
  return { tracks: [...onThreads, ...onCores], folded: new Set(groups.filter(isLarge)) };
}

function addTo<Key>(lists: Map<Key, number[]>, key: Key, row: number): void {
  const list = lists.get(key);
  if (list) list.push(row);
  else lists.set(key, [row]);
}

/** Those that run steps; without steps, all that call CUDA. */
function launchingThreads(analyzer: Analyzer): ReadonlySet<number> {
  const lanes = analyzer.get(stepsOf)?.lanes ?? [];
  if (lanes.length > 0) return new Set(lanes.map(({ thread }) => thread).filter(thread => thread !== NONE));
  const threads = new Set<number>();
  const calls = analyzer.profile.tables.apiCalls;
  for (let row = 0 as Row<'apiCalls'>; row < (calls?.length ?? 0); row++) threads.add(calls!.thread[row]);
  return threads;
}

/** `CPU cores`; of several machines each by its name. */
export function coresLabel({ processes }: Profile, number: number): string {
  const hosts = [...new Set(processes.map(({ host }) => host))];
  return hosts.length > 1 ? `CPU cores · ${hosts[number]}` : 'CPU cores';
}
