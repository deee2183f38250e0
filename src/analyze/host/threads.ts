/** What the threads and processes of a server do per step, whom they wait for, and whether they get a CPU. */
import { type Intervals, intersect, lengthWithin, totalLength, unionOf } from '../../base/intervals.js';
import { capabilities } from '../../catalog/capabilities.js';
import { roleOfThread } from '../../catalog/thread-roles.js';
import type { Profile, Row } from '../../model/profile.js';
import { FaultSide } from '../../model/schema.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { notRecorded } from '../analysis.js';
import type { Block } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { rowsTable } from '../rows-table.js';
import { cpuRuns } from './cpu-runs.js';
import { hostCounters } from './host-counters.js';
import { idleIntervals } from './idle-intervals.js';
import { launchingThreads } from './launching-threads.js';
import { offCpu } from './off-cpu.js';
import { threadStates } from './thread-states.js';
import { waitedFor } from './waited-for.js';

interface Waited {
  readonly thread: string;
  readonly tid: number;
  readonly nsPerStep: number;
}

const fields = {
  key: keyField,
  process: field.text('Process', 'name, or pid', { priority: -1 }),
  thread: field.text('Thread', 'name and tid'),
  tid: quiet(field.id('Tid', 'thread id')),
  role: maybe(
    field.text('Role', 'scheduler, worker, API server …, by the names that engines give', { priority: -2 }),
  ),
  launches: field.flag('Launches', 'launches GPU work of the selected steps'),
  cudaNs: field.nsMean('CUDA', 'inside CUDA calls, per step'),
  waitNs: maybe(field.nsMean('Waiting', 'inside OS calls that wait, apart from CUDA calls, per step')),
  gilWaitNs: maybe(field.nsMean('GIL wait', 'waiting for the GIL, per step')),
  onCpuNs: maybe(field.nsMean('On CPU', 'had a CPU, per step')),
  contentionNs: maybe(field.nsMean('Contention', 'could run, but another thread had its CPU, per step')),
  unexplainedNs: maybe(
    field.nsMean('Off CPU', 'without a CPU in its own code for an unknown reason, per step', {
      priority: -1,
    }),
  ),
  delayedNs: maybe(
    field.nsMean('GPU idle', 'idle time of its GPUs during contention, per step', { priority: -1 }),
  ),
  switches: maybe(field.mean('Switches', 'times it lost a CPU, per step')),
  migrations: maybe(field.mean('Migrations', 'times it went on on another CPU, per step')),
  cpus: maybe(field.count('CPUs', 'it ran on, in the selected steps', { priority: -2 })),
  pageFaults: maybe(
    field.mean('Page faults', 'of unified memory on the CPU, of the process, per step', { priority: -2 }),
  ),
  kernelNs: maybe(
    field.nsMean('In kernel', 'in code of the system, counted by the agent without the profiler, per step', {
      priority: -2,
    }),
  ),
  faults: maybe(
    field.mean('Faults', 'page faults, counted by the agent without the profiler, per step', {
      priority: -1,
    }),
  ),
  preemptions: maybe(
    field.mean('Preempted', 'times it lost its CPU unasked, counted by the agent, per step', {
      priority: -1,
    }),
  ),
  waitsFor: maybe(field.text('Waits for', 'the thread it waits for most')),
  waited: field.list<Waited>('Waited for', 'threads it waits for'),
  takenBy: field.list<Waited>('Taken by', 'threads that had its CPU during contention, in the whole capture'),
};

type ThreadsRow = RowOf<typeof fields>;

export const threads: Analysis<ThreadsRow, AnalysisResult<ThreadsRow>> = {
  id: 'threads',
  title: 'Threads',
  question: 'What do threads and processes do per step, whom do they wait for, and do they get a CPU?',
  reads: { apiCalls: [], osCalls: [], pageFaults: [], contextSwitches: ['state'] },
  uses: [
    threadStates,
    cpuRuns,
    offCpu,
    waitedFor,
    selectedMoments,
    launchingThreads,
    hostCounters,
    idleIntervals,
  ],
  needs: [['apiCalls', 'osCalls', 'contextSwitches']],
  // It lists names of threads and processes, which a result that is passed on need not hold.
  onlyAsked: true,
  fields,
  describe({ rows, summary }, profile) {
    const missing = [
      ...(summary!.waits === 'recorded' ? [] : [`Waits: ${absent(profile, 'osCalls')}.`]),
      ...(summary!.contention === 'not recorded'
        ? [`CPU contention and migrations: ${absent(profile, 'contextSwitches')}.`]
        : summary!.contention === 'cannot tell'
          ? [`CPU contention cannot be determined without OS calls: ${absent(profile, 'osCalls')}.`]
          : []),
    ];
    const remarks: Block[] =
      missing.length === 0
        ? []
        : [{ kind: 'statement', id: 'threads-missing', title: 'Threads', lines: missing, quiet: true }];
    return [rowsTable(threads, rows), ...remarks];
  },
  compute({ profile, use, useIfRecorded }) {
    const moments = use(selectedMoments);
    const states = use(threadStates);
    const waiters = use(waitedFor);
    const idle = use(idleIntervals);
    const runs = useIfRecorded(cpuRuns);
    const off = useIfRecorded(offCpu);
    const launching = new Set(
      [...(useIfRecorded(launchingThreads)?.values() ?? [])].flatMap(own => [...own]),
    );
    const { inWindows, outside } = use(hostCounters);
    const faults = faultsByProcess(profile, moments.holds);
    const hasGil = profile.threads.some((_, thread) => states(thread).gilWaits.length > 0);
    const nameOf = (thread: number) => {
      const { name, tid } = profile.threads[thread];
      return name === '' ? String(tid) : `${name} (${tid})`;
    };
    const rows = profile.threads.flatMap(({ process, tid, name }, thread): ThreadsRow[] => {
      const periods = moments.periods(process);
      const own = states(thread);
      const ownRuns = (runs?.of(thread) ?? []).filter(run => touches(periods, run.start, run.end));
      const cudaNs = within(own.cuda, periods);
      const waitNs = within(own.waits, periods);
      if (cudaNs + waitNs + within(own.gilWaits, periods) === 0 && ownRuns.length === 0) return [];
      const per = (ns: number) => ns / moments.steps;
      const reasons = off?.(thread);
      const out = reasons?.isUnknown ? undefined : reasons;
      const { name: program, pid } = profile.processes[process];
      const delayed = out && intersect(clipped(out.contention, periods), idle(process));
      const waited = listed(waiters.of(thread, periods));
      // Outside windows nobody records: that is the program's own.
      const counted = outside.get(tid) ?? inWindows.get(tid);
      return [
        {
          key: `thread:${pid}/${tid}`,
          process: program === '' ? String(pid) : program,
          thread: nameOf(thread),
          tid,
          role: roleOfThread(program, name) || null,
          launches: launching.has(thread),
          cudaNs: per(cudaNs),
          waitNs: profile.tables.osCalls ? per(waitNs) : null,
          gilWaitNs: hasGil ? per(within(own.gilWaits, periods)) : null,
          onCpuNs: runs ? per(lengthOfRuns(ownRuns, periods)) : null,
          contentionNs: out ? per(within(out.contention, periods)) : null,
          unexplainedNs: out ? per(within(out.unexplained, periods)) : null,
          delayedNs: delayed ? per(totalLength(delayed)) : null,
          switches: runs ? ownRuns.length / moments.steps : null,
          migrations: runs ? migrationsOf(runs.of(thread), process) / moments.steps : null,
          cpus: runs ? new Set(ownRuns.map(({ cpu }) => cpu)).size : null,
          pageFaults: faults ? (faults.get(process) ?? 0) / moments.steps : null,
          kernelNs: counted?.systemNs ?? null,
          faults: counted?.pageFaults ?? null,
          preemptions: (inWindows.get(tid) ?? counted)?.involuntarySwitches ?? null,
          waitsFor: waited[0]?.thread ?? null,
          waited,
          takenBy: listed(out?.takers ?? new Map()),
        },
      ];

      function listed(byThread: ReadonlyMap<number, number>): Waited[] {
        return [...byThread]
          .sort((a, b) => b[1] - a[1])
          .slice(0, LISTED)
          .map(([other, ns]) => ({
            ...{ thread: nameOf(other), tid: profile.threads[other].tid, nsPerStep: per(ns) },
          }));
      }
    });
    if (rows.length === 0) throw notRecorded(profile, ['osCalls']);
    rows.sort(
      (a, b) =>
        Number(b.launches) - Number(a.launches) || b.cudaNs - a.cudaNs || (b.waitNs ?? 0) - (a.waitNs ?? 0),
    );
    return {
      rows,
      summary: {
        steps: moments.steps,
        waits: profile.tables.osCalls ? 'recorded' : 'not recorded',
        contention: !runs
          ? 'not recorded'
          : off
            ? runs.hasStates
              ? 'by reason'
              : 'by OS calls'
            : 'cannot tell',
        lostSwitches: runs?.lost ?? null,
      },
    };

    function migrationsOf(
      all: readonly { readonly start: number; readonly cpu: number }[],
      process: number,
    ): number {
      return all.filter(
        ({ start, cpu }, i) => i > 0 && all[i - 1].cpu !== cpu && moments.holds(process, start),
      ).length;
    }
  },
};

const LISTED = 10;

function absent(profile: Profile, table: 'osCalls' | 'contextSwitches'): string {
  const hint = capabilities(profile).find(ability => ability.table === table)?.hint;
  return `not recorded${hint ? `, ${hint}` : ''}`;
}

const clipped = (list: Intervals, periods: Intervals | undefined): Intervals =>
  periods ? intersect(list, periods) : list;
const within = (list: Intervals, periods: Intervals | undefined): number =>
  totalLength(clipped(list, periods));

function touches(periods: Intervals | undefined, start: number, end: number): boolean {
  return !periods || lengthWithin(periods, start, end) > 0;
}

const lengthOfRuns = (
  runs: readonly { readonly start: number; readonly end: number }[],
  periods: Intervals | undefined,
): number => within(asIntervals(runs), periods);

function asIntervals(runs: readonly { readonly start: number; readonly end: number }[]): Intervals {
  return unionOf({
    length: runs.length,
    start: Float64Array.from(runs, ({ start }) => start),
    end: Float64Array.from(runs, ({ end }) => end),
  });
}

/** Undefined where page faults were not recorded. */
function faultsByProcess(
  { tables: { pageFaults } }: Profile,
  holds: (process: number, moment: number) => boolean,
): Map<number, number> | undefined {
  if (!pageFaults) return undefined;
  const found = new Map<number, number>();
  for (let row = 0 as Row<'pageFaults'>; row < pageFaults.length; row++) {
    const process = pageFaults.process[row];
    if (pageFaults.side[row] !== FaultSide.cpu || !holds(process, pageFaults.start[row])) continue;
    found.set(process, (found.get(process) ?? 0) + pageFaults.faults[row]);
  }
  return found;
}
