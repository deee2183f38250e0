/** GPU work and API calls pooled into one list of named durations, for reports that cover several kinds at once. */
import type { Profile } from '../../model/profile.js';
import { texts, timeSummaryColumns } from './columns.js';
import { apiName, apiNameKeys, cells, copyName, kernelNames, MEMSET_NAME } from './gpu-operations.js';
import { byTotal, type Group, groupSpans, groupValues } from './grouping.js';
import type { ReportOptions } from './report.js';

export type Pool = 'apiCalls' | 'kernels' | 'copies' | 'memsets';
export type Category = 'CUDA_API' | 'CUDA_KERNEL' | 'MEMORY_OPER';

export interface NamedGroup extends Group<number> {
  readonly name: string;
  readonly category: Category;
}

/** Groups each pool by printed name. */
export function groupPools(
  profile: Profile,
  pools: readonly Pool[],
  options: ReportOptions,
  measure: 'duration' | 'bytes' = 'duration',
): NamedGroup[] {
  return pools.flatMap((pool): NamedGroup[] => {
    const table = cells(profile, pool);
    if (!table) return [];
    const bytes = measure === 'bytes' && 'bytes' in table ? (table.bytes as ArrayLike<number>) : undefined;
    const group = (keys: ArrayLike<number>, name: (key: number) => string, category: Category) =>
      (bytes ? groupValues(keys, bytes) : groupSpans(keys, table.start, table.end)).map(found => ({
        ...found,
        name: name(found.key),
        category,
      }));
    switch (pool) {
      case 'kernels': {
        const names = kernelNames(profile, options);
        return group(names.keys, names.text, 'CUDA_KERNEL');
      }
      case 'copies':
        return group(cells(profile, 'copies')!.kind, copyName, 'MEMORY_OPER');
      case 'memsets':
        return group(new Int32Array(table.length), () => MEMSET_NAME, 'MEMORY_OPER');
      case 'apiCalls':
        return group(apiNameKeys(profile), id => apiName(profile.strings.text(id)), 'CUDA_API');
    }
  });
}

export function pooledSummary(profile: Profile, pools: readonly Pool[], options: ReportOptions) {
  const groups = groupPools(profile, pools, options).sort(byTotal);
  return [
    ...timeSummaryColumns(
      groups.map(group => group.summary),
      'Instances',
    ),
    texts('Category', groups, group => group.category),
    texts('Operation', groups, group => group.name),
  ];
}
