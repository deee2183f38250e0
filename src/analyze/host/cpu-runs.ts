/**
 * When each thread had a CPU, from context switches.
 *
 *   switches   in@3      out  in@3  out      in@7
 *   runs       █████████......██████.........████      a migration: from CPU 3 to 7
 */
import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import { ThreadState } from '../../model/schema.js';
import type { Derived } from '../analysis.js';

interface CpuRun {
  /** The switch it begins with, a row of contextSwitches. */
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly cpu: number;
  /** Why it ended; see ThreadState. */
  readonly state: number;
}

export interface CpuRuns {
  /** In order of time; none for a thread that was never seen to switch. */
  of(thread: number): readonly CpuRun[];
  /** Threads that ran on a CPU, in order of time. */
  onCpu(cpu: number): readonly { readonly thread: number; readonly start: number; readonly end: number }[];
  /** The kernel's reasons for switching are recorded. */
  readonly hasStates: boolean;
  /** Switches whose counterpart is missing. */
  readonly lost: number;
}

export const cpuRuns: Derived<CpuRuns> = {
  id: 'cpu-runs',
  reads: { contextSwitches: ['state'] },
  uses: [],
  needs: [['contextSwitches']],
  compute({ profile }) {
    const switches = profile.tables.contextSwitches!;
    const runs: CpuRun[][] = profile.threads.map(() => []);
    const onCpu = new Map<number, { thread: number; start: number; end: number }[]>();
    const open = new Map<number, { row: number; start: number; cpu: number }>();
    let hasStates = false;
    let lost = 0;
    for (let row = 0 as Row<'contextSwitches'>; row < switches.length; row++) {
      const thread = switches.thread[row];
      if (thread === NONE) continue;
      const running = open.get(thread);
      if (switches.isIn[row]) {
        // Its end was lost, and nobody knows when it was.
        if (running) lost++;
        open.set(thread, { row, start: switches.start[row], cpu: switches.cpu[row] });
        continue;
      }
      if (!running || running.cpu !== switches.cpu[row]) {
        lost++;
        open.delete(thread);
        continue;
      }
      open.delete(thread);
      const state = switches.state?.[row] ?? ThreadState.unknown;
      if (state !== ThreadState.unknown && state !== ThreadState.terminated) hasStates = true;
      add(thread, { ...running, end: switches.start[row], state });
    }
    // Who runs when the recording ends was seen to run until the last switch of anyone.
    const last = switches.start[(switches.length - 1) as Row<'contextSwitches'>];
    for (const [thread, running] of open) add(thread, { ...running, end: last, state: ThreadState.unknown });
    for (const list of onCpu.values()) list.sort((a, b) => a.start - b.start);
    return { of: thread => runs[thread], onCpu: cpu => onCpu.get(cpu) ?? [], hasStates, lost };

    function add(thread: number, run: CpuRun): void {
      runs[thread].push(run);
      const list = onCpu.get(run.cpu);
      if (list) list.push({ thread, start: run.start, end: run.end });
      else onCpu.set(run.cpu, [{ thread, start: run.start, end: run.end }]);
    }
  },
};
