/** What importers promise beyond reading rows: privacy, chosen columns, and what NVTX events carry. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import type { SqlValue } from 'sql.js';
import { describeCapture, summarizeCapture } from '../src/analyze/info.js';
import { chooseReport, statsReports } from '../src/analyze/stats/index.js';
import { runReport, tablesRead } from '../src/analyze/stats/report.js';
import { openProfile } from '../src/import/open.js';
import { RangeKind, type TableName } from '../src/model/schema.js';
import { csv } from '../src/report/csv.js';
import { text } from '../src/report/text.js';
import { capturePath } from '../src/testing/captures.js';
import { bytesOfProfile } from '../src/testing/profile-bytes.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { fillExport, insert, makeDatabase } from './small-exports.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-nsys-'));
after(() => rmSync(folder, { recursive: true }));

async function save(name: string, bytes: Uint8Array): Promise<string> {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

test('environments are counted and never kept', async () => {
  const token = `hf_${'Q'.repeat(34)}`;
  const secrets = [token, 'correct-horse', 'p4ssw0rd', '/home/someone'];
  const bytes = await makeDatabase(4096, database => {
    fillExport(database);
    insert(database, 'StringIds', [
      [900, `PATH=/usr/bin\0HF_TOKEN=${token}\0HOME=/home/someone\0DATABASE=postgres://me:p4ssw0rd@db/x`],
      [901, 'TOKENIZERS_PARALLELISM=false\0MY_API_KEY=correct-horse\0EMPTY_SECRET='],
    ]);
    database.run('CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT)');
    insert(database, 'META_DATA_CAPTURE', [
      ['PROCESS_0:ENVIRONMENT_VARIABLE', `HF_TOKEN="${token}"`],
      ['PROCESS_0:ENVIRONMENT_VARIABLE', 'LANG="C.UTF-8"'],
      ['PROCESS_0:ARGUMENT_0', `--token=${token}`],
      ['PROCESS_0:WORKING_DIR', '/home/someone'],
      ['PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Node'],
    ] as SqlValue[][]);
  });
  const profile = await openProfile([await save('secrets.sqlite', bytes)]);
  // PATH, HF_TOKEN, HOME, DATABASE, TOKENIZERS_PARALLELISM, MY_API_KEY, EMPTY_SECRET, LANG.
  assert.deepEqual(profile.capture.environment, { variables: 8, looksSecret: 3 });
  assert.equal(profile.capture.graphTracing, 'nodes');
  const summary = summarizeCapture(profile);
  const shown = [
    new TextDecoder('latin1').decode(bytesOfProfile(profile)),
    JSON.stringify(summary),
    text.render(describeCapture(summary), { width: Infinity, color: false }),
  ];
  for (const secret of secrets) for (const output of shown) assert.ok(!output.includes(secret), secret);
  assert.match(shown[2], /the file carries 8 environment variables, 3 of them look like secrets/);
});

test('reading only what a report names gives the same report', async () => {
  const captures = ['stress', 'gil'].map(name => capturePath(name));
  for (const file of [...captures, capturePath('graph', 'kineto.json.gz')]) {
    const everything = await openProfile([file]);
    for (const report of statsReports) {
      for (const option of ['', ':base', ':mangled', ':nvtx-name']) {
        if (option !== '' && !report.options.includes(option.slice(1))) continue;
        const { options } = chooseReport(report.id + option);
        const wanted = new Map(
          Object.entries(tablesRead(report, options)) as [TableName, readonly string[]][],
        );
        const part = await openProfile([file], { tables: wanted });
        const render = (profile: typeof part) =>
          csv.render([runReport(report, profile, options)], { width: 0, color: false });
        assert.equal(render(part), render(everything), `${file} ${report.id}${option}`);
      }
    }
  }
});

test('skipped tables are listed, not taken for missing', async () => {
  const profile = await openProfile([capturePath('graph')], { tables: new Map([['kernels', ['gridX']]]) });
  assert.deepEqual(Object.keys(profile.tables), ['kernels']);
  assert.ok(profile.tables.kernels!.gridX && !profile.tables.kernels!.gridY);
  assert.ok(profile.skipped.includes('apiCalls'));
});

test('GIL, garbage collection and cuBLAS arrive as ranges with their domains', async () => {
  const gil = await openProfile([capturePath('gil')]);
  const domains = new Map<string, number>();
  for (const id of gil.tables.ranges!.domain as unknown as Int32Array) {
    const name = id < 0 ? '' : gil.strings.text(id);
    domains.set(name, (domains.get(name) ?? 0) + 1);
  }
  assert.ok((domains.get('GIL Trace') ?? 0) > 3000, [...domains].join(' '));
});

test('calls of cuBLAS and cuDNN are ranges of their own kind, beside NVTX', async () => {
  const bytes = await makeDatabase(4096, database => {
    fillExport(database, 10);
    insert(database, 'StringIds', [[800, 'cublasGemmEx']]);
    database.run(`CREATE TABLE CUBLAS_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
      globalTid INTEGER, nameId INTEGER NOT NULL)`);
    const thread = 77 * 2 ** 24 + 78;
    insert(database, 'CUBLAS_EVENTS', [
      [1_000_000_100, 1_000_000_300, 60, thread, 800],
      [1_000_005_100, 1_000_005_400, 60, thread, 800],
    ]);
  });
  const profile = await openProfile([await save('cublas.sqlite', bytes)]);
  assert.deepEqual(validateProfile(profile), []);
  const ranges = profile.tables.ranges as unknown as Record<string, Float64Array>;
  const calls = Array.from(ranges.start.keys()).filter(row => ranges.kind[row] === RangeKind.libraryCall);
  assert.equal(ranges.length, 12);
  assert.deepEqual(
    calls.map(row => [profile.strings.text(ranges.domain[row]), profile.strings.text(ranges.name[row])]),
    [
      ['cuBLAS', 'cublasGemmEx'],
      ['cuBLAS', 'cublasGemmEx'],
    ],
  );
  // NVIDIA's NVTX reports do not know them.
  const { report, options } = chooseReport('nvtx_sum');
  assert.ok(
    !csv.render([runReport(report, profile, options)], { width: 0, color: false }).includes('cublas'),
  );
});

test('a domain created by several threads is one domain', async () => {
  const profile = await openProfile([capturePath('unified')]);
  const { report, options } = chooseReport('nvtx_sum');
  const rows = csv.render([runReport(report, profile, options)], { width: 0, color: false }).split('\n');
  // Four threads, twenty rounds each, two threads to a domain.
  const instances = (name: string) => rows.find(row => row.endsWith(name))?.split(',')[2];
  assert.deepEqual(['even threads:work', 'odd threads:work', ':outer'].map(instances), ['40', '40', '80']);
});

test('payloads, colours, categories and threads of NVTX events', async () => {
  const { tables, strings, threads } = await openProfile([capturePath('stress')]);
  const ranges = tables.ranges as unknown as Record<string, Float64Array>;
  const rows = Array.from(ranges.start.keys());
  const named = (name: string) => rows.filter(row => strings.text(ranges.name[row]) === name);
  const steps = named('odd, step');
  assert.deepEqual(
    steps.map(row => ranges.payload[row]),
    [0.5, 1.5, 2.5],
  );
  assert.deepEqual(
    steps.map(row => ranges.color[row]),
    [0xff00ff01, 0xff00ff03, 0xff00ff05],
  );
  assert.equal(strings.text(ranges.categoryName[steps[0]]), 'prefill');
  const [across] = named('request 1');
  assert.notEqual(ranges.endThread[across], -1);
  assert.notEqual(threads[ranges.endThread[across]].tid, threads[ranges.thread[across]].tid);
  assert.deepEqual(
    named('registered step')
      .map(row => ranges.payload[row])
      .slice(0, 4),
    [0, 1, 2, 10],
  );
});
