/**
 * docs/guides.md: what the founding guides ask, each statement with the command that answers it. Every command runs here,
 * on a machine without a GPU, and its output is checked; UPDATE_GOLDEN=1 writes the page anew.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import initSqlJs from 'sql.js';
import { shellWords } from '../src/capture/shell-words.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';
import { machines } from './guides/machines.js';
import { practice } from './guides/practice.js';
import { reading } from './guides/reading.js';
import { recording } from './guides/recording.js';
import { routing } from './guides/routing.js';
import type { Statement } from './guides/statement.js';
import { guidesPage } from './guides-page.js';
import { runStepscope } from './run-stepscope.js';

const chapters = [...recording, ...reading, ...routing, ...machines, ...practice];
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-guides-'));
const had = process.env.NSYS;
let server: ChildProcess;
let url = '';

/** An nsys that exists, and that every report is too new for: what the machine has must not decide. */
const NSYS = `#!/bin/sh
[ "$1" = --version ] && { echo 'NVIDIA Nsight Systems version 2025.3.1.90-1v0'; exit 0; }
echo 'Exportation error: Version number is invalid' >&2; exit 1
`;
/** As nsys stats and Nsight Systems print tables; the numbers are made up. */
const PRINTED = `CUDA Kernel Statistics:

 Time (%)  Total Time (ns)  Instances  Avg (ns)  Kernel Name
 --------  ---------------  ---------  --------  -----------
    60.0%        6,000,000        300    20,000  ampere_fp16_s1688gemm_fp16_128x128_ldg8
    30.0%        3,000,000        150    20,000  flash_fwd_kernel<Flash_fwd_kernel_traits>
`;
const NOTES = `auto:

| Time  | Total Time | Instances | Avg      | Name |
| ----- | ---------- | --------- | -------- | ---- |
| 40.0% | 4.000 s    | 4,000     | 1.000 ms | void cutlass::Kernel2\\<cutlass\\_80\\_tensorop\\_f16\\_s16816gemm\\_relu\\_f16\\_256x128\\_32x3\\_tn\\_align8>(T1::Params) |

disable:

| Time  | Total Time | Instances | Avg        | Name |
| ----- | ---------- | --------- | ---------- | ---- |
| 50.0% | 5.000 s    | 10,000    | 500.000 μs | sm80\\_xmma\\_gemm\\_f16f16\\_f16f32\\_f32\\_tn\\_n\\_tilesize160x128x32 |
`;

/** No bundled capture has a failed CUDA call: some of one are made to have run out of memory. */
async function withFailedCalls(name: string): Promise<Uint8Array> {
  const SQL = await initSqlJs();
  const database = new SQL.Database(gunzipSync(fs.readFileSync(capturePath(name))));
  database.run('UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 2 WHERE rowid % 200 = 0');
  return database.export();
}

before(async () => {
  server = fork(path.join(projectRoot, 'dist/test/load-server.js'));
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  url = `http://127.0.0.1:${port}/timed`;
  fs.writeFileSync(path.join(work, 'nsys'), NSYS, { mode: 0o755 });
  process.env.NSYS = path.join(work, 'nsys');
  fs.writeFileSync(path.join(work, 'newer.nsys-rep'), 'NVIDIA Tegra Profiler Report 2031@2@1@90-1v0.\n');
  fs.writeFileSync(path.join(work, 'errors.sqlite'), await withFailedCalls('old23'));
  fs.writeFileSync(path.join(work, 'printed.txt'), PRINTED);
  fs.writeFileSync(path.join(work, 'notes.md'), NOTES);
});
after(() => {
  server.disconnect();
  if (had === undefined) delete process.env.NSYS;
  else process.env.NSYS = had;
  fs.rmSync(work, { recursive: true });
});

function placed(word: string): string {
  const named = (name: string, kind: string | undefined) =>
    kind === 'torch'
      ? capturePath(name, 'kineto.json.gz')
      : kind === 'load'
        ? capturePath(name, 'expert-load.json')
        : capturePath(name);
  return word
    .replace(/@([\w-]+?)(?:\.(torch|load))?(?=$|,)/, (_, name: string, kind?: string) => named(name, kind))
    .replace(/^%/, `${projectRoot}test/fixtures/bench/`)
    .replace(/^out\//, `${work}/`)
    .replace(/^docs\//, `${projectRoot}docs/`)
    .replace(/^URL$/, url);
}

/** A capture only prints its plan here, for versions that do not depend on the machine. */
function wordsOf({ run }: Statement): string[] {
  const words = shellWords(run).map(placed);
  if (words[0] !== 'capture') return words;
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const dry = words.includes('--explain') ? [] : ['--dry-run'];
  const versions = ['--nsys-version', '2025.3.1', '--engine-version', '1.2.0'];
  return [...words.slice(0, end), ...dry, ...versions, ...words.slice(end)];
}

/** Several statements are answered by one command: it runs once. */
const answers = new Map<string, ReturnType<typeof runStepscope>>();
function answerTo(statement: Statement) {
  const key = statement.run;
  if (!answers.has(key)) answers.set(key, runStepscope(wordsOf(statement), 160));
  return answers.get(key)!;
}

for (const { title, statements } of chapters)
  test(title, async () => {
    for (const statement of statements) {
      const { status, out, err } = await answerTo(statement);
      const text = `${out}\n${err}`;
      assert.equal(status, statement.status ?? 0, `${statement.run}\n${text.slice(0, 800)}`);
      for (const pattern of statement.shows)
        assert.match(text, pattern, `${statement.run}: ${statement.asks}`);
    }
  });

test('docs/guides.md lists every statement', () => {
  const all = chapters.flatMap(({ statements }) => statements);
  assert.equal(new Set(all.map(({ asks }) => asks)).size, all.length, 'a statement is listed twice');
  for (const { asks, shows, guides } of all) {
    assert.ok(
      shows.every(({ source }) => source.length > 2),
      `${asks}: nothing is checked`,
    );
    assert.match(guides, /^A?B?C?D?E?$/, asks);
  }
  assertSameText(path.join(projectRoot, 'docs/guides.md'), guidesPage(chapters));
});
