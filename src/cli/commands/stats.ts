import type { Block } from '../../analyze/block.js';
import {
  chooseReport,
  defaultReports,
  statsReports,
  tablesOfReports,
  worthPrinting,
} from '../../analyze/stats/index.js';
import { runReport } from '../../analyze/stats/report.js';
import { UserError } from '../../base/user-error.js';
import { sliceProfile } from '../../model/slice.js';
import { renderers } from '../../report/index.js';
import { blockRows } from '../../report/json.js';
import { define, requireFiles } from '../command.js';
import type { FormatId, ResultPart } from '../emit.js';
import { listing } from '../listing.js';
import { profileOf, tellLosses } from '../profile-of.js';

const READABLE_ROWS = 12;

export const stats = define({
  usage: ['FILE… [-r REPORT[:OPTION…][,REPORT…]] [options]'],
  options: ['report', 'verify', 'time', 'rows', 'list', 'outputFiles', 'force'],
  formats: ['table', 'json', 'csv', 'markdown'],
  notes: [['without -r', `the default reports of nsys stats that have data; ${READABLE_ROWS} rows each`]],
  examples: [
    ['stepscope stats profile.sqlite', 'the default reports of nsys stats'],
    ['stepscope stats profile.sqlite -r cuda_gpu_kern_sum:base', 'kernels by base name'],
    ['stepscope stats trace.json.gz -r cuda_gpu_trace --csv -o trace', 'writes trace_cuda_gpu_trace.csv'],
    ['stepscope stats profile.sqlite --verify', 'compare with your nsys; exit code 1 if they differ'],
    [
      'stepscope stats profile.sqlite -r gpu_gaps:gap=1,cuda_api_sync --time 1.2s-1.5s',
      'two rules on 300 ms',
    ],
  ],
  async run({ values, given, destination, output, emit }) {
    if (values.list) {
      const reports = statsReports.map(({ id, title, options, aliases }) => ({
        id,
        title,
        options,
        aliases,
      }));
      const optionsOf = (names: readonly string[]) =>
        names.length > 0 ? `  [${names.map(name => `:${name}`).join(' ')}]` : '';
      const lines = reports.map(({ id, title, options }) => [id, `${title}${optionsOf(options)}`] as const);
      await emit(listing('stats', { schema: 'stepscope-stats-list/1', reports }, lines));
      return 0;
    }
    const isAsked = values.report.length > 0;
    const asked = (isAsked ? values.report.flat() : defaultReports).map(chooseReport);
    for (const { misnamed, report } of asked)
      if (misnamed !== undefined)
        output.err(`stepscope: nsys has no report ${misnamed}; ${report.id} is the one that is meant.\n`);
    requireFiles('stats', given);
    if (values.verify && values.time)
      throw new UserError('usage', '--verify needs the whole file.', 'Leave out --time.');
    const whole = await profileOf(given, output, tablesOfReports(asked));
    const profile = values.time ? sliceProfile(whole, values.time) : whole;
    const chosen = isAsked ? asked : worthPrinting(asked, profile);
    if (values.verify) {
      // It starts nsys, which no other call does.
      const { verificationResult, verifyStats } = await import('../verify-stats.js');
      const found = await verifyStats(given, chosen, whole, done => output.progress('running nsys', done));
      output.clearProgress();
      await emit(verificationResult(found));
      return found.verdicts.some(({ verdict }) => verdict === 'differs') ? 1 : 0;
    }
    const blocks = chosen.map(({ report, options }) => ({
      ...runReport(report, profile, options),
      id: report.id,
    }));
    await emit({
      blocks: () => blocks,
      document: () => ({
        schema: 'stepscope-stats/1',
        files: profile.capture.files,
        reports: chosen.map(({ report: { id, title }, request }, i) => ({
          ...{ id, request, title, rows: blockRows(blocks[i]) },
        })),
        notes: profile.notes,
      }),
      parts: format =>
        format === 'json' ? undefined : chosen.map(({ request }, i) => partOf(request, blocks[i], format)),
      shown: {
        rowLimit: values.rows ?? (isAsked ? undefined : READABLE_ROWS),
        allColumns: '--format csv',
      },
    });
    if (destination.format === 'csv')
      for (const block of blocks)
        if (block.kind === 'not-recorded')
          output.err(`${block.id}: not recorded: ${block.what}; ${block.hint}\n`);
    if (destination.format !== 'json') tellLosses(profile, output);
    return 0;
  },
});

/** A file per report, as `nsys stats` names and fills them. */
function partOf(request: string, block: Block, format: FormatId): ResultPart {
  const renderer = renderers.find(({ id }) => id === format)!;
  return {
    id: request.replace(/[^A-Za-z0-9_=-]+/g, '_'),
    content: () => renderer.render([block], { width: Infinity, color: false }),
  };
}
