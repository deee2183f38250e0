import * as path from 'node:path';
import type { TableBlock } from '../../analyze/block.js';
import { plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import {
  type Baseline,
  type Baselines,
  DEFAULT_BASELINES,
  findBaseline,
  MOST_BASELINES,
  requireName,
  withBaseline,
} from '../../gate/baselines.js';
import { describeBaseline, stepsText } from '../../gate/describe-baseline.js';
import { requireRepeats } from '../../gate/repeats.js';
import { text } from '../../report/text.js';
import { readArguments, requireFiles } from '../arguments.js';
import { readBaselines, readBaselinesIfThere, writeBaselines } from '../baselines-file.js';
import type { Command, Output } from '../command.js';
import { benchHelp, benchOptions, measureFiles, measureHelp, measureOptions } from '../measure-files.js';
import { version } from '../version.js';

export const baseline: Command = {
  name: 'baseline',
  summary: 'Keep the figures of a run under a name, in one file for your repository.',
  usage: 'stepscope baseline save NAME FILE… | list | show NAME | remove NAME [--file FILE]',
  options: [
    { flags: 'save NAME FILE…', meaning: 'measure a run (all its ranks) and keep it' },
    { flags: 'list', meaning: 'the baselines there are' },
    { flags: 'show NAME', meaning: 'its figures and what it was' },
    { flags: 'remove NAME', meaning: 'forget it' },
    { flags: '--file FILE', meaning: `where baselines are kept (default ${DEFAULT_BASELINES})` },
    {
      flags: '--repeat FILE',
      meaning: 'with save: another run of the same code (three or more tell the noise)',
    },
    { flags: '--add', meaning: 'with save: a further run of a baseline that is there' },
    { flags: '--force', meaning: 'with save: replace a baseline that is there' },
    { flags: '--json', meaning: 'with list and show: as JSON' },
    benchHelp,
    ...measureHelp,
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope baseline save main profile.sqlite', 'one run'],
    [
      'stepscope baseline save main run1.sqlite --repeat run2.sqlite --repeat run3.sqlite',
      'three runs of the same code: how much a figure moves by itself is then known',
    ],
    ['stepscope baseline save main run4.sqlite --add', 'one more, later'],
    ['stepscope baseline show main', 'its figures'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('baseline', args, {
      ...measureOptions,
      ...benchOptions,
      file: { type: 'string' },
      repeat: { type: 'string', multiple: true },
      add: { type: 'boolean' },
      force: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    const [verb, name, ...files] = positionals;
    const file = values.file ?? DEFAULT_BASELINES;
    if (verb === 'list') return list(readBaselines(file), values.json === true, output);
    if (verb === 'show') {
      const found = findBaseline(readBaselines(file), requireName(name), file);
      if (values.json) output.out(`${JSON.stringify(found, null, 2)}\n`);
      else output.out(text.render(describeBaseline(found), output));
      return 0;
    }
    if (verb === 'remove') {
      const known = readBaselines(file);
      const found = findBaseline(known, requireName(name), file);
      writeBaselines(file, { baselines: known.baselines.filter(one => one !== found) });
      output.err(`removed ${found.name} from ${file}\n`);
      return 0;
    }
    if (verb !== 'save')
      throw new UserError(
        'usage',
        verb === undefined
          ? 'What to do with baselines was not said.'
          : `There is no ${JSON.stringify(verb)} of baselines.`,
        'Use: stepscope baseline save NAME FILE… | list | show NAME | remove NAME',
      );
    requireName(name);
    if (values.bench === undefined) requireFiles('baseline save main', files);
    // Said before a large profile is read.
    existing(readBaselinesIfThere(file), name, file, values);
    const runs = [await measureFiles(files, values, output)];
    const { bench, ...others } = values;
    for (const repeat of values.repeat ?? [])
      runs.push(
        files.length === 0
          ? await measureFiles([], { bench: repeat }, output)
          : await measureFiles([repeat], others, output),
      );
    // Read again: measuring takes long enough for another job to have saved its own.
    const known = readBaselinesIfThere(file);
    const all = [...(existing(known, name, file, values)?.runs ?? []), ...runs];
    requireRepeats(all);
    writeBaselines(file, withBaseline(known, { name, tool: `stepscope ${version()}`, runs: all }));
    const told = all.length > 1 ? '' : '; save repeats to tell noise from change (--repeat, --add)';
    output.err(`saved ${name} to ${file}: ${plural(all.length, 'run')}${told}\n`);
    return 0;
  },
};

/** What is there under the name: to add to, to replace, or in the way. */
function existing(
  known: Baselines,
  name: string,
  file: string,
  { add, force }: { readonly add?: boolean; readonly force?: boolean },
): Baseline | undefined {
  if (add) return findBaseline(known, name, file);
  const isThere = known.baselines.some(one => one.name === name);
  if (isThere && !force)
    throw new UserError(
      'usage',
      `${path.basename(file)} has a baseline ${name} already.`,
      'Replace it with --force, or add this run to it with --add.',
    );
  if (!isThere && known.baselines.length >= MOST_BASELINES)
    throw new UserError(
      'too-large',
      `${file} is full: ${MOST_BASELINES} baselines.`,
      'Remove some, or use another --file.',
    );
  return undefined;
}

function list({ baselines }: Baselines, asJson: boolean, output: Output): number {
  if (asJson) {
    const rows = baselines.map(({ name, tool, runs }) => ({
      name,
      tool,
      runs: runs.length,
      facts: runs[0].facts,
    }));
    output.out(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  const column = (header: string, of: (one: Baseline) => string) =>
    ({ header, kind: 'text', values: baselines.map(of) }) as const;
  const table: TableBlock = {
    kind: 'table',
    id: 'baselines',
    title: 'Baselines',
    rows: baselines.length,
    columns: [
      column('Name', one => one.name),
      column('Runs', one => String(one.runs.length)),
      column('GPU', one => one.runs[0].facts.gpu ?? '–'),
      column('Steps', one => stepsText(one.runs[0].facts)),
      column('Engine', one => one.runs[0].facts.engine ?? '–'),
      column('Files', one => one.runs[0].files.join(', ')),
    ],
  };
  output.out(text.render([table], output));
  return 0;
}
