/** The three rules about memory operations: the same table over differently chosen rows. */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import type { TableColumn } from '../block.js';
import { numbers, texts } from './columns.js';
import { memoryKindName } from './gpu-operations.js';
import type { ReportOptions } from './report.js';
import { limitRows } from './rule-rows.js';

type MemoryRow = Row<'copies' | 'memsets'>;

/** Rows of `pool` whose launching call has a matching name, longest first. */
export function memoryRule(
  profile: Profile,
  pool: 'copies' | 'memsets',
  isWanted: (row: MemoryRow) => boolean,
  callName: (name: string) => boolean,
  options: ReportOptions,
): TableColumn[] {
  const work = tableNamed(profile, pool)!;
  const calls = profile.tables.apiCalls!;
  const found: MemoryRow[] = [];
  const nameOf = (row: MemoryRow) =>
    work.launch[row] !== NONE ? profile.strings.text(calls.name[work.launch[row]]) : '';
  for (let row = 0 as MemoryRow; row < work.length; row++)
    if (isWanted(row) && callName(nameOf(row))) found.push(row);
  const duration = (row: MemoryRow) => work.end[row] - work.start[row];
  found.sort((a, b) => duration(b) - duration(a));
  const rows = limitRows(found, options);
  const stream = (row: MemoryRow) => profile.streams[work.stream[row]];
  const copies = profile.tables.copies;
  const memsets = profile.tables.memsets;
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
