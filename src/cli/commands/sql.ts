import { UserError } from '../../base/user-error.js';
import type { Profile } from '../../model/profile.js';
import { lakeSqlTables } from '../../sql/lake-source.js';
import { SqlSession } from '../../sql/sql-session.js';
import { profileTables } from '../../sql/tables.js';
import { define } from '../command.js';
import { analysisOptions } from '../options.js';
import { settingsOf } from '../profile-of.js';
import { chosenTables, openSource, splitSql } from '../sql/asked-sql.js';
import { askGuarded, needsGuard } from '../sql/guarded-sql.js';
import { writeArrow, writeParquet, writeTableFiles } from '../sql/sql-files.js';
import { promptSql } from '../sql/sql-prompt.js';
import { sqlResult, tablesResult, writtenResult } from '../sql/sql-result.js';

const MOST_BYTES = 500e6;
const READABLE_ROWS = 100;

export const sql = define({
  usage: [
    '"SELECT …" FILE…|LAKE [options]',
    'FILE…|LAKE',
    'FILE…|LAKE --arrow|--parquet DIR [--only LIST]',
    '--tables [--lake]',
  ],
  options: [
    'sqlTables',
    'ofLake',
    'parquet',
    'arrow',
    'onlyTables',
    'maxRows',
    'timeLimit',
    ...analysisOptions,
    ...(['model', 'gpu', 'tp'] as const),
    'rows',
    'force',
  ],
  formats: ['table', 'json', 'csv', 'markdown'],
  notes: [
    ['without SQL', 'a prompt with completion and history; with --arrow or --parquet, every table'],
    ['tables', 'see docs/sql.md: events, every analysis, and the tables of a lake'],
    ['read only', 'files other than those given cannot be read, and none can be written or attached'],
  ],
  examples: [
    [
      'stepscope sql "SELECT family, sum(durationNs) AS totalNs FROM kernels GROUP BY ALL ORDER BY 2 DESC" profile.sqlite',
      'GPU time by kernel family',
    ],
    [
      'stepscope sql "SELECT iteration, count(*) FROM kernels JOIN kernel_steps ON kernelRow = row GROUP BY ALL" profile.sqlite --csv',
      'kernels of each step',
    ],
    ['stepscope sql profile.sqlite', 'a prompt'],
    ['stepscope sql profile.sqlite --parquet tables', 'every table as a Parquet file, for your own tools'],
    ['stepscope sql profile.sqlite --arrow tables --only kernels,steps', 'two tables as Arrow files'],
    ['stepscope sql "SELECT * FROM steps" profile.sqlite --arrow steps.arrow', 'for pandas, Polars or R'],
    ['stepscope sql "SELECT run, sum(idleNs) FROM steps GROUP BY ALL" lake', 'over all runs of a lake'],
  ],
  async run({ values, given, output, emit }) {
    if (values.sqlTables) {
      await emit(tablesResult(values.ofLake ? lakeSqlTables : profileTables));
      return 0;
    }
    const { sql: question, files } = splitSql(given);
    const { parquet, arrow, force } = values;
    const settings = settingsOf(values);
    const folder = parquet ?? arrow;
    if (question === undefined && folder !== undefined) {
      let opened: Profile | undefined;
      const source = await openSource(files, settings, output, profile => {
        opened = profile;
      });
      const format = parquet === undefined ? 'arrow' : 'parquet';
      const tables = chosenTables(source.tables, values.onlyTables.flat());
      await emit(writtenResult(await writeTableFiles(source, tables, { folder, format, force }), opened));
      return 0;
    }
    if (question === undefined && !process.stdin.isTTY)
      throw new UserError(
        'usage',
        'No question was given, and standard input is not a terminal.',
        'For example: stepscope sql "SELECT count(*) FROM kernels" profile.sqlite',
      );
    if (question !== undefined && needsGuard(question)) return askGuarded(values.timeLimit / 1e6);
    const session = await SqlSession.open(await openSource(files, settings, output));
    const bounds = { rows: values.maxRows, bytes: MOST_BYTES, timeMs: values.timeLimit / 1e6 };
    const limit = values.rows ?? READABLE_ROWS;
    try {
      if (question === undefined)
        await promptSql(session, output, async asked =>
          emit(sqlResult(asked, await session.query(asked, bounds), limit)),
        );
      else if (parquet !== undefined) await writeParquet(session, question, parquet, force, output);
      else {
        const answer = await session.query(question, bounds);
        if (arrow !== undefined) await writeArrow(answer, arrow, force, output);
        else await emit(sqlResult(question, answer, limit));
        if (!answer.complete) output.err(`note: more than ${answer.rows.length} rows; see --max-rows\n`);
      }
    } finally {
      session.close();
    }
    return 0;
  },
});
