/** What is known of a stretch in which a thread had a CPU. */
import type { Analyzer } from '../analyze/analysis.js';
import { cpuRuns } from '../analyze/host/cpu-runs.js';
import { formatDuration } from '../base/units.js';
import type { Row } from '../model/profile.js';
import { ThreadState } from '../model/schema.js';
import type { EventDocument } from './wire.js';

/** Why a thread lost its CPU, as the kernel says. */
const offCpuReasons: Readonly<Record<number, string>> = {
  [ThreadState.running]: 'preempted: it was ready to run',
  [ThreadState.unscheduled]: 'preempted: it was ready to run',
  [ThreadState.interruptible]: 'it waited (interruptible)',
  [ThreadState.uninterruptible]: 'it waited for a device or the kernel (uninterruptible)',
  [ThreadState.waiting]: 'it waited',
  [ThreadState.osRuntime]: 'it waited in a system call',
  [ThreadState.stopped]: 'stopped',
  [ThreadState.terminated]: 'the thread ended',
};

/** `row`: the switch with which it began. */
export function cpuFacts(analyzer: Analyzer, row: number): EventDocument['facts'][number][] {
  const { profile } = analyzer;
  const switches = profile.tables.contextSwitches!;
  const thread = switches.thread[row as Row<'contextSwitches'>];
  const runs = analyzer.get(cpuRuns).of(thread);
  const at = runs.findIndex(run => run.row === row);
  const { name, tid, process } = profile.threads[thread];
  const program = profile.processes[process].name;
  const { [at]: own, [at - 1]: before, [at + 1]: after } = runs;
  const gap = (from: number, to: number) => formatDuration(Math.max(0, to - from));
  return [
    { label: 'CPU', text: String(own.cpu) },
    {
      label: 'thread',
      text: `${name || 'thread'} (${tid})${program ? ` of ${program}` : ''}`,
    },
    ...(before
      ? [
          {
            label: 'before',
            text: `${gap(before.end, own.start)} without a CPU${before.cpu === own.cpu ? '' : `, then moved from CPU ${before.cpu}`}`,
          },
        ]
      : []),
    ...(after ? [{ label: 'after', text: `${gap(own.end, after.start)} without a CPU` }] : []),
    ...(offCpuReasons[own.state] ? [{ label: 'ended because', text: offCpuReasons[own.state] }] : []),
  ];
}
