import { UserError } from '../../base/user-error.js';
import { benchCsv, benchDocument } from '../../compare/bench-document.js';
import { compareToFirst, describeBench } from '../../compare/bench-table.js';
import { openBenchRuns } from '../../import/bench/open-bench.js';
import { markdown } from '../../report/markdown.js';
import { readableTable } from '../../report/readable-table.js';
import { define } from '../command.js';

export const bench = define({
  usage: ['FILE|FOLDER… [options]'],
  options: [],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  examples: [
    ['stepscope bench trtllm-bench.log', 'every result in a log, one row each'],
    ['stepscope bench before.json after.json', 'two runs, with the change'],
    ['stepscope bench results/ --csv > sweep.csv', 'a sweep for a spreadsheet'],
    ['stepscope bench profile_export_aiperf.json --markdown', 'for a pull request'],
  ],
  async run({ given, output, emit }) {
    if (given.length === 0)
      throw new UserError(
        'usage',
        'No benchmark result was given.',
        'For example: stepscope bench trtllm-bench.log',
      );
    const runs = await openBenchRuns(given, {
      onPassedOver: (folder, files) =>
        output.err(
          `note: ${files.length} files of ${folder} contain no benchmark result (e.g. ${files[0]})\n`,
        ),
    });
    const comparison = compareToFirst(runs);
    const blocks = () => describeBench(runs, comparison);
    await emit({
      blocks,
      document: () => benchDocument(given, runs, comparison),
      csv: () => benchCsv(runs, comparison),
      markdown: () => markdown.render(blocks().flatMap(readableTable), { width: Infinity, color: false }),
    });
    return 0;
  },
});
