/** Every analysis as a table: the same rows and the same names of fields as in its JSON. */
import { type AnyAnalysis, type Field, NotRecorded } from '../analyze/analysis.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { analyses } from '../analyze/index.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { NONE } from '../base/column.js';
import type { SqlTable, SqlType } from './sql-table.js';

/** Shorter names for what is asked most. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  iterations: ['steps'],
  'step-budget': ['budget'],
  'kernel-families': ['families'],
};

const types: Partial<Record<Field['kind'], SqlType>> = {
  text: 'text',
  flag: 'flag',
  'map-ns': 'map',
  list: 'text',
  count: 'whole',
  id: 'whole',
};

/** Kinds of numbers that are counts; means have kinds of their own. */
const counts: ReadonlySet<Field['kind']> = new Set(['ns', 'timestamp', 'bytes']);

function analysisTable(analysis: AnyAnalysis): SqlTable {
  const fields = Object.entries<Field>(analysis.fields);
  return {
    name: analysis.id.replaceAll('-', '_'),
    about: analysis.question,
    aliases: aliases[analysis.id] ?? [],
    columns: fields.map(([name, { kind, about }]) => ({
      name,
      type: types[kind] ?? 'number',
      about:
        kind === 'list' ? `${about}, as JSON` : kind === 'map-ns' ? `${about} (nanoseconds by name)` : about,
      ...(counts.has(kind) ? { counted: true } : {}),
    })),
    uses: [analysis],
    content(analyzer) {
      const outcome = analyzer.run(analysis);
      if (outcome.status === 'failed') throw new Error(outcome.message);
      if (outcome.status === 'not-recorded')
        throw new NotRecorded(outcome.what, outcome.hint, outcome.damaged);
      const rows = outcome.result.rows as readonly Readonly<Record<string, unknown>>[];
      const isList = new Set(fields.filter(([, { kind }]) => kind === 'list').map(([name]) => name));
      return {
        rows: rows.length,
        column: name => rows.map(row => (isList.has(name) ? JSON.stringify(row[name]) : row[name])),
      };
    },
  };
}

/** Which step launched a kernel: the attribution that all analyses use. */
const kernelSteps: SqlTable = {
  name: 'kernel_steps',
  about: 'the step that launched each kernel; a kernel that no step launched has no row',
  columns: [
    { name: 'kernelRow', type: 'whole', about: 'row of kernels' },
    { name: 'step', type: 'whole', about: 'position of the step in the capture, from 0' },
    { name: 'iteration', type: 'whole', about: "the engine's number of the step, as in steps" },
  ],
  uses: [stepWork, gpuWork],
  content(analyzer) {
    const placed = analyzer.get(stepWork);
    const work = analyzer.get(gpuWork);
    const [rows, steps]: [number[], number[]] = [[], []];
    if (placed)
      for (let i = 0; i < work.length; i++) {
        const run = placed.runOfWork[i];
        if (work.kind[i] !== WorkKind.kernel || run === NONE) continue;
        rows.push(work.row[i]);
        steps.push(placed.deviceRuns[run].step);
      }
    const columns: Readonly<Record<string, Float64Array>> = {
      kernelRow: Float64Array.from(rows),
      step: Float64Array.from(steps),
      iteration: Float64Array.from(steps, step => placed?.steps.steps[step].iteration ?? Number.NaN),
    };
    return { rows: rows.length, column: name => columns[name] };
  },
};

export const analysisTables: readonly SqlTable[] = [kernelSteps, ...analyses.map(analysisTable)];
