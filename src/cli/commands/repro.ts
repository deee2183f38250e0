import { Analyzer } from '../../analyze/analysis.js';
import { operators } from '../../analyze/host/operators.js';
import type { Static } from '../../base/document.js';
import { UserError } from '../../base/user-error.js';
import { operatorInputs } from '../../rerun/operator-inputs.js';
import { CALLABLE, operatorScript } from '../../rerun/operator-script.js';
import { inputsRead, recordedInputs } from '../../rerun/recorded-inputs.js';
import type { reproSchema } from '../answers-schema.js';
import { define, requireFiles } from '../command.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';

const SHAPES_HINT = 'Record shapes: stepscope capture --shapes, or record_shapes=True of torch.profiler.';

export const repro = define({
  usage: ['FILE… OPERATOR|KERNEL [options]'],
  options: analysisOptions,
  formats: ['table', 'json'],
  notes: [
    ['OPERATOR', 'an operator by its name or a part of it: aten::mm'],
    ['KERNEL', 'a part of a kernel’s name: the operator that launches it is taken'],
    ['', 'Of several operators or shapes, the one with the most GPU time is taken.'],
  ],
  examples: [
    ['stepscope repro trace.json.gz aten::mm > mm.py', 'a script that runs the operator with its shapes'],
    ['stepscope repro trace.json.gz flash_fwd --json', 'shapes, recorded times and the script, for scripts'],
  ],
  async run({ values, given, output, emit }) {
    const wanted = given.at(-1) ?? '';
    const files = given.slice(0, -1);
    if (files.length === 0 && wanted !== '')
      throw new UserError(
        'usage',
        'No operator or kernel was given.',
        `For example: stepscope repro ${wanted} aten::mm`,
      );
    requireFiles('repro', files);
    const profile = await profileFor(files, [operators, inputsRead], output);
    const { rows } = new Analyzer(profile, settingsOf(values)).get(operators);
    const text = wanted.toLowerCase();
    const named = rows.filter(({ operator }) => operator.toLowerCase() === text);
    const found = [
      named,
      rows.filter(({ operator }) => operator.toLowerCase().includes(text)),
      rows.filter(({ kernels }) => kernels.some(({ name }) => name.toLowerCase().includes(text))),
    ].find(own => own.length > 0);
    if (!found)
      throw new UserError(
        'not-recorded',
        `No operator or kernel of this profile has ${JSON.stringify(wanted)} in its name.`,
        'List them: stepscope analyze FILE --only operators',
      );
    const [row] = [...found].sort((a, b) => b.gpuTotalNs - a.gpuTotalNs);
    const inputs = operatorInputs(recordedInputs(profile, row.operator, row.shapes ?? '', row.types ?? ''));
    if (!inputs)
      throw new UserError('not-recorded', `Shapes of ${row.operator} are not recorded.`, SHAPES_HINT);
    if (!CALLABLE.test(row.operator))
      throw new UserError(
        'not-recorded',
        `${row.operator} is not an operator that torch can call by name.`,
        'Ask for an operator with a namespace: stepscope analyze FILE --only operators lists them.',
      );
    const script = operatorScript({
      operator: row.operator,
      inputs,
      count: row.count,
      gpuNs: row.gpuTotalNs / row.count,
      kernels: row.kernels.map(({ name }) => name),
      file: profile.capture.files.join(', '),
    });
    await emit({
      blocks: () => [],
      text: () => script,
      document: (): Static<typeof reproSchema> => ({
        schema: 'stepscope-repro/1',
        files: profile.capture.files,
        operator: row.operator,
        inputs: inputs.map(input => ({ ...input })),
        count: row.count,
        gpuNs: row.gpuTotalNs / row.count,
        kernels: row.kernels.map(({ name }) => name),
        script,
        notes: profile.notes,
      }),
    });
    tellLosses(profile, output);
    return 0;
  },
});
