/** The engine's own clock next to a capture: kept while it runs, named by the recipe, found when the profile is opened. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { recipeSchema } from '../src/capture/capture-schema.js';
import { EngineClock } from '../src/capture/run/engine-clock.js';
import { recordedWith } from '../src/capture/run/recorded-with.js';
import { writeRecipe } from '../src/capture/run/write-recipe.js';
import type { WrittenFile } from '../src/capture/run/written-files.js';
import { runCommand } from '../src/cli/main.js';
import { profileOf } from '../src/cli/profile-of.js';
import { quietStepsOf } from '../src/import/quiet-step.js';
import { QuietSource } from '../src/model/schema.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-clock-'));
after(() => fs.rmSync(scratch, { recursive: true, force: true }));
let work = '';
beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
});

const put = (name: string, text: string, kind: WrittenFile['kind'] = 'nsys-report'): WrittenFile => {
  const file = path.join(work, name);
  fs.writeFileSync(file, text);
  return { path: file, kind, bytes: Buffer.byteLength(text) };
};
const ran = (files: readonly WrittenFile[]) => ({
  files,
  startedUtc: '2026-01-01T00:00:00Z',
  endedUtc: '2026-01-01T00:00:01Z',
  status: 0,
});
const plan = { command: ['engine'], nsysAt: -1, env: {}, outputs: [] };
const recipeOf = (files: readonly WrittenFile[]) =>
  writeRecipe(plan, ran(files), { versions: {}, where: 'here' });
const namesWith = async (...files: string[]) =>
  (await recordedWith(files.map(file => path.join(work, file)))).map(file => path.basename(file));

const ITERATION =
  "[TRT-LLM] [I] iter = 7, global_rank = 0, rank = 0, currank_total_requests = 0/64, host_step_time = 12.34ms, prev_device_step_time = 11.87ms, timestamp = x, num_scheduled_requests: 64, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 64}";
const SERVER =
  'INFO 09-02 13:08:10 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 240.2 tokens/s, Running: 10 reqs, Waiting: 0 reqs, GPU KV cache usage: 4.7%, Prefix cache hit rate: 53.7%';

test('of what a program prints, the lines with times are kept, and nothing else', () => {
  const report = put('trace.nsys-rep', 'report');
  const clock = new EngineClock();
  for (const line of [
    'token=hf_secret',
    ITERATION,
    'Warmup done.',
    SERVER,
    'bye',
    `${ITERATION}${' '.repeat(9999)}`,
  ])
    clock.hear(line);
  clock.hearLoad({ schema: 'stepscope-load/1' });
  clock.hearLoad({ schema: 'of the profiled part' });
  const written = clock.write([report], false);
  assert.deepEqual(
    written.map(({ path: file, kind }) => [path.basename(file), kind]),
    [
      ['trace.engine.log', 'engine-log'],
      ['trace.load.json', 'load-result'],
    ],
  );
  assert.equal(
    fs.readFileSync(written[0].path, 'utf8'),
    `${[ITERATION, 'Warmup done.', SERVER].join('\n')}\n`,
  );
  assert.equal(fs.readFileSync(written[1].path, 'utf8'), '{"schema":"stepscope-load/1"}\n');
  for (const { path: file, bytes } of written) assert.equal(fs.statSync(file).size, bytes);
  // What lies there already is somebody's.
  assert.deepEqual(clock.write([report], false), []);
  assert.equal(clock.write([report], true).length, 2);
  assert.deepEqual(new EngineClock().write([report], true), []);
  assert.deepEqual(clock.write([put('trace.agent.json', '{}', 'agent-sidecar')], true), []);
});

test('a long run keeps its last lines', () => {
  const clock = new EngineClock();
  for (let i = 0; i < 250_000; i++) clock.hear(ITERATION.replace('iter = 7', `iter = ${i}`));
  const [log] = clock.write([put('trace.nsys-rep', 'report')], false);
  const lines = fs.readFileSync(log.path, 'utf8').trim().split('\n');
  assert.equal(lines.length, 100_000);
  assert.match(lines.at(-1)!, /iter = 249999,/);
});

test('the recipe names them, and they are found with the profile while nobody changed them', async () => {
  const files = [
    put('trace.nsys-rep', 'report'),
    put('trace.agent.json', '{}', 'agent-sidecar'),
    put('trace.engine.log', `${SERVER}\n`, 'engine-log'),
    put('trace.load.json', '{"a":1}', 'load-result'),
  ];
  const recipe = await recipeOf(files);
  const ajv = new Ajv2020({ allowUnionTypes: true });
  assert.ok(
    ajv.validate(recipeSchema, JSON.parse(fs.readFileSync(recipe!, 'utf8'))),
    JSON.stringify(ajv.errors),
  );
  const all = ['trace.agent.json', 'trace.engine.log', 'trace.load.json'];
  assert.deepEqual(await namesWith('trace.nsys-rep'), all);
  assert.deepEqual(await namesWith('trace.nsys-rep', 'trace.engine.log'), [all[0], all[2]]);
  // Another profile under this name, or another content of a file.
  put('trace.load.json', '{"a":2}');
  assert.deepEqual(await namesWith('trace.nsys-rep'), all.slice(0, 2));
  put('trace.nsys-rep', 'another report');
  assert.deepEqual(await namesWith('trace.nsys-rep'), []);
  assert.deepEqual(await namesWith('missing.nsys-rep'), []);
});

test('of several ranks, each has its own agent file', async () => {
  await recipeOf([
    ...[0, 1].map(rank => put(`trace.rank${rank}.nsys-rep`, `report of ${rank}`)),
    ...[0, 1].map(rank => put(`trace-rank-${rank}.agent.json`, `{"rank":${rank}}`, 'agent-sidecar')),
    put('trace.engine.log', `${SERVER}\n`, 'engine-log'),
  ]);
  assert.deepEqual(await namesWith('trace.rank1.nsys-rep'), ['trace-rank-1.agent.json', 'trace.engine.log']);
  assert.deepEqual((await namesWith('trace.rank0.nsys-rep', 'trace.rank1.nsys-rep')).sort(), [
    'trace-rank-0.agent.json',
    'trace-rank-1.agent.json',
    'trace.engine.log',
  ]);
});

test('recipes of before, which do not say what a file is, give nothing to open', async () => {
  const recipe = await recipeOf([
    put('trace.nsys-rep', 'report'),
    put('trace.agent.json', '{}', 'agent-sidecar'),
  ]);
  const document = JSON.parse(fs.readFileSync(recipe!, 'utf8'));
  for (const output of document.outputs) delete output.kind;
  fs.writeFileSync(recipe!, JSON.stringify(document));
  assert.deepEqual(await namesWith('trace.nsys-rep'), []);
});

/** A model on the CPU that numbers its steps and prints as an engine does. */
const PROGRAM = `
import sys, time
sys.path.insert(0, ${JSON.stringify(path.join(projectRoot, 'agent/tests'))})
import models, torch
model = models.model()
with torch.inference_mode():
    for i in range(60):
        begun = time.perf_counter()
        model(models.prompt(2, 5 if i == 0 else 1))
        ms = 1000 * (time.perf_counter() - begun)
        print("iter = %d, global_rank = 0, rank = 0, num_scheduled_requests = 2, host_step_time = %fms, prev_device_step_time = N/A, timestamp = x, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 2}" % (i, ms), flush=True)
`;

test('a real capture: analyze finds both clocks again', { skip: lacks('torch') }, async () => {
  const program = put('serve.py', PROGRAM).path;
  const trace = path.join(work, 'trace');
  let said = '';
  const output = {
    out: (text: string) => void (said += text),
    err: (text: string) => void (said += text),
    width: 100,
    color: false,
    progress() {},
    clearProgress() {},
  };
  await runCommand(
    ['capture', '--agent', '--torch-trace', trace, '--iterations', '20-29', '--', locate('torch')!, program],
    output,
  );
  const report = fs.readdirSync(work).find(name => /\.json\.gz$/.test(name));
  assert.ok(report, said);
  const profile = await profileOf([path.join(work, report)], output);
  const steps = quietStepsOf(profile);
  const of = (source: number) =>
    steps.filter(step => step.source === source).map(({ iteration }) => iteration);
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  assert.deepEqual(of(QuietSource.beforeWindow), numbers(0, 18));
  assert.deepEqual(of(QuietSource.afterWindow), numbers(38, 58));
  assert.deepEqual(of(QuietSource.iterationLog), [...numbers(0, 19), ...numbers(38, 59)]);
  assert.ok(steps.every(({ periodNs }) => periodNs > 0 && periodNs < 60e9));
});
