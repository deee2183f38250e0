/**
 * Every command that takes a profile, given something else or hardly anything: it answers, or says in two lines what is
 * wrong and what to do. No stack, no number that is none, no share of more than everything.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-unseen-'));
after(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string) => path.join(folder, name);

const event = (cat: string, name: string, ts: number, args?: object) => ({
  ...{ ph: 'X', cat, name, ts, dur: 2, pid: 0, tid: 7 },
  ...(args ? { args } : {}),
});
const trace = (...traceEvents: object[]) => JSON.stringify({ traceEvents });
const files: Readonly<Record<string, string>> = {
  'text.txt': 'hello world, some text\n',
  'empty.json': '',
  'other.json': '{"a": 1}',
  'list.json': '[]',
  'one-kernel.json': trace(event('kernel', 'k', 1, { stream: 7, device: 0, correlation: 1 })),
  'no-gpu.json': trace(event('cpu_op', 'aten::add', 1), event('cpu_op', 'aten::mul', 4)),
  'short.json': trace(
    event('cuda_runtime', 'cudaLaunchKernel', 1, { correlation: 1 }),
    event('kernel', 'k', 4, { stream: 7, device: 0, correlation: 1 }),
  ),
};
for (const [name, content] of Object.entries(files)) writeFileSync(inFolder(name), content);
mkdirSync(inFolder('folder'));

let written = 0;
const fresh = (ending: string) => inFolder(`written-${written++}${ending}`);
const calls: readonly ((file: string) => readonly string[])[] = [
  file => [file],
  file => ['analyze', file, '--json'],
  file => ['report', file, '-o', fresh('.html')],
  file => ['compare', file, file],
  file => ['whatif', file, '--graphs'],
  file => ['whatif', file, '--fp8', '--async', '--json'],
  file => ['host', file],
  file => ['explain', file, 'step:1'],
  file => ['explain', file, 'gap'],
  file => ['search', file, '--name', 'k'],
  file => ['ncu', file, 'k'],
  file => ['repro', file, 'k'],
  file => ['export', file, '-o', fresh('.pftrace')],
  file => ['export', file, '-o', fresh('.otlp.json')],
  file => ['steps', file, '--sequence'],
  file => ['info', file, '--json'],
  file => ['stats', file],
  file => ['bench', file],
  file => ['moe', file],
  file => ['families', file],
  file => ['frameworks', file],
  file => ['baseline', 'save', 'x', file, '--baselines', fresh('.json')],
  file => ['baseline', 'list', '--baselines', file],
  file => ['trend', file, file],
  file => ['optimize', 'start', file, '--journal', fresh('')],
  file => ['fleet', 'report', file],
  file => ['redact', file, '-o', fresh('')],
];

for (const name of [...Object.keys(files), 'folder'])
  test(`${name} is answered or rejected in two lines`, async () => {
    let rejected = 0;
    for (const call of calls) {
      const args = call(inFolder(name));
      const { status, out, err } = await runStepscope(args);
      const shown = `stepscope ${args.join(' ')}\n${out}${err}`;
      assert.doesNotMatch(out + err, /^\s+at .*:\d+|internal error|\[object/m, shown);
      assert.doesNotMatch(out + err, /\b(?:NaN|Infinity|undefined)\b/, shown);
      for (const [, share] of out.matchAll(/(\d+(?:\.\d+)?)%/g)) assert.ok(Number(share) <= 100, shown);
      if (status === 0) continue;
      rejected++;
      assert.equal(out, '', shown);
      assert.match(err, /^stepscope: .+\n.+\n$/, shown);
    }
    assert.ok(rejected > 5, `only ${rejected} commands rejected it`);
  });
