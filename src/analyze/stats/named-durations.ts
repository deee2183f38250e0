/** GPU work and API calls pooled into one list of named durations, for reports that cover several kinds at once. */
import type { Profile } from '../../model/profile.js';
import { texts, timeSummaryColumns } from './columns.js';
import { apiName, apiNameKeys, cells, copyName, kernelNames, MEMSET_NAME } from './gpu-operations.js';
import { byTotal, type Group, groupByNumber } from './grouping.js';
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
    const bytes = 'bytes' in table ? (table.bytes as ArrayLike<number>) : undefined;
    const numberOf =
      measure === 'bytes' && bytes
        ? (row: number) => bytes[row]
        : (row: number) => table.end[row] - table.start[row];
    const group = (key: (row: number) => number, name: (key: number) => string, category: Category) =>
      groupByNumber(table.length, key, numberOf).map(found => ({
        ...found,
        name: name(found.key),
        category,
      }));
    if (pool === 'kernels') {
      const names = kernelNames(profile, options);
      return group(names.key, names.text, 'CUDA_KERNEL');
    }
    if (pool === 'copies') {
      const kinds = cells(profile, 'copies')!.kind;
      return group(row => kinds[row], copyName, 'MEMORY_OPER');
    }
    if (pool === 'memsets')
      return group(
        () => 0,
        () => MEMSET_NAME,
        'MEMORY_OPER',
      );
    return group(apiNameKeys(profile), id => apiName(profile.strings.text(id)), 'CUDA_API');
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
