/** Load on a server of known behaviour: times are the server's, failures are counted and never fatal, nothing leaks. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openBenchRuns } from '../src/import/bench/open-bench.js';
import type { LevelResult, LoadDocument } from '../src/load/load-document.js';
import { loadSchema } from '../src/load/load-schema.js';
import { scrub } from '../src/load/scrub.js';
import { readTarget } from '../src/load/target.js';
import { drawLength, readLengths } from '../src/stats/lengths.js';
import { randomStream } from '../src/stats/random.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import type { Truth } from './load-server.js';
import { answerIn, runStepscope } from './run-stepscope.js';
import { timed } from './timed.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-load-'));
let server: ChildProcess;
let address = '';
before(async () => {
  server = fork(path.join(projectRoot, 'dist/test/load-server.js'));
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  address = `http://127.0.0.1:${port}`;
});
after(() => {
  server.disconnect();
  rmSync(folder, { recursive: true });
});

/** What the server saw since it was last asked; and it begins anew. */
async function seen(): Promise<{ truths: Truth[]; open: number; accepted: number; closedIdle: number }> {
  const answer = once(server, 'message');
  server.send('tell');
  return (await answer)[0];
}

const stepscope = (args: string[]) => runStepscope(args);

let files = 0;
/** Runs a load and gives its file. */
async function load(kind: string, ...args: string[]) {
  await seen();
  const file = path.join(folder, `load-${files++}.json`);
  const result = await stepscope(['load', `${address}/${kind}`, '-o', file, ...args]);
  assert.ok(existsSync(file), `${result.out}${result.err}`);
  const document: LoadDocument = JSON.parse(readFileSync(file, 'utf8'));
  return { ...result, file, document, level: document.levels[0], ...(await seen()) };
}

const delays = (ttft: number, gap: number, spread = 0) => [
  '--body',
  JSON.stringify({ ttft_ms: ttft, gap_ms: gap, spread }),
];
const median = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
};
function assertNear(actual: number | undefined, expected: number, tolerance: number, what: string): void {
  const isNear = actual !== undefined && Math.abs(actual - expected) <= expected * tolerance;
  assert.ok(isNear, `${what}: ${actual} is not within ${tolerance * 100}% of ${expected}`);
}
const p = (level: LevelResult, name: 'ttft' | 'tpot' | 'itl' | 'e2e', percent: number) =>
  level.latency[name]!.percentilesNs[percent] / 1e6;
const codes = (level: LevelResult) => level.notes.map(({ code }) => code);

for (const [users, requests] of [
  [1, 10],
  [16, 64],
  [128, 384],
]) {
  timed(`times at ${users} connections are those of the server's own clock, within 5%`, {}, async () => {
    const { level, truths } = await load(
      'timed',
      ...['--level', `concurrent:${users}`, '--requests', String(requests), '--warmup', String(users)],
      ...['--output-tokens', '12', ...delays(400, 60, 0.3)],
    );
    assert.equal(level.counts.completed, requests);
    assert.deepEqual(level.errors, []);
    // The trial and the warm-up came first.
    const counted = truths.sort((a, b) => a.arrivedMs - b.arrivedMs).slice(1 + users);
    assert.equal(counted.length, requests);
    const ttft = median(counted.map(({ arrivedMs, pieceMs }) => pieceMs[0] - arrivedMs));
    const gaps = counted.flatMap(({ pieceMs }) => pieceMs.slice(1).map((ms, i) => ms - pieceMs[i]));
    const e2e = median(counted.map(({ arrivedMs, pieceMs }) => pieceMs[11] - arrivedMs));
    const tpot = median(counted.map(({ pieceMs }) => (pieceMs[11] - pieceMs[0]) / 11));
    assertNear(p(level, 'ttft', 50), ttft, 0.05, 'TTFT');
    assertNear(p(level, 'itl', 50), median(gaps), 0.05, 'ITL');
    assertNear(p(level, 'e2e', 50), e2e, 0.05, 'E2E');
    assertNear(p(level, 'tpot', 50), tpot, 0.05, 'TPOT');
    // Of the set delays too, or both clocks could be wrong alike.
    assertNear(p(level, 'ttft', 50), 400, 0.15, 'TTFT as set');
    assertNear(p(level, 'itl', 50), 60, 0.15, 'ITL as set');
    assert.equal(level.load.maxConcurrency, users);
    assert.ok(level.load.meanConcurrency! <= users + 0.01 && level.load.meanConcurrency! > users * 0.7);
    assertNear(level.throughput.outputTokens, level.throughput.requests! * 12, 1e-9, 'tokens');
  });
}

test('what the engine reports meanwhile is read twice a second, unless it is not wanted', async () => {
  const asked = ['--levels', 'concurrent:4', '--requests', '8', '--output-tokens', '10', ...delays(100, 40)];
  const { level, file } = await load('timed', ...asked);
  const states = level.engineStates!;
  assert.ok(states.length >= 1, JSON.stringify(states));
  for (const { atNs, running = 0, waiting, kvShare } of states) {
    assert.ok(atNs >= 0 && atNs <= level.durationNs!);
    assert.ok(running <= 4 && waiting === running / 2 && kvShare === 0.25);
  }
  assert.ok(states.some(({ running }) => running === 4));
  assert.deepEqual((await openBenchRuns([file]))[0].engineStates, states);
  assert.equal((await load('timed', '--no-metrics', ...asked)).level.engineStates, undefined);
  assert.equal((await load('without-usage', ...asked)).level.engineStates, undefined);
});

timed('chat: the role is no token, tokens are the server’s count', {}, async () => {
  const { level, document } = await load(
    'timed/v1/chat/completions',
    ...['--requests', '4', '--output-tokens', '5', '--input-tokens', '50', ...delays(200, 30)],
  );
  assert.equal(document.target.api, 'chat');
  assert.equal(document.target.model, 'org/test-model');
  assert.equal(document.target.framework, 'vLLM');
  assert.equal(document.target.frameworkVersion, '1.2.3');
  assertNear(p(level, 'ttft', 50), 200, 0.1, 'TTFT');
  assert.ok(level.timing.firstByte!.percentilesNs[50] < 100e6, 'headers come at once');
  assert.equal(level.counts.outputTokens, 20);
  assert.deepEqual(level.tokens, { input: 'usage', output: 'usage', perPiece: 1 });
});

test('without usage, words and pieces stand for tokens, and that is said', async () => {
  const { level, out } = await load(
    'without-usage',
    ...['--requests', '3', '--output-tokens', '5', '--input-tokens', '50'],
  );
  assert.deepEqual(level.tokens, { input: 'words', output: 'pieces' });
  assert.equal(level.counts.outputTokens, 15);
  assert.equal(level.counts.inputTokens, 150);
  assert.match(out, /prompt lengths are in words, close to tokens/);
});

timed('without streaming there is no TTFT, TPOT or ITL', {}, async () => {
  const { level } = await load(
    'timed',
    ...['--no-stream', '--requests', '3', '--output-tokens', '5', ...delays(100, 0)],
  );
  assert.deepEqual(Object.keys(level.latency), ['e2e']);
  assertNear(p(level, 'e2e', 50), 100, 0.2, 'E2E');
  assert.equal(level.counts.outputTokens, 15);
});

test('every failure is counted by its kind, with an example, and ends nothing', async () => {
  const expected: Readonly<Record<string, string>> = {
    reset: 'reset',
    'close-at-once': 'reset',
    hang: 'timeout',
    'slow-loris': 'timeout',
    'slow-head': 'timeout',
    'half-closed': 'cut-off',
    'without-done': 'cut-off',
    'bad-json': 'malformed',
    'bad-event': 'malformed',
    'bad-chunk': 'malformed',
    'bad-head': 'malformed',
    'bad-utf8': 'malformed',
    'giant-line': 'too-large',
    'giant-head': 'too-large',
    'error-event': 'error-event',
    empty: 'empty',
    'http-429': 'http-429',
    'http-500': 'http-500',
    'http-401': 'http-401',
    redirect: 'redirect',
  };
  for (const [kind, failure] of Object.entries(expected)) {
    const before = process.memoryUsage().rss;
    const { level, out, status } = await load(
      `mix:${kind},timed`,
      ...['--requests', '4', '--warmup', '0', '--timeout', '500ms', '--output-tokens', '3'],
    );
    assert.equal(status, 0);
    assert.deepEqual(
      level.errors.map(error => [error.kind, error.count]),
      [[failure, 2]],
      kind,
    );
    assert.equal(level.counts.completed, 2, kind);
    assert.notEqual(level.errors[0].example, '', kind);
    assert.match(out, /2 \(50\.0%\): /);
    assert.ok(process.memoryUsage().rss - before < 200e6, `${kind} fills the memory`);
  }
});

test('examples say what the server said', async () => {
  const { level } = await load('mix:http-429,error-event,redirect,timed', '--requests', '4', '--warmup', '0');
  const example = (kind: string) => level.errors.find(error => error.kind === kind)?.example;
  assert.equal(example('http-429'), 'slow down');
  assert.equal(example('error-event'), 'out of KV cache blocks');
  assert.equal(example('redirect'), 'HTTP 307 to https://elsewhere.example/v1');
});

test('odd but sound answers are answers', async () => {
  for (const [kind, note] of [
    ['split-utf8', undefined],
    ['finished-without-done', 'without-done'],
    ['left-open', undefined],
  ] as const) {
    const { level } = await load(`mix:${kind}`, '--requests', '2', '--warmup', '0');
    assert.deepEqual(level.errors, [], kind);
    assert.equal(level.counts.completed, 2, kind);
    assert.equal(level.counts.outputTokens, 4, kind);
    assert.equal(codes(level).includes('without-done'), note === 'without-done', kind);
  }
});

test('a kept connection that the server closed when idle is no failure, one closed in use is', async () => {
  const { level, closedIdle } = await load(
    'closes-idle',
    ...['--level', 'sustained:0.8/s', '--arrivals', 'constant', '--requests', '3', '--warmup', '0'],
    ...['--output-tokens', '2'],
  );
  assert.equal(closedIdle, 2);
  assert.deepEqual(level.errors, []);
  assert.equal(level.counts.completed, 3);
  assert.equal(level.notes.find(({ code }) => code === 'retried')?.count, 2);
  const fresh = await load('mix:reset,timed', '--requests', '4', '--warmup', '0', '--no-keep-alive');
  assert.equal(fresh.level.counts.errors, 2);
  assert.equal(fresh.level.timing.newConnections, 2);
});

test('nothing worked at all: two lines and a status', async () => {
  for (const [kind, words] of [
    ['http-401', /HTTP 401 \(no\)\.\n.*--api-key-env/],
    ['redirect', /redirected \(not followed\)/],
    ['http-500', /HTTP 500/],
    ['half-closed', /response truncated/],
  ] as const) {
    const { status, out, err } = await stepscope([
      ...['load', `${address}/${kind}`, '--requests', '2', '--warmup', '0'],
    ]);
    assert.equal(status, 11, kind);
    assert.equal(out, '');
    assert.match(err, words);
    assert.equal(err.trimEnd().split('\n').length, 2);
  }
  // Refused in every form: more of the same would not help.
  await seen();
  const wrong = await stepscope(['load', `${address}/http-400`, '--duration', '60s']);
  assert.equal(wrong.status, 11);
  assert.match(wrong.err, /HTTP 400 \(The model `` does not exist\.\)\.\n.*--model/);
  assert.equal((await seen()).truths.length, 4);
  // The warm-up met the same refusal first; its words are not lost with it.
  const long = await stepscope(['load', `${address}/short-context`, '--requests', '2']);
  assert.match(long.err, /HTTP 400 \(maximum context length is 100 tokens\)\.\n.*--input-tokens/);
  const refused = await stepscope(['load', 'http://127.0.0.1:1', '--requests', '2']);
  assert.equal(refused.status, 11);
  assert.match(refused.err, /connection refused/);
  const unknown = await stepscope(['load', 'http://no-such-host.invalid', '--requests', '2']);
  assert.equal(unknown.status, 11);
  assert.match(unknown.err, /host name not found/);
});

test('a server that goes away in the middle is reported', async () => {
  const other = fork(path.join(projectRoot, 'dist/test/load-server.js'));
  const [{ port }] = (await once(other, 'message')) as [{ port: number }];
  const file = path.join(folder, 'gone.json');
  setTimeout(() => other.kill('SIGKILL'), 1500);
  const { status } = await stepscope([
    ...['load', `http://127.0.0.1:${port}/timed`, '--level', 'concurrent:4', '--duration', '3s', '-o', file],
    ...['--output-tokens', '10', ...delays(50, 20)],
  ]);
  assert.equal(status, 0);
  const [level] = (JSON.parse(readFileSync(file, 'utf8')) as LoadDocument).levels;
  const kinds = level.errors.map(({ kind }) => kind).sort();
  assert.ok(level.counts.completed > 4);
  // Which of the first two depends on how far the answers were.
  assert.ok(kinds.every(kind => /^(cut-off|reset|refused)$/.test(kind)) && kinds.length > 1, String(kinds));
  assert.ok(kinds.includes('refused'));
  // Users whose request is refused wait a little: 4 users, 1.5 seconds, 50 ms each at least.
  assert.ok(level.counts.errors <= 4 + 4 * 40, String(level.counts.errors));
});

test('a server that does not know ignore_eos gets none', async () => {
  const { level, document, truths } = await load('strict', '--requests', '3', '--output-tokens', '5');
  assert.equal(level.counts.completed, 3);
  assert.equal(document.settings.exactLength, false);
  assert.ok(codes(level).includes('not-taken'));
  assert.ok(truths.every(({ body }) => !('ignore_eos' in body) && body.max_tokens !== undefined));
  const { truths: asked } = await load('timed', '--requests', '3', '--output-tokens', '5');
  assert.ok(asked.slice(1).every(({ body }) => body.ignore_eos === true && body.min_tokens === 5));
});

timed('an open loop sends at its times: a Poisson process, or constant gaps', {}, async () => {
  for (const [kind, deviation] of [
    ['poisson', 1],
    ['constant', 0],
  ] as const) {
    const { level, truths } = await load(
      'timed',
      ...['--level', 'sustained:100/s', '--requests', '300', '--arrivals', kind, '--output-tokens', '2'],
      ...['--input-tokens', '20', ...delays(150, 10)],
    );
    const due = level.requests!.map(({ startNs }) => startNs / 1e6).sort((a, b) => a - b);
    const gaps = due.slice(1).map((ms, i) => ms - due[i]);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const spread = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
    // Of 300 draws the mean lies within 15% (2.6 deviations) of the truth; the seed makes it the same every time.
    assertNear(mean, 10, 0.15, `${kind} mean gap`);
    assert.ok(Math.abs(spread / mean - deviation) < 0.15, `${kind}: deviation ${spread / mean} of the mean`);
    // Requests left when they were due, as the server saw it too.
    assert.ok(level.timing.sendDelay!.percentilesNs[50] < 5e6, 'sent late');
    const ttft = median(truths.map(({ arrivedMs, pieceMs }) => pieceMs[0] - arrivedMs));
    assertNear(p(level, 'ttft', 50), ttft, 0.25, 'TTFT');
  }
});

test('what a seed fixes is the same again: lengths, arrivals and, if asked, every word', async () => {
  const args = [
    ...['--level', 'sustained:200/s', '--requests', '20', '--warmup', '3', '--seed', '7'],
    ...['--input-tokens', 'normal:60:20', '--output-tokens', 'uniform:2-9'],
  ];
  const shape = ({ requests }: LevelResult) =>
    [...requests!]
      .sort((a, b) => a.id - b.id)
      .map(({ startNs, inputTokens, outputTokens }) => [
        Math.round(startNs / 1e3),
        inputTokens,
        outputTokens,
      ]);
  const prompts = (truths: readonly Truth[]) => truths.map(({ body }) => String(body.prompt)).sort();
  const first = await load('timed', ...args, '--prefix', 'seeded');
  const second = await load('timed', ...args, '--prefix', 'seeded');
  const unique = await load('timed', ...args);
  const other = await load('timed', ...args, '--seed', '8');
  assert.deepEqual(shape(second.level), shape(first.level));
  assert.deepEqual(prompts(second.truths), prompts(first.truths));
  assert.deepEqual(shape(unique.level), shape(first.level));
  assert.notDeepEqual(shape(other.level), shape(first.level));
  // No prompt begins like another, in this run or the last: a prefix cache finds nothing.
  const begins = [...first.truths.slice(1), ...unique.truths.slice(1)].map(({ body }) =>
    String(body.prompt).split(' ').slice(0, 8).join(' '),
  );
  assert.equal(new Set(begins).size, begins.length);
});

test('a shared prefix is shared, and no more', async () => {
  const { truths } = await load(
    'timed',
    ...['--requests', '6', '--input-tokens', '100', '--prefix', 'shared:40', '--output-tokens', '2'],
  );
  // The trial comes first and is not one of them.
  const words = truths.slice(1).map(({ body }) => String(body.prompt).split(' '));
  assert.ok(words.every(list => list.length === 100));
  assert.equal(new Set(words.map(list => list.slice(0, 40).join(' '))).size, 1);
  assert.equal(new Set(words.map(list => list.slice(40, 48).join(' '))).size, words.length);
});

test('a dataset is asked in its order, again from the begin, and its texts are not kept', async () => {
  const dataset = path.join(folder, 'data.jsonl');
  const rows = [
    { task_id: 0, prompt: 'the private question of a customer', output_tokens: 3 },
    { task_id: 1, input_ids: [1, 2, 3, 4], output_tokens: 5 },
    { task_id: 2, turns: ['first turn', 'second turn'] },
  ];
  writeFileSync(dataset, `${rows.map(row => JSON.stringify(row)).join('\n')}\nno line\n`);
  const { level, truths, file, out, document } = await load(
    'timed',
    ...['--dataset', dataset, '--requests', '5', '--warmup', '0', '--output-tokens', '7'],
  );
  // The trial is none of them.
  assert.deepEqual(
    truths.slice(1).map(({ body }) => [body.prompt, body.max_tokens]),
    [
      [rows[0].prompt, 3],
      [[1, 2, 3, 4], 5],
      ['first turn', 7],
      [rows[0].prompt, 3],
      [[1, 2, 3, 4], 5],
    ],
  );
  assert.deepEqual(
    codes(level)
      .filter(code => /prompt|turn/.test(code))
      .sort(),
    ['first-turn', 'no-prompt', 'repeated-prompts'],
  );
  assert.equal(document.settings.prompts, 'data.jsonl');
  assert.ok(!readFileSync(file, 'utf8').includes('private question'));
  assert.ok(!out.includes('private question'));
  const chat = await stepscope(['load', address, '--api', 'chat', '--dataset', dataset]);
  assert.equal(chat.status, 2);
});

timed(
  'a stall shows in an open loop as everyone lives it: latency counts from when a request was due',
  {},
  async () => {
    const args = ['--arrivals', 'constant', '--duration', '3s', '--output-tokens', '2', '--warmup', '0'];
    const { level } = await load('stall', '--level', 'sustained:40/s', ...args, ...delays(10, 5));
    // A third of all requests fall into the second of silence and wait half of it on average.
    assertNear(level.counts.completed, 120, 0.02, 'requests');
    assert.ok(p(level, 'ttft', 50) < 100, `p50 ${p(level, 'ttft', 50)}`);
    assertNear(p(level, 'ttft', 90), 700, 0.15, 'TTFT p90');
    assertNear(p(level, 'ttft', 99), 970, 0.15, 'TTFT p99');
    // Held back by the client itself, only one request is sent into the stall; those behind it still waited.
    const held = await load(
      'stall',
      '--level',
      'sustained:20/s',
      '--max-in-flight',
      '1',
      ...args,
      ...delays(10, 5),
    );
    assert.ok(p(held.level, 'ttft', 90) > 500, `p90 ${p(held.level, 'ttft', 90)}`);
    assert.ok(held.level.timing.sendDelay!.percentilesNs[90] > 500e6);
    assert.ok(codes(held.level).includes('sent-late'));
  },
);

timed('a ramp is not counted, and grows', {}, async () => {
  const { level, truths } = await load(
    'timed',
    ...['--level', 'sustained:100/s', '--arrivals', 'constant', '--ramp', '1s', '--duration', '1s'],
    ...['--warmup', '0', '--output-tokens', '1', '--input-tokens', '20'],
  );
  assertNear(level.counts.completed, 100, 0.03, 'counted');
  // The trial, then half of 100 in the second of the ramp.
  assertNear(truths.length - 1 - level.counts.completed, 50, 0.1, 'in the ramp');
  const users = await load(
    'timed',
    ...[
      '--level',
      'concurrent:10',
      '--ramp',
      '500ms',
      '--requests',
      '30',
      '--warmup',
      '0',
      '--output-tokens',
      '2',
    ],
    ...delays(40, 10),
  );
  assert.equal(users.level.counts.completed, 30);
  assert.ok(users.truths.length > 31 + 20, `${users.truths.length} requests in all`);
});

test('the file follows its schema and comes back equal through stepscope bench', async () => {
  const { file, document } = await load(
    'mix:timed,timed,http-429',
    ...['--levels', 'single,concurrent:4,sustained:50/s', '--requests', '12', '--output-tokens', '5'],
    ...['--body', '{"temperature":0,"ttft_ms":20,"gap_ms":5,"user":"somebody"}'],
  );
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(loadSchema as object);
  assert.ok(validate(document), JSON.stringify(validate.errors?.slice(0, 3)));
  assert.deepEqual(document.settings.sampling, { temperature: 0 });
  assert.deepEqual(document.settings.otherFields, ['ttft_ms', 'gap_ms', 'user']);
  const runs = await openBenchRuns([file]);
  assert.equal(runs.length, 3);
  runs.forEach((run, i) => {
    const { level, load: shape, throughput, latency, counts, durationNs, requests } = document.levels[i];
    const { unfinished, ...kept } = counts;
    assert.equal(run.label, level);
    assert.equal(run.tool, 'stepscope load');
    assert.equal(run.framework, 'vLLM');
    assert.equal(run.model, 'org/test-model');
    assert.deepEqual(run.load, shape);
    assert.deepEqual(run.throughput, throughput);
    assert.deepEqual(run.latency, latency);
    assert.deepEqual(run.counts, kept);
    assert.equal(run.durationNs, durationNs);
    assert.equal(run.requests!.length, requests!.length);
    assert.equal(run.requests!.filter(row => row.failed).length, counts.errors);
    assert.equal(run.requests![0].e2eNs, requests![0].e2eNs);
  });
  const { out } = await stepscope(['bench', file]);
  assert.match(out, /concurrent:4/);
  assert.match(out, /requests failed/);
  const { out: json } = await stepscope(['load', `${address}/timed`, '--requests', '2', '--json']);
  assert.ok(
    validate({ ...answerIn(json), schema: 'stepscope-load/1' }),
    JSON.stringify(validate.errors?.slice(0, 3)),
  );
});

test('Ctrl-C ends the level and reports what there is', async () => {
  await seen();
  const file = path.join(folder, 'interrupted.json');
  const child = spawn(process.execPath, [
    ...[path.join(projectRoot, 'bin/stepscope'), 'load', `${address}/timed`, '-o', file],
    ...[
      '--levels',
      'concurrent:4,concurrent:8',
      '--duration',
      '60s',
      '--output-tokens',
      '10',
      ...delays(100, 20),
    ],
  ]);
  let out = '';
  child.stdout.on('data', text => (out += text));
  await sleep(2500);
  const asked = performance.now();
  child.kill('SIGINT');
  const [status] = await once(child, 'exit');
  assert.ok(performance.now() - asked < 3000, 'it took long to end');
  assert.equal(status, 130);
  assert.match(out, /interrupted \(4 in flight\)/);
  const { levels } = JSON.parse(readFileSync(file, 'utf8')) as LoadDocument;
  assert.equal(levels.length, 1);
  assert.ok(levels[0].interrupted && levels[0].counts.completed > 4);
  assert.equal(levels[0].counts.unfinished, 4);
  assert.equal(levels[0].counts.errors, 0);
  await sleep(200);
  assert.equal((await seen()).open, 0);
});

test('the key is in no output and no file, even when the server repeats it', async () => {
  const key = 'sk-very-secret-0123456789';
  process.env.LOAD_TEST_KEY = key;
  const dataset = path.join(folder, 'private.jsonl');
  const prompt = 'what the customer wrote to us in confidence yesterday';
  writeFileSync(dataset, JSON.stringify({ prompt, output_tokens: 3 }));
  const args = ['--requests', '4', '--warmup', '0', '--dataset', dataset, '--api-key-env', 'LOAD_TEST_KEY'];
  const headers = ['--header', 'x-tenant: hidden-tenant-name'];
  const { out, err, file, level, document } = await load('mix:echo,timed', ...args, ...headers);
  assert.match(level.errors[0].example, /^bad: \(prompt\) with x-tenant: \*\*\* and authorization: \*\*\*$/);
  const json = await stepscope(['load', `${address}/mix:echo,timed`, ...args, ...headers, '--json']);
  const failed = await stepscope(['load', `${address}/echo`, ...args, ...headers]);
  assert.equal(failed.status, 11);
  const all = [out, err, readFileSync(file, 'utf8'), json.out, json.err, failed.out, failed.err].join('\n');
  for (const secret of [key, 'hidden-tenant-name', prompt, 'customer wrote to us'])
    assert.ok(!all.includes(secret), `${secret} is shown`);
  assert.deepEqual(document.settings.headers, ['x-tenant', 'authorization']);
  const ids = { content: [11, 22, 33, 44, 55], outputTokens: 1 };
  assert.equal(scrub('too long: [11, 22, 33, 44, 55]', [], ids), 'too long: (token ids)');
  // The key in the place of the variable's name, or in the address.
  for (const mistake of [
    ['--api-key-env', key],
    ['--header', `${key}`],
  ]) {
    const { status, err: words } = await stepscope(['load', address, ...mistake]);
    assert.equal(status, 2);
    assert.ok(!words.includes(key));
  }
  const inUrl = await stepscope(['load', `http://user:${key}@127.0.0.1:1/v1`]);
  assert.equal(inUrl.status, 2);
  assert.ok(!inUrl.err.includes(key));
  const query = await load('timed/v1/completions?key=secret-in-query', '--requests', '1', '--warmup', '0');
  assert.ok(!readFileSync(query.file, 'utf8').includes('secret-in-query'));
});

timed(
  'a certificate nobody signed is a failure of its kind, and can be taken',
  {
    skip: lacks('openssl'),
  },
  async () => {
    const [key, certificate] = ['key.pem', 'certificate.pem'].map(name => path.join(folder, name));
    spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...['-keyout', key, '-out', certificate],
    ]);
    const secure = createServer(
      { key: readFileSync(key), cert: readFileSync(certificate) },
      (request, response) => {
        request.resume();
        request.on('end', () => {
          const piece = JSON.stringify({ choices: [{ text: 'a', finish_reason: 'stop' }] });
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          setTimeout(() => response.end(`data: ${piece}\n\ndata: [DONE]\n\n`), 50);
        });
      },
    );
    await once(secure.listen(0, '127.0.0.1'), 'listening');
    const { port } = secure.address() as AddressInfo;
    const args = [
      'load',
      `https://127.0.0.1:${port}`,
      '--model',
      'm',
      '--requests',
      '3',
      '--warmup',
      '0',
      '--json',
    ];
    const refused = await stepscope(args);
    assert.equal(refused.status, 11);
    assert.match(refused.err, /TLS connection failed .*\n.*--insecure/);
    const taken = await stepscope([...args, '--insecure', '--no-keep-alive']);
    secure.close();
    const [level] = (answerIn(taken.out) as LoadDocument).levels;
    assert.equal(level.counts.completed, 3);
    assert.equal(level.timing.newConnections, 3);
    assertNear(
      p(level, 'ttft', 50) - level.timing.connect!.percentilesNs[50] / 1e6,
      50,
      0.3,
      'TTFT less connecting',
    );
  },
);

test('no connection and no timer is left behind', async () => {
  const counted = () =>
    process.getActiveResourcesInfo().filter(name => /TCPSocket|TCPConnect|Timeout|Immediate/.test(name))
      .length;
  await sleep(100);
  const earlier = counted();
  const { truths, accepted } = await load(
    'mix:timed,hang,left-open,http-429,giant-line',
    ...['--level', 'concurrent:8', '--requests', '40', '--timeout', '300ms', '--output-tokens', '2'],
  );
  assert.ok(truths.length > 8 && accepted > 8);
  await sleep(100);
  assert.equal(counted(), earlier);
  assert.equal((await seen()).open, 0);
  assert.equal(process.listenerCount('SIGINT'), 0);
});

test('connections are kept: as many as users, not as requests', async () => {
  const { accepted, level } = await load(
    'timed',
    ...[
      '--level',
      'concurrent:5',
      '--requests',
      '60',
      '--warmup',
      '5',
      '--output-tokens',
      '2',
      '--no-metrics',
      ...delays(10, 5),
    ],
  );
  assert.ok(accepted <= 6, `${accepted} connections`);
  assert.ok(level.timing.newConnections <= 1);
  const cold = await load(
    'timed',
    '--level',
    'concurrent:5',
    '--requests',
    '20',
    '--warmup',
    '0',
    ...delays(10, 5),
  );
  assert.equal(cold.level.timing.connect!.maxNs! > 0, true);
  assert.ok(cold.level.timing.newConnections >= 4);
});

test('an address may name the server, its API or the address itself', () => {
  for (const [text, api, expected] of [
    ['localhost:8000', undefined, 'completions http://localhost:8000/v1/completions'],
    ['http://h/', undefined, 'completions http://h/v1/completions'],
    ['https://h/v1', 'chat', 'chat https://h/v1/chat/completions'],
    ['http://h:1/proxy/v1/', undefined, 'completions http://h:1/proxy/v1/completions'],
    ['http://h/v1/chat/completions', undefined, 'chat http://h/v1/chat/completions'],
    ['http://h/v1/chat/completions', 'completions', 'completions http://h/v1/completions'],
    ['http://[::1]:8000/x', 'chat', 'chat http://[::1]:8000/x/v1/chat/completions'],
  ] as const) {
    const target = readTarget(text, api);
    assert.equal(`${target.api} ${target.shown}`, expected);
  }
  assert.equal(readTarget('https://h').port, 443);
  assert.equal(readTarget('http://[::1]:8000').host, '::1');
});

test('lengths follow their distribution', () => {
  const drawn = (text: string) => {
    const random = randomStream(1, text);
    return Array.from({ length: 20_000 }, () => drawLength(readLengths('--x', text), random));
  };
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = (values: readonly number[]) =>
    Math.sqrt(mean(values.map(value => (value - mean(values)) ** 2)));
  assert.deepEqual(new Set(drawn('512')), new Set([512]));
  const normal = drawn('normal:512:64');
  assertNear(mean(normal), 512, 0.005, 'mean');
  assertNear(deviation(normal), 64, 0.03, 'deviation');
  const uniform = drawn('uniform:3-6');
  assert.deepEqual([...new Set(uniform)].sort(), [3, 4, 5, 6]);
  assertNear(mean(uniform), 4.5, 0.01, 'mean');
  assert.ok(Math.min(...drawn('normal:3:10')) === 1, 'no prompt is shorter than a token');
});

test('mistakes are said before anything is sent', async () => {
  await seen();
  const taken = path.join(folder, 'taken.json');
  writeFileSync(taken, 'mine');
  for (const [args, words] of [
    [[], /No address/],
    [['ftp://x'], /not an http or https/],
    [[address, '--level', 'concurrent:0'], /not a load level/],
    [[address, '--level', 'sustained:0/s'], /not a load level/],
    [[address, '--requests', '0'], /not a number for --requests/],
    [[address, '--duration', '5 apples'], /not a time for --duration/],
    [[address, '--input-tokens', 'uniform:9-3'], /not a valid length for --input-tokens/],
    [[address, '--output-tokens', '0'], /not a valid length/],
    [[address, '--body', '[1]'], /not a JSON object/],
    [[address, '--api', 'embeddings'], /"embeddings" is not a value of --api/],
    [[address, '--prefix', 'some'], /not a valid --prefix/],
    [[address, '--dataset', 'nowhere.jsonl'], /cannot be read/],
    [[address, '--dataset', 'x', '--input-tokens', '5'], /--dataset provides the prompts/],
    [[address, '--api-key-env', 'NOT_SET_ANYWHERE'], /is not set/],
    [[address, '-o', taken], /already exists/],
    [[address, '-o', path.join(folder, 'no/such/folder.json')], /cannot be written/],
    [[address, '--what'], /Unknown option/],
  ] as const) {
    const { status, err } = await stepscope(['load', ...args]);
    assert.ok(status === 2 || status === 3, `${args.join(' ')}: ${status}`);
    assert.match(err, words);
    assert.equal(err.trimEnd().split('\n').length, 2, err);
  }
  assert.equal((await seen()).accepted, 0);
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
});
