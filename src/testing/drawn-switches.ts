/** Context switches of a drawn engine: its thread has a CPU all the time, except where a step says otherwise. */
import type { ProfileBuilder } from '../model/builder.js';
import type { ThreadRow } from '../model/profile.js';

export type OffCpuReason = 'taken' | 'moved' | 'waiting';

interface Call {
  readonly start: number;
  readonly end: number;
  readonly thread: number;
  readonly name: string;
}

export class DrawnSwitches {
  private readonly switches: { at: number; thread: number; cpu: number; isIn: number }[] = [];
  private readonly osCalls: Call[] = [];
  private cpu = 3;

  constructor(private readonly builder: ProfileBuilder) {}

  /** `stepStart`: from here on the thread has its CPU, until `start`. */
  add(thread: number, start: number, end: number, stepStart: number, how: OffCpuReason): void {
    const { builder } = this;
    const change = (at: number, owner: number, isIn: number) =>
      this.switches.push({ at, thread: owner, cpu: this.cpu, isIn });
    const call = (from: number, to: number, owner: number, name: string) =>
      this.osCalls.push({ start: from, end: to, thread: owner, name });
    if (this.switches.length === 0) change(stepStart, thread, 1);
    change(start, thread, 0);
    const other = builder.thread(builder.threads[thread as ThreadRow].process, 2);
    builder.threads[other].name = 'metrics';
    if (how === 'taken') {
      change(start + 1e3, other, 1);
      change(end - 1e3, other, 0);
    }
    if (how === 'moved') this.cpu = this.cpu === 3 ? 7 : 3;
    // Calls of the system are traced, so that a switch outside of them is not one of their waits.
    call(stepStart, stepStart + 500, thread, 'write');
    if (how === 'waiting') {
      call(start - 100, end + 100, thread, 'sem_wait');
      call(end - 20e3, end - 5e3, other, 'write');
    }
    change(end, thread, 1);
  }

  addTables(): void {
    const { switches, osCalls, builder } = this;
    if (switches.length === 0) return;
    builder.addTable(
      'contextSwitches',
      {
        start: Float64Array.from(switches, ({ at }) => at),
        thread: Int32Array.from(switches, ({ thread }) => thread),
        cpu: Int32Array.from(switches, ({ cpu }) => cpu),
        isIn: Uint8Array.from(switches, ({ isIn }) => isIn),
      },
      switches.length,
    );
    builder.addTable(
      'osCalls',
      {
        start: Float64Array.from(osCalls, ({ start }) => start),
        end: Float64Array.from(osCalls, ({ end }) => end),
        thread: Int32Array.from(osCalls, ({ thread }) => thread),
        name: Int32Array.from(osCalls, ({ name }) => builder.strings.intern(name)),
      },
      osCalls.length,
    );
  }
}
