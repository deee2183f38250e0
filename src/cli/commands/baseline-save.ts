import * as path from 'node:path';
import { plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import {
  type Baseline,
  type Baselines,
  findBaseline,
  MOST_BASELINES,
  requireName,
  withBaseline,
} from '../../gate/baselines.js';
import { requireRepeats } from '../../gate/repeats.js';
import { changeBaselines, readBaselinesIfThere } from '../baselines-file.js';
import { define } from '../command.js';
import { measureRepeats, requireRun } from '../measured-run.js';
import { measureOptions } from '../options.js';
import { version } from '../version.js';

export const baselineSave = define({
  usage: ['NAME FILE… [options]'],
  options: ['baselines', 'repeat', 'add', 'force', ...measureOptions],
  examples: [
    ['stepscope baseline save main profile.sqlite', 'one run'],
    [
      'stepscope baseline save main run1.sqlite --repeat run2.sqlite --repeat run3.sqlite',
      'three runs of the same code, to measure run-to-run noise',
    ],
    ['stepscope baseline save main run4.sqlite --add', 'add another run later'],
  ],
  async run({ values, given, output }) {
    const [name, ...files] = given;
    const { baselines: file } = values;
    requireName(name);
    requireRun('baseline save main', files, values);
    // Said before a large profile is read.
    existing(readBaselinesIfThere(file), name, file, values);
    const runs = await measureRepeats(files, values.repeat, values, output);
    // As it is by then: measuring takes long enough for another job to have saved its own.
    let all: Baseline['runs'] = [];
    changeBaselines(file, known => {
      all = [...(existing(known, name, file, values)?.runs ?? []), ...runs];
      requireRepeats(all);
      return withBaseline(known, { name, tool: `stepscope ${version()}`, runs: all });
    });
    const told = all.length > 1 ? '' : '; save repeats to distinguish noise from change (--repeat, --add)';
    output.err(`saved ${name} to ${file}: ${plural(all.length, 'run')}${told}\n`);
    return 0;
  },
});

/** What is there under the name: to add to, to replace, or in the way. */
function existing(
  known: Baselines,
  name: string,
  file: string,
  { add, force }: { readonly add: boolean; readonly force: boolean },
): Baseline | undefined {
  if (add) return findBaseline(known, name, file);
  const isThere = known.baselines.some(one => one.name === name);
  if (isThere && !force)
    throw new UserError(
      'usage',
      `Baseline ${name} already exists in ${path.basename(file)}.`,
      'Replace it with --force, or add this run to it with --add.',
    );
  if (!isThere && known.baselines.length >= MOST_BASELINES)
    throw new UserError(
      'too-large',
      `${file} is full: ${MOST_BASELINES} baselines.`,
      'Remove some baselines, or use another file with --baselines.',
    );
  return undefined;
}
