// Runs test files in the order they are given, which `node --test` does not: it sorts them.
//
//   node test/run-files.mjs RESULTS CONCURRENCY FILE…      one line of JSON per test into RESULTS
import { createWriteStream } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import report from '../dist/test/results-reporter.js';

const [results, concurrency, ...files] = process.argv.slice(2);
const events = run({ files, concurrency: Number(concurrency) });
events.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
events.compose(report).pipe(createWriteStream(results));
