/** How CUDA graphs show up in a trace: Kineto has no switch for it, so the kernels tell. */
import type { StringTable } from '../../../base/string-table.js';
import type { RawTable } from '../../../model/builder.js';
import type { GraphMode } from '../../../model/profile.js';

interface Taken {
  length: number;
  columns: RawTable;
}

/** Undefined when graphs were launched but none of their work is in the trace, or no calls were recorded at all. */
export function graphTracing(strings: StringTable, kernels: Taken, calls: Taken): GraphMode | undefined {
  if (kernels.columns.graphNode) return 'nodes';
  if (calls.length === 0) return undefined;
  const launches = new Set<number>();
  const isLaunch = new Map<number, boolean>();
  const { name, correlation } = calls.columns;
  for (let row = 0; row < calls.length; row++) {
    let launch = isLaunch.get(name[row]);
    if (launch === undefined) {
      launch = /^(cuda|cu|hip)GraphLaunch/.test(strings.text(name[row]));
      isLaunch.set(name[row], launch);
    }
    if (launch && correlation) launches.add(correlation[row]);
  }
  if (launches.size === 0) return 'none';
  const work = kernels.columns.correlation;
  for (let row = 0; row < kernels.length; row++) if (work && launches.has(work[row])) return 'nodes';
  return undefined;
}
