/**
 * Names from strangers' files on their way out: nothing moves a cursor, commands a log viewer, or is computed by a
 * spreadsheet, in any format.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { parseCsv } from '../src/base/parse-csv.js';
import { runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-hostile-'));
after(() => rmSync(folder, { recursive: true }));

const hostile = [
  'red\u001b[31m and \u001b]0;title\u0007',
  'c1 \u009b2J \u0085 \u2028 \u202egnirts',
  '::error file=x::taken over',
  '##[error]taken over',
  '=HYPERLINK("http://x","y")',
  '@SUM(A1)',
  '-2+cmd|x!A1',
  '+1+1',
];

/** A trace in which every name is one of them. */
function hostileTrace(): string {
  const event = (cat: string, name: string, i: number) => ({
    ph: 'X',
    cat,
    name,
    pid: cat === 'kernel' || cat === 'gpu_memcpy' ? 0 : 100,
    tid: 7,
    ts: 1000 + i * 10,
    dur: 5,
    args: { device: 0, stream: 7, correlation: i + 1 },
  });
  const events = hostile.flatMap((name, i) => [
    event('kernel', name, i),
    event('cuda_runtime', name, i),
    event('user_annotation', name, i),
    event('cpu_op', name, i),
    { ph: 'M', name: 'process_name', pid: 100, args: { name } },
    { ph: 'M', name: 'thread_name', pid: 100, tid: 7, args: { name } },
    { ph: 'X', cat: 'cuda_runtime', ts: 2000, name },
  ]);
  return JSON.stringify({
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: hostile[0] }],
    traceEvents: events,
  });
}

const file = path.join(folder, 'hostile.json');
writeFileSync(file, hostileTrace());

// biome-ignore lint/suspicious/noControlCharactersInRegex: looking for exactly those
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202e]/;

const calls: readonly (readonly string[])[] = [
  ['info'],
  ['analyze', '--all'],
  ['analyze', '-a', 'top-kernels'],
  ['stats', '-r', 'cuda_gpu_kern_sum,cuda_api_sum,nvtx_sum'],
];

for (const format of ['table', 'markdown', 'csv', 'json']) {
  test(`${format}: names are shown and do nothing`, async () => {
    for (const [command, ...options] of calls) {
      const { out, err, status } = await runStepscope([command, file, ...options, '--format', format]);
      if (status !== 0) continue;
      const text = out + err;
      assert.doesNotMatch(text, control, `${command} ${options}`);
      if (format !== 'json') assert.doesNotMatch(out, /^\s*(?:::|##\[)/m, `${command} ${options}`);
      if (format !== 'csv') continue;
      for (const cell of parseCsv(out).flat())
        assert.doesNotMatch(cell, /^[=@\t]|^[+-](?![\d.,]+\s?[%\w/µ]*$)/);
    }
  });
}

test('the names are really there', async () => {
  const { out } = await runStepscope(['stats', file, '-r', 'cuda_gpu_kern_sum', '--format', 'csv']);
  assert.match(out, /taken over/);
  assert.match(out, /'=HYPERLINK/);
});

test('errors name files harmlessly', async () => {
  const { err, status } = await runStepscope(['info', 'no\u001b[31m\n::error such file']);
  assert.notEqual(status, 0);
  assert.doesNotMatch(err, control);
  assert.doesNotMatch(err, /^::/m);
});
