/** The three rules about memory operations: the same table over differently chosen rows. */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import type { TableColumn } from '../block.js';
import { cells } from '../cells.js';
import { numbers, texts } from './columns.js';
import { memoryKindName } from './gpu-operations.js';
import type { ReportOptions } from './report.js';
import { limitRows } from './rule-rows.js';

/** Rows of `pool` whose launching call has a matching name, longest first. */
export function memoryRule(
  profile: Profile,
  pool: 'copies' | 'memsets',
  isWanted: (row: number) => boolean,
  callName: (name: string) => boolean,
  options: ReportOptions,
): TableColumn[] {
  const work = cells(profile, pool)!;
  const calls = cells(profile, 'apiCalls')!;
  const found: number[] = [];
  const nameOf = (row: number) =>
    work.launch[row] !== NONE ? profile.strings.text(calls.name[work.launch[row]]) : '';
  for (let row = 0; row < work.length; row++) if (isWanted(row) && callName(nameOf(row))) found.push(row);
  const duration = (row: number) => work.end[row] - work.start[row];
  found.sort((a, b) => duration(b) - duration(a));
  const rows = limitRows(found, options);
  const stream = (row: number) => profile.streams[work.stream[row]];
  const copies = cells(profile, 'copies');
  const memsets = cells(profile, 'memsets');
  const kinds =
    pool === 'copies'
      ? [
          texts('Src Kind', rows, row => memoryKindName(copies!.sourceMemory?.[row])),
          texts('Dst Kind', rows, row => memoryKindName(copies!.targetMemory?.[row])),
        ]
      : [texts('Memory Kind', rows, row => memoryKindName(memsets!.memory?.[row]))];
  return [
    numbers('Duration (ns)', 'ns', rows, duration),
    numbers('Start (ns)', 'timestamp', rows, row => work.start[row]),
    ...kinds,
    numbers('Bytes (MB)', 'bytes', rows, row => work.bytes[row]),
    numbers('PID', 'id', rows, row => profile.processes[stream(row).process].pid),
    numbers('Device ID', 'id', rows, row => profile.gpus[stream(row).gpu].deviceId),
    numbers('Context ID', 'id', rows, row => stream(row).contextId),
    numbers('Green Context ID', 'id', rows, row => stream(row).greenContextId || Number.NaN),
    numbers('Stream ID', 'id', rows, row => stream(row).streamId),
    texts('API Name', rows, nameOf),
  ];
}
