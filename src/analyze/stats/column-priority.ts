/** Which of NVIDIA's columns a narrow terminal can do without. */
import { KEEP, type TableColumn } from '../block.js';

const spread = (statistic: string) => ['', 'T', 'A', 'Q', 'K', 'Proj '].map(of => of + statistic);

/** Least needed first. */
const leastNeeded: readonly (readonly string[])[] = [
  spread('StdDev'),
  spread('Min'),
  spread('Max'),
  spread('Med'),
  ['GreenCtx', 'Green Context ID'],
  ['RangeId', 'ParentId', 'RangeStack', 'NameTree'],
  ['Reg/Trd', 'StcSMem', 'DymSMem'],
  ['GridXYZ', 'BlockXYZ', 'GrdX', 'GrdY', 'GrdZ', 'BlkX', 'BlkY', 'BlkZ'],
  ['SrcMemKd', 'DstMemKd', 'Src Kind', 'Dst Kind', 'Memory Kind'],
  ['Ctx', 'Context ID'],
  ['Result', 'T-Pri'],
  ['CorrId', 'CorrID'],
  ['Device', 'Pid', 'Tid', 'PID', 'TID', 'DevId', 'Device ID'],
  ['Category', 'Thread Name', 'Style'],
  ['Queue Start', 'Kernel Start', 'End', 'Lvl', 'NumChild', 'Avg Range Lvl', 'Orig Start', 'Orig Duration'],
  [...spread('Avg'), 'Avg GPU Ops', 'Avg Num Child'],
];

const essential = [
  ...['Time (%)', 'Total Time', 'Start', 'Duration'],
  ...['Name', 'Operation', 'API Name', 'Kernel Name', 'Range', 'NVTX Range'],
];

const priorities: ReadonlyMap<string, number> = new Map([
  ...essential.map(name => [name, KEEP] as const),
  ...leastNeeded.flatMap((names, i) => names.map(name => [name, i - leastNeeded.length] as const)),
]);

export function withPriority(column: TableColumn): TableColumn {
  const priority = priorities.get(column.header.replace(/ \((ns|MB|MB\/s)\)$/, ''));
  return priority === undefined ? column : { ...column, priority };
}
