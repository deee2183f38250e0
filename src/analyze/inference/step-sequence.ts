/** The kernels of one typical step in the order they ran. */
import { NONE } from '../../base/column.js';
import { copyKindLabels } from '../../catalog/cuda-enums.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { workFamilies } from '../gpu/work-families.js';
import { layerOfWork } from './layer-of-work.js';
import { stepsOf } from './steps.js';
import { typicalStep } from './typical-step.js';

const fields = {
  key: keyField,
  position: field.id('#', 'order of start on the device'),
  atNs: field.ns('At', 'start, relative to the start of the step'),
  durationNs: field.ns('Duration', 'on the GPU', { priority: KEEP }),
  gapNs: field.ns('Gap before', 'time since the previous operation ended; 0 when they overlap'),
  stream: field.id('Stream', 'CUDA stream number'),
  family: field.text('Family', 'kernel family'),
  layer: maybe(field.id('Layer', 'where known')),
  kernel: field.text('Kernel', 'short name'),
  name: quiet(field.text('Full name', 'as recorded')),
};

export type SequenceRow = RowOf<typeof fields>;

export const stepSequence: Analysis<SequenceRow, AnalysisResult<SequenceRow>> = {
  id: 'step-sequence',
  title: 'Sequence of one step',
  question: 'Which kernels does a typical step run, and in which order?',
  reads: {},
  uses: [gpuWork, workFamilies, typicalStep, stepsOf, layerOfWork],
  needs: [['kernels', 'graphLaunches']],
  fields,
  compute({ profile, use, useIfRecorded }) {
    const typical = use(typicalStep);
    if (!typical) throw new NotRecorded('engine steps', 'mark them with NVTX, or give --marker REGEX');
    const work = use(gpuWork);
    const { classOf } = use(workFamilies);
    const layer = useIfRecorded(layerOfWork)?.layer;
    const names = profile.tables.kernels?.name;
    const copies = profile.tables.copies;
    let busyUntil = typical.window.start;
    const rows = Array.from(typical.work, (i, position): SequenceRow => {
      const kind = work.kind[i];
      const known = kind === WorkKind.kernel ? classOf(names![work.row[i]]) : undefined;
      const plain =
        kind === WorkKind.copy
          ? `memcpy ${copyKindLabels[copies!.kind[work.row[i]]] ?? ''}`.trim()
          : kind === WorkKind.memset
            ? 'memset'
            : 'CUDA graph replay (contents hidden)';
      const gapNs = Math.max(0, work.start[i] - busyUntil);
      busyUntil = Math.max(busyUntil, work.end[i]);
      return {
        key: `position:${position}`,
        position,
        atNs: work.start[i] - typical.window.start,
        durationNs: work.end[i] - work.start[i],
        gapNs,
        stream: profile.streams[work.stream[i]].streamId,
        family:
          known?.family ?? (kind === WorkKind.copy ? 'copy' : kind === WorkKind.memset ? 'memset' : 'graph'),
        layer: layer && layer[i] !== NONE ? layer[i] : null,
        kernel: known?.shortName ?? plain,
        name: known ? profile.strings.text(names![work.row[i]]) : plain,
      };
    });
    const step = use(stepsOf)!.steps[typical.window.step];
    return {
      rows,
      summary: {
        iteration: step.iteration,
        phase: typical.phase,
        wallNs: typical.window.end - typical.window.start,
        kernels: typical.work.reduce((sum, i) => sum + Number(work.kind[i] === WorkKind.kernel), 0),
      },
    };
  },
};
