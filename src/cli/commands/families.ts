import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { describeKernelTables, familiesOfTable } from '../../compare/kernel-table-families.js';
import { readKernelTables } from '../../import/kernel-table/read-kernel-tables.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { readSettings } from '../analysis-settings.js';
import { readArguments } from '../arguments.js';
import type { Command } from '../command.js';

const MOST_BYTES = 64e6;

export const families: Command = {
  name: 'families',
  summary: 'Put kernel summaries you only have as text (nsys stats, notes) into kernel families.',
  usage: 'stepscope families FILE… [--json | --markdown]',
  options: [
    { flags: '--rules FILE', meaning: 'your own kernel families (JSON, see docs/kernel-families.md)' },
    { flags: '--json', meaning: 'tables and families as JSON' },
    { flags: '--markdown', meaning: 'for a pull request' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope families cuda_gpu_kern_sum.csv', 'what nsys stats wrote'],
    ['stepscope families notes.md', 'tables copied from Nsight Systems; of two also the change'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('families', args, {
      rules: { type: 'string' },
      json: { type: 'boolean' },
      markdown: { type: 'boolean' },
    });
    const { kernelRules } = readSettings({ rules: values.rules });
    if (positionals.length === 0)
      throw new UserError(
        'usage',
        'No file was given.',
        'For example: stepscope families cuda_gpu_kern_sum.csv',
      );
    const tables = positionals.flatMap(file => readKernelTables(readBounded(file), path.basename(file)));
    if (values.json) {
      const document = tables.map(table => ({ ...table, families: familiesOfTable(table, kernelRules) }));
      output.out(`${JSON.stringify({ schema: 'stepscope-families/1', tables: document }, null, 1)}\n`);
    } else
      output.out(
        (values.markdown ? markdown : text).render(describeKernelTables(tables, kernelRules), output),
      );
    return 0;
  },
};

function readBounded(file: string): string {
  try {
    if (fs.statSync(file).size > MOST_BYTES)
      throw new UserError(
        'too-large',
        `${file} is too large for a kernel summary.`,
        'Open the profile itself.',
      );
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError('not-found', `${file} cannot be read.`, 'Check the path.');
  }
}
