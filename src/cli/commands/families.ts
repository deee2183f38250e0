import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { describeKernelTables, familiesOfTable } from '../../compare/kernel-table-families.js';
import { readKernelTables } from '../../import/kernel-table/read-kernel-tables.js';
import { define } from '../command.js';
import { readBounded } from '../read-bounded.js';

const MOST_BYTES = 64e6;

export const familiesCommand = define({
  usage: ['FILE… [options]'],
  options: ['rules'],
  formats: ['table', 'json', 'csv', 'markdown'],
  examples: [
    ['stepscope families cuda_gpu_kern_sum.csv', 'output of nsys stats'],
    ['stepscope families notes.md', 'tables copied from Nsight Systems; two tables are also compared'],
  ],
  async run({ values: { rules }, given, emit }) {
    if (given.length === 0)
      throw new UserError(
        'usage',
        'No file was given.',
        'For example: stepscope families cuda_gpu_kern_sum.csv',
      );
    const tables = given.flatMap(file =>
      readKernelTables(
        readBounded(
          file,
          MOST_BYTES,
          'Give a kernel summary as text, such as cuda_gpu_kern_sum.csv; a profile has families in stepscope analyze.',
        ),
        path.basename(file),
      ),
    );
    await emit({
      blocks: () => describeKernelTables(tables, rules),
      document: () => ({
        schema: 'stepscope-families/1',
        tables: tables.map(table => ({ ...table, families: familiesOfTable(table, rules) })),
      }),
    });
    return 0;
  },
});
