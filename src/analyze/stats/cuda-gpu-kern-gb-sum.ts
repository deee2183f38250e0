import { NONE } from '../../base/column.js';
import { TupleIndex } from '../../base/tuple-index.js';
import { column, texts, timeSummaryColumns } from './columns.js';
import { kernelNames } from './gpu-operations.js';
import { byTotalThenName, groupSpans } from './grouping.js';
import { kernelNameOptions, launchShapeColumns, type StatsReport } from './report.js';

export const cudaGpuKernGbSum: StatsReport = {
  id: 'cuda_gpu_kern_gb_sum',
  title: 'CUDA GPU Kernel/Grid/Block Summary',
  aliases: [],
  options: kernelNameOptions,
  reads: { kernels: launchShapeColumns },
  needs: [['kernels']],
  compute(profile, options) {
    const kernels = profile.tables.kernels!;
    const names = kernelNames(profile, options);
    const { gridX, gridY, gridZ, blockX, blockY, blockZ } = kernels;
    const [grids, shapes] = [new TupleIndex(), new TupleIndex()];
    const at = (cells: ArrayLike<number> | undefined, row: number) => (cells ? cells[row] : NONE);
    const keys = Int32Array.from(names.keys, (name, row) =>
      shapes.intern(
        grids.intern(name, at(gridX, row), at(gridY, row), at(gridZ, row)),
        at(blockX, row),
        at(blockY, row),
        at(blockZ, row),
      ),
    );
    const groups = groupSpans(keys, kernels.start, kernels.end)
      .map(group => ({ ...group, name: names.text(names.keys[group.row]) }))
      .sort(byTotalThenName);
    return [
      ...timeSummaryColumns(
        groups.map(group => group.summary),
        'Instances',
      ),
      column(
        'GridXYZ',
        'text',
        groups.map(group => dimensionText(kernels.gridX, kernels.gridY, kernels.gridZ, group.row)),
      ),
      column(
        'BlockXYZ',
        'text',
        groups.map(group => dimensionText(kernels.blockX, kernels.blockY, kernels.blockZ, group.row)),
      ),
      texts('Name', groups, group => group.name),
    ];
  },
};

/** Three numbers, each at least four wide: `  16    1    1`. */
export function dimensionText(
  x: ArrayLike<number> | undefined,
  y: ArrayLike<number> | undefined,
  z: ArrayLike<number> | undefined,
  row: number,
): string {
  return [x, y, z].map(cells => String(cells ? cells[row] : 0).padStart(4)).join(' ');
}
