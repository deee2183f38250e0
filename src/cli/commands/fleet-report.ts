import { UserError } from '../../base/user-error.js';
import { describeReport } from '../../fleet/describe-report.js';
import { composeFleetReport } from '../../fleet/fleet-report.js';
import { fleetSummary } from '../../fleet/fleet-summary.js';
import { openLake } from '../../fleet/read-lake.js';
import { reportDocument } from '../../fleet/report-document.js';
import { runHeat } from '../../fleet/run-heat.js';
import { composeBlocks } from '../../report/html/compose.js';
import { define } from '../command.js';
import { version } from '../version.js';

export const fleetReport = define({
  usage: ['LAKE [options]'],
  options: ['rows'],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  notes: [
    ['LAKE', 'a folder that fleet map has written; the original files are not read'],
    ['without --rows', '20 rows per table on the terminal'],
  ],
  examples: [
    ['stepscope fleet report lake', 'slow ranks and nodes, changes over time, findings'],
    ['stepscope fleet report lake -o fleet.html', 'the same as a page to share'],
    ['stepscope fleet report lake --json', 'every rank and run, in base units'],
  ],
  async run({ values, given, emit }) {
    if (given.length !== 1)
      throw new UserError(
        'usage',
        given.length === 0 ? 'No lake was given.' : `Expected one lake; ${given.length} given.`,
        'For example: stepscope fleet report lake',
      );
    const lake = await openLake(given[0]);
    try {
      const report = await composeFleetReport(lake);
      const heat = await runHeat(lake, report);
      await emit({
        blocks: () => describeReport(report, heat),
        page: cutter =>
          composeBlocks(
            describeReport(report, heat),
            cutter,
            fleetSummary(report),
            id => /^(lake|problems|nodes)$/.test(id) || (id === 'runs' && report.configurations.length > 1),
          ),
        document: () => reportDocument(report, `stepscope ${version()}`),
        shown: { rowLimit: values.rows ?? 20, allColumns: '--json' },
      });
    } finally {
      lake.close();
    }
    return 0;
  },
});
