/** docs/sql.md, made from the declarations of the tables. */
import type { SqlTable } from '../src/sql/sql-table.js';
import { profileTables } from '../src/sql/tables.js';

const cell = (text: string) => text.replaceAll('|', '\\|');

const section = ({ name, aliases = [], about, columns }: SqlTable): string =>
  `### ${name}

${about[0].toUpperCase()}${about.slice(1).replace(/[.?]$/, '')}${about.endsWith('?') ? '?' : '.'}${aliases.length > 0 ? ` Also called ${aliases.map(alias => `\`${alias}\``).join(', ')}.` : ''}

| column | type | meaning |
|---|---|---|
${columns.map(column => `| ${column.name} | ${column.type} | ${cell(column.about)} |`).join('\n')}
`;

export function sqlPage(): string {
  const isEvents = ({ uses }: SqlTable) => uses === undefined;
  return `# SQL

\`stepscope sql "SELECT …" FILE…\` asks DuckDB about a profile, \`stepscope sql "SELECT …" LAKE\` about many ([lake-tables.md](lake-tables.md)). Without a question it is a prompt with completion and history. This page is made from the declarations in \`src/sql\` by its test; \`stepscope sql --tables\` prints the same.

\`\`\`bash
stepscope sql "SELECT family, sum(durationNs) AS totalNs FROM kernels GROUP BY ALL ORDER BY 2 DESC" profile.sqlite
stepscope sql "SELECT iteration, idleByCause['launch-bound'] AS ns FROM budget" profile.sqlite --json
stepscope sql profile.sqlite --parquet tables
\`\`\`

- **The same numbers.** Tables of analyses have the rows of \`stepscope analyze --only ID --json\`, with the same names, in the same selection (\`--phase\`, \`--iterations\`, \`--whole\`). Events are those of the file. \`kernel_steps\` has the attribution that all analyses use.
- **Not recorded is not empty.** A table that the capture does not have is an error (exit code 8) that states how to record it. A column that was not recorded is null in every row.
- **Read only.** The question runs in a database in memory that opens no file, attaches nothing and loads no extension. Only SELECT, WITH, FROM, DESCRIBE, SHOW and EXPLAIN are answered, one at a time.
- **Bounded.** 2 GB of memory, \`--timeout\` (60 s), \`--max-rows\` (1,000,000) and 500 MB of values. Functions that build texts are not counted by DuckDB: a question that names one runs in a separate process, which ends at 4 GB (on Linux). If rows are left out, \`complete\` is false in JSON, and the terminal shows a note.
- **The same bytes.** DuckDB runs on one thread, so that the order of rows and of sums does not change.
- Types: text is VARCHAR, number DOUBLE, whole BIGINT, flag BOOLEAN, map MAP(VARCHAR, DOUBLE). Names are not case-sensitive. Times are nanoseconds on the clock of the profile.
- \`--arrow FILE\` writes the answer as an Arrow file (\`-\`: a stream), \`--parquet DIR\` as Parquet. Maps and lists become JSON text there.
- **Tables as files.** Without a question, \`--arrow DIR\` and \`--parquet DIR\` write every table, or those of \`--only\`, each to its own file. This needs no DuckDB. \`--json\` lists the files, their columns, and for each missing table how to record it. In Arrow files whole numbers are int64, texts of events are dictionaries and maps are maps. Times, durations and bytes are int64 as well, or float64 if the trace has fractions of a nanosecond. \`pip install stepscope\` reads them into pandas ([python.md](python.md)).
- Of tables above 200,000 rows, only the columns that the question names are loaded. A whole row as one value (\`SELECT k FROM kernels k\`) then has only these.

## Events

${profileTables.filter(isEvents).map(section).join('\n')}
## Analyses

${profileTables
  .filter(table => !isEvents(table))
  .map(section)
  .join('\n')}`;
}
