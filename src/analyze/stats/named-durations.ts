/** GPU work and API calls pooled into one list of named durations, for reports that cover several kinds at once. */
import type { Profile } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import { texts, timeSummaryColumns } from './columns.js';
import { apiName, apiNameKeys, copyName, kernelNames, MEMSET_NAME } from './gpu-operations.js';
import { byTotal, type Group, groupSpans, groupValues } from './grouping.js';
import type { ReportOptions } from './report.js';

type Pool = 'apiCalls' | 'kernels' | 'copies' | 'memsets';
type Category = 'CUDA_API' | 'CUDA_KERNEL' | 'MEMORY_OPER';

interface NamedGroup extends Group<number> {
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
  return pools.flatMap(pool => {
    const table = tableNamed(profile, pool);
    if (!table) return [];
    const { keys, name, category } = namesOf(profile, pool, options);
    const bytes = measure === 'bytes' && 'bytes' in table ? (table.bytes as ArrayLike<number>) : undefined;
    const groups = bytes ? groupValues(keys, bytes) : groupSpans(keys, table.start, table.end);
    return groups.map(group => ({ ...group, name: name(group.key), category }));
  });
}

interface PoolNames {
  readonly keys: ArrayLike<number>;
  readonly name: (key: number) => string;
  readonly category: Category;
}

function namesOf(profile: Profile, pool: Pool, options: ReportOptions): PoolNames {
  switch (pool) {
    case 'kernels': {
      const { keys, text } = kernelNames(profile, options);
      return { keys, name: text, category: 'CUDA_KERNEL' };
    }
    case 'copies':
      return { keys: profile.tables.copies!.kind, name: copyName, category: 'MEMORY_OPER' };
    case 'memsets': {
      const keys = new Int32Array(profile.tables.memsets!.length);
      return { keys, name: () => MEMSET_NAME, category: 'MEMORY_OPER' };
    }
    case 'apiCalls': {
      const name = (id: number) => apiName(profile.strings.text(id));
      return { keys: apiNameKeys(profile), name, category: 'CUDA_API' };
    }
  }
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
