/** Synthetic requests: the form trtllm-bench reads, lengths as asked for, the same bytes for the same seed. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { type DatasetOptions, datasetLines, prepareDatasetCommand } from '../src/capture/dataset.js';
import { runCommand } from '../src/cli/main.js';
import type { Output } from '../src/cli/output.js';
import { readLengths } from '../src/stats/lengths.js';

const options = (input: string, output: string, more: Partial<DatasetOptions> = {}): DatasetOptions => ({
  requests: 2000,
  input: readLengths('--input', input),
  output: readLengths('--output', output),
  seed: 1,
  vocabulary: 32000,
  text: false,
  ...more,
});

interface Request {
  task_id: number;
  input_ids?: number[];
  prompt?: string;
  output_tokens: number;
}
const requests = (of: DatasetOptions): Request[] => [...datasetLines(of)].map(line => JSON.parse(line));

test('a line is what trtllm-bench writes: no spaces, ids in order', () => {
  const [line] = datasetLines(options('3', '128'));
  assert.match(line, /^\{"task_id":0,"input_ids":\[\d+,\d+,\d+\],"output_tokens":128\}\n$/);
  const text = requests(options('4', '1', { text: true, requests: 3 }));
  assert.deepEqual(
    text.map(({ task_id, prompt, output_tokens }) => [task_id, prompt!.split(' ').length, output_tokens]),
    [
      [0, 4, 1],
      [1, 4, 1],
      [2, 4, 1],
    ],
  );
});

test('normal lengths have their mean and deviation and are at least 1', () => {
  const lengths = requests(options('normal:512:64', '128')).map(({ input_ids }) => input_ids!.length);
  const mean = lengths.reduce((a, b) => a + b) / lengths.length;
  const deviation = Math.sqrt(lengths.reduce((sum, x) => sum + (x - mean) ** 2, 0) / lengths.length);
  assert.ok(Math.abs(mean - 512.5) < 5, String(mean));
  assert.ok(Math.abs(deviation - 64) < 4, String(deviation));
  assert.ok(requests(options('normal:2:50', '1')).every(({ input_ids }) => input_ids!.length >= 1));
});

test('uniform lengths reach both bounds and nothing beyond; tokens stay in the vocabulary', () => {
  const drawn = requests(options('uniform:3-7', 'uniform:1-4', { vocabulary: 5000 }));
  const lengths = new Set(drawn.map(({ input_ids }) => input_ids!.length));
  assert.deepEqual([...lengths].sort(), [3, 4, 5, 6, 7]);
  assert.deepEqual([...new Set(drawn.map(({ output_tokens }) => output_tokens))].sort(), [1, 2, 3, 4]);
  assert.ok(drawn.every(({ input_ids }) => input_ids!.every(id => id >= 100 && id < 5000)));
  assert.ok(
    requests(options('50', '1', { vocabulary: 2, requests: 5 })).every(({ input_ids }) =>
      input_ids!.every(id => id < 2),
    ),
  );
});

test('the same seed gives the same bytes, another gives others', () => {
  const of = (seed: number) =>
    [...datasetLines(options('normal:20:5', 'uniform:1-9', { seed, requests: 50 }))].join('');
  assert.equal(of(1), of(1));
  assert.notEqual(of(1), of(2));
  // Held fixed, so that a dataset can be made again years later.
  assert.equal(of(1).split('\n')[0], FIRST_LINE);
});
const FIRST_LINE =
  '{"task_id":0,"input_ids":[31395,30991,9067,19649,23091,13682,31834,14623,15692,4531,12979,7996,5028,15703,2249,12688,24570,9218,6188,1463,13733,18933,25578,9506,6654,21094,17520,24294],"output_tokens":5}';

test('the same request to TensorRT-LLM', () => {
  assert.equal(
    prepareDatasetCommand(options('normal:512:64', '128'), 'a b.txt'),
    "trtllm-bench --model MODEL prepare-dataset --output 'a b.txt' --random-seed 1 token-norm-dist --num-requests 2000 --input-mean 512 --input-stdev 64 --output-mean 128 --output-stdev 0",
  );
  assert.match(
    prepareDatasetCommand(options('uniform:3-7', '128'), 'd')!,
    /token-unif-dist .*--input-min 3 --input-max 7 --output-min 128 --output-max 128$/,
  );
  assert.equal(prepareDatasetCommand(options('uniform:3-7', 'normal:5:1'), 'd'), undefined);
});

test('lengths that are none', () => {
  for (const text of [
    '',
    '0',
    'normal',
    'normal:a',
    'normal:5:x',
    'uniform:5',
    'uniform:9-3',
    'uniform:0-3',
    '-4',
    '5:2',
    '1e9',
    '99999999999',
  ])
    assert.throws(() => readLengths('--input', text), { name: 'UserError' }, text);
});

function collect(): Output & { text: { out: string; err: string } } {
  const text = { out: '', err: '' };
  return {
    text,
    out: t => void (text.out += t),
    err: t => void (text.err += t),
    width: Infinity,
    color: false,
    progress() {},
    clearProgress() {},
  };
}

test('the command writes, refuses to overwrite, and errs in two lines', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-dataset-'));
  const file = path.join(folder, 'dataset.txt');
  const args = [
    'dataset',
    '--requests',
    '1500',
    '--input-tokens',
    'normal:300:20',
    '--output-tokens',
    '128',
    '-o',
    file,
  ];
  const first = collect();
  assert.equal(await runCommand(args, first), 0, first.text.err);
  assert.match(
    first.text.err,
    /wrote .*1,500 requests.*\nwith TensorRT-LLM: trtllm-bench --model MODEL prepare-dataset/,
  );
  const written = fs.readFileSync(file, 'utf8');
  assert.equal(written.trimEnd().split('\n').length, 1500);
  assert.equal(written, [...datasetLines(options('normal:300:20', '128', { requests: 1500 }))].join(''));
  const again = collect();
  assert.equal(await runCommand(args, again), 2);
  assert.match(again.text.err, /^stepscope: .* already exists\.\n.*--force\.\n$/);
  assert.equal(await runCommand([...args, '--force'], collect()), 0);
  for (const bad of [
    [],
    ['--requests', '0', '--input-tokens', '1', '--output-tokens', '1'],
    ['--requests', '1', '--input-tokens', 'x', '--output-tokens', '1'],
    ['--requests', '1', '--input-tokens', '1', '--output-tokens', '1', '--vocab', '1'],
    ['--requests', '1', '--input-tokens', '1', '--output-tokens', '1', '-o', '/no/such/folder/x'],
  ]) {
    const output = collect();
    assert.equal(await runCommand(['dataset', ...bad], output), 2, bad.join(' '));
    assert.equal(output.text.err.split('\n').length, 3, output.text.err);
  }
  const printed = collect();
  assert.equal(
    await runCommand(['dataset', '--requests', '2', '--input-tokens', '3', '--output-tokens', '4'], printed),
    0,
  );
  assert.equal(printed.text.out.split('\n').length, 3);
  fs.rmSync(folder, { recursive: true });
});
