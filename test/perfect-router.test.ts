/** The perfect router: the guides' verdict at its threshold, how sure it is, and no verdict where the data give none. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { UserError } from '../src/base/user-error.js';
import { emit, type FormatId } from '../src/cli/emit.js';
import { type RouterPair, routerPairResult } from '../src/cli/router-pair-result.js';
import type { BenchRun } from '../src/model/bench-run.js';
import { describeRouter, routerLines, WRONG_OUTPUTS } from '../src/moe/describe/describe-router-pair.js';
import { judgeRouter, type RouterSide } from '../src/moe/experiment/router-pair.js';
import { perfectRouterSchema } from '../src/moe/experiment/router-schema.js';
import { text } from '../src/report/text.js';
import type { CellFacts, ProfiledRun, RunFacts } from '../src/run/run.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { answerIn, keptOutput } from './run-stepscope.js';

const fixtures = path.join(projectRoot, 'test/fixtures/bench');

type Asked = RouterPair & { readonly format?: FormatId };

async function report({ format = 'table', ...pair }: Asked, width = 100): Promise<string> {
  const { output, written } = keptOutput(width);
  await emit(await routerPairResult(pair, output), { format, force: false }, output);
  return written.out;
}

const run = (outputTokens: number, load: BenchRun['load'] = {}): BenchRun => ({
  source: { file: 'drawn.json', format: 'drawn' },
  tool: 'trtllm-bench',
  model: 'moe',
  load: { dataset: 'd.txt', inputTokens: 1024, outputTokens: 128, requests: 64, gpus: 8, ...load },
  throughput: { outputTokens },
  latency: {},
  counts: {},
  notes: [],
});
const benched = (...values: number[]): RouterSide => ({ runs: values.map(value => run(value)) });

/** Steps of these lengths, of which the host takes `host` and the GPU the rest. */
const cell = (stepNs: readonly number[], host: number, phase: 'decode' | 'prefill' = 'decode'): CellFacts => {
  const wallNs = sum(stepNs);
  const part = (ns: number) => ({ ns, count: stepNs.length, spentNs: ns });
  return {
    phase,
    mix: '',
    windows: stepNs.length,
    wallNs,
    stepNs,
    stepWindows: stepNs.map(() => 1),
    graphLaunches: 0,
    contextTokens: 0,
    kvTokens: 0,
    tokens: 0,
    amounts: new Map([
      ['kernel:k', part(wallNs - host * stepNs.length)],
      ['idle:host-code', part(host * stepNs.length)],
    ]),
    sequence: [],
    layers: new Map(),
  };
};
const drawn = (cells: readonly CellFacts[], facts: Partial<RunFacts> = {}): RouterSide => {
  const capture = {
    settings: {},
    cuda: null,
    clockHz: null,
    steps: 6,
    selectedSteps: 6,
    steadySteps: 6,
    worldSize: 0,
    gemmTypes: {},
    hostEventsPerStep: 0,
    broken: null,
  };
  const profile: ProfiledRun = {
    files: [],
    facts: {
      gpu: 'NVIDIA H200',
      gpus: 8,
      engine: null,
      stepsFoundBy: 'marker',
      profiler: 'nsys',
      profilerVersion: null,
      driver: null,
      graphs: 'nodes',
      model: { layers: 61, kernelsPerLayer: 10, otherKernels: 0 },
      phases: Object.fromEntries(
        cells.map(({ phase, stepNs }) => [
          phase,
          { steps: stepNs.length, timeShare: 1, batch: 64, contextTokens: 8192 },
        ]),
      ),
      ...facts,
    },
    figures: {},
    steps: {},
    profile: { notes: [], capture, kernels: new Map(), cells },
  };
  return { runs: [], profile };
};
const profiled = (stepNs: readonly number[], host: number, facts: Partial<RunFacts> = {}): RouterSide =>
  drawn([cell(stepNs, host)], facts);
const around = (ns: number) => [0.99, 1, 1.01, 0.995, 1.005, 1].map(part => part * ns);

test('benchmarks with repeats: the guides’ two readings, and what lies between', () => {
  const cases: readonly (readonly [
    normal: number[],
    perfect: number[],
    conclusion: string,
    confidence: string,
  ])[] = [
    [[100, 101, 99], [101, 100, 102], 'similar', 'certain'],
    [[100, 101, 99], [130, 131, 129], 'bottleneck', 'certain'],
    [[100, 101, 99], [106, 107, 105], 'small-gain', 'certain'],
    [[100, 101, 99], [90, 91, 89], 'slower', 'certain'],
    [[100, 101, 99], [111, 112, 110], 'bottleneck', 'possible'],
    [[100, 101, 99], [109, 110, 108], 'small-gain', 'possible'],
    [[80, 120, 100], [90, 130, 110], 'inconclusive', 'possible'],
    [[100, 101], [130, 131], 'bottleneck', 'likely'],
    [[100], [130], 'bottleneck', 'possible'],
    [[100], [101], 'similar', 'possible'],
    [[100], [90], 'slower', 'possible'],
  ];
  for (const [normal, perfect, conclusion, confidence] of cases) {
    const verdict = judgeRouter(benched(...normal), benched(...perfect));
    assert.deepEqual(
      [verdict.conclusion, verdict.confidence],
      [conclusion, confidence],
      `${normal} → ${perfect}`,
    );
    assert.ok(
      Math.abs(verdict.main!.gain - (sum(perfect) / perfect.length / (sum(normal) / normal.length) - 1)) <
        1e-9,
    );
    assert.equal(routerLines(verdict).at(-1), WRONG_OUTPUTS);
  }
});

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test('the threshold is a setting, and the line is at more than it', () => {
  const pair = [benched(100, 101, 99), benched(115, 116, 114)] as const;
  assert.equal(judgeRouter(...pair).conclusion, 'bottleneck');
  assert.equal(judgeRouter(...pair, 0.2).conclusion, 'small-gain');
  assert.equal(judgeRouter(benched(100), benched(110)).conclusion, 'small-gain');
  assert.equal(judgeRouter(benched(100), benched(110.001)).conclusion, 'bottleneck');
});

test('the words are those of the guides', () => {
  const words = (normal: RouterSide, perfect: RouterSide) =>
    routerLines(judgeRouter(normal, perfect)).join('\n');
  const similar = words(benched(100, 101, 99), benched(101, 100, 102));
  assert.match(similar, /^Similar .*routing is not your bottleneck, look elsewhere\./);
  assert.match(similar, /Check that the switch took effect/);
  assert.match(similar, /Confidence: certain\. From 3 and 3 runs/);
  const gain = words(benched(100), benched(130));
  assert.match(gain, /^Faster .*\+30\.0% throughput, more than 10%\): routing imbalance is the bottleneck/);
  assert.match(gain, /Confidence: possible\. One run per side/);
  const slower = words(benched(100), benched(80));
  assert.match(slower, /^Slower .*uneven routing is not the bottleneck\./);
  assert.match(slower, /either even routing uses every expert.*or something else changed/);
});

test('slower with the perfect router: the profile says whether the GPU has more to do, or the host was slow', () => {
  const words = (normal: RouterSide, perfect: RouterSide) =>
    routerLines(judgeRouter(normal, perfect)).join('\n');
  const moreWork = words(profiled(around(10e6), 1e6), profiled(around(11e6), 1e6));
  assert.match(moreWork, /^Slower.*the GPU itself has more work\..*waits: −10\.0%.*uses every expert/s);
  assert.doesNotMatch(moreWork, /Next: repeat/);
  const slowHost = words(profiled(around(10e6), 1e6), profiled(around(11e6), 2e6));
  assert.match(
    slowHost,
    /^Slower.*hardly grew\..*waits: \+0\.0%.*was slower in one.*Next: alternate the runs/s,
  );
});

test('profiles are judged by a phase with enough steps, though another takes more time', () => {
  const both = (decode: number, prefill: number): RouterSide =>
    drawn([cell([prefill], 0, 'prefill'), cell(around(decode), 0)]);
  const verdict = judgeRouter(both(2e6, 100e6), both(2e6, 150e6));
  assert.deepEqual([verdict.main!.phase, verdict.conclusion], ['decode', 'similar']);
  assert.deepEqual(
    verdict.evidence.map(({ phase }) => phase),
    ['decode', 'prefill'],
  );
});

test('a pair in which more than the router changed gives no verdict', () => {
  const other: readonly BenchRun['load'][] = [
    { dataset: 'other.txt' },
    { inputTokens: 512 },
    { requests: 128 },
    { gpus: 4 },
    { expertParallel: 4 },
  ];
  for (const load of other) {
    const normal = { runs: [run(100, { expertParallel: 8 })] };
    const verdict = judgeRouter(normal, { runs: [run(140, { expertParallel: 8, ...load })] });
    assert.equal(verdict.conclusion, 'not-comparable', JSON.stringify(load));
    assert.equal(verdict.checks.filter(({ status }) => status === 'differs').length, 1, JSON.stringify(load));
  }
  const decode = { steps: 6, timeShare: 1, batch: 32, contextTokens: 8192 };
  const batch = profiled(around(8e6), 0, { phases: { decode } });
  assert.equal(judgeRouter(profiled(around(10e6), 0), batch).conclusion, 'not-comparable');
  assert.equal(
    judgeRouter(
      profiled(around(10e6), 0),
      profiled(around(8e6), 0, { model: { layers: 40, kernelsPerLayer: 10, otherKernels: 0 } }),
    ).conclusion,
    'not-comparable',
  );
  const unstated = judgeRouter({ runs: [run(100, { dataset: undefined })] }, { runs: [run(140)] });
  assert.equal(unstated.conclusion, 'bottleneck');
  assert.equal(unstated.checks.find(({ id }) => id === 'dataset')?.status, 'unknown');
});

test('profiles: an interval over steps, never certain', () => {
  const gain = judgeRouter(profiled(around(10e6), 1e6), profiled(around(8e6), 1e6));
  assert.deepEqual([gain.conclusion, gain.confidence], ['bottleneck', 'likely']);
  const [low, high] = gain.main!.interval!;
  assert.ok(low > 0.2 && low < 0.25 && high > 0.25 && high < 0.3, `${low} ${high}`);
  const few = judgeRouter(profiled([10e6], 0), profiled([8e6], 0));
  assert.deepEqual([few.main!.interval, few.confidence], [null, 'possible']);
  const same = judgeRouter(profiled(around(10e6), 1e6), profiled(around(10e6), 1e6));
  assert.deepEqual([same.conclusion, same.confidence], ['similar', 'likely']);
});

test('the interval is the same every time, and holds the truth as often as it says', () => {
  const interval = (normal: readonly number[], perfect: readonly number[]) =>
    judgeRouter(profiled(normal, 0), profiled(perfect, 0)).main!.interval;
  assert.deepEqual(interval(around(10e6), around(8e6)), interval(around(10e6), around(8e6)));
  let seed = 11;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const draw = (mean: number) => Array.from({ length: 40 }, () => mean * (0.8 + 0.4 * random()));
  let held = 0;
  for (let round = 0; round < 100; round++) {
    const [low, high] = interval(draw(10e6), draw(8e6))!;
    if (low <= 0.25 && high >= 0.25) held++;
  }
  assert.ok(held >= 88 && held <= 100, `${held} of 100`);
});

test('a gain that is not on the GPU is no proof, and a benchmark that disagrees with its profile is none', () => {
  const hostFaster = judgeRouter(profiled(around(10e6), 6e6), profiled(around(8e6), 4e6));
  assert.equal(hostFaster.conclusion, 'contradictory');
  assert.match(routerLines(hostFaster).join('\n'), /not on the GPU/);
  assert.ok(Math.abs(hostFaster.parts[0].gpuGain) < 1e-9);
  const side = (bench: RouterSide, profile: RouterSide): RouterSide => ({ ...profile, runs: bench.runs });
  const benchOnly = judgeRouter(
    side(benched(100, 101, 99), profiled(around(10e6), 1e6)),
    side(benched(130, 131, 129), profiled(around(10e6), 1e6)),
  );
  assert.match(benchOnly.contradiction!, /^The benchmark gains, but the steps in the profile do not/);
  const stepsOnly = judgeRouter(
    side(benched(100, 101, 99), profiled(around(10e6), 1e6)),
    side(benched(100, 99, 101), profiled(around(8e6), 1e6)),
  );
  assert.match(stepsOnly.contradiction!, /^The steps in the profile gain, but the benchmark does not/);
  const agree = judgeRouter(
    side(benched(100, 101, 99), profiled(around(10e6), 1e6)),
    side(benched(130, 131, 129), profiled(around(8e6), 1e6)),
  );
  assert.deepEqual(
    [agree.conclusion, agree.main!.source, agree.evidence.length],
    ['bottleneck', 'benchmark', 2],
  );
});

const pair = (file: string) => ({
  normal: [capturePath('moe-learned', file)],
  perfect: [capturePath('moe-perfect', file)],
});

test('the captured pair is host-bound: its steps prove nothing about routing, and the page says so', async () => {
  assertGolden('perfect-router-moe.txt', await report(pair('profile.sqlite.gz')));
  for (const file of ['profile.sqlite.gz', 'kineto.json.gz']) {
    const document = answerIn(await report({ ...pair(file), format: 'json' }));
    assert.notEqual(document.conclusion, 'bottleneck', file);
    assert.ok(document.parts[0].hostShare > 0.8, file);
    // Balanced experts do take a little less of the GPU.
    assert.ok(document.parts[0].routedGain > 0.005 && document.parts[0].routedGain < 0.06, file);
    for (const side of ['normalNs', 'perfectNs'] as const) {
      const parts = sum(Object.values<number>(document.parts[0][side]));
      const step = side === 'normalNs' ? document.main.normal : document.main.perfect;
      assert.ok(Math.abs(parts - step) < 1, `${file}: ${parts} of ${step}`);
    }
  }
});

test('JSON follows its schema; Markdown and any width hold', async () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true, strictTuples: false }).compile(
    perfectRouterSchema as object,
  );
  const bench = {
    normal: [path.join(fixtures, 'trtllm-two-reports-crlf.log')],
    perfect: [path.join(fixtures, 'trtllm-1.2-streaming.log')],
  };
  for (const args of [pair('profile.sqlite.gz'), bench]) {
    const document: object = answerIn(await report({ ...args, format: 'json' }));
    assert.ok(validate(document), JSON.stringify(validate.errors?.slice(0, 3)));
    assert.ok(!validate({ ...document, conclusion: 'perhaps' }));
    assert.match(await report({ ...args, format: 'markdown' }), /THE OUTPUT OF THE PERFECT RUN IS WRONG/);
    for (const width of [60, 80, 100, 120])
      for (const line of (await report(args, width)).split('\n')) assert.ok([...line].length <= width, line);
  }
  const nothing = judgeRouter({ runs: [] }, { runs: [] });
  assert.equal(nothing.conclusion, 'not-comparable');
  assert.match(text.render(describeRouter(nothing), { width: 80, color: false }), /Nothing to compare/);
});

test('files are told apart by content', async () => {
  for (const name of readdirSync(fixtures).filter(one => !/README|trtllm-output/.test(one))) {
    const file = path.join(fixtures, name);
    // Each against itself: a benchmark gives evidence of benchmarks, or has no figure that counts.
    const { evidence } = answerIn(await report({ normal: [file], perfect: [file], format: 'json' }));
    assert.ok(
      evidence.every((item: { source: string }) => item.source === 'benchmark'),
      name,
    );
  }
  const both = answerIn(
    await report({
      normal: [...pair('kineto.json.gz').normal, path.join(fixtures, 'trtllm-report.json')],
      perfect: [...pair('kineto.json.gz').perfect, path.join(fixtures, 'trtllm-report.json')],
      format: 'json',
    }),
  );
  assert.deepEqual(
    [...new Set(both.evidence.map((item: { source: string }) => item.source))],
    ['benchmark', 'profile'],
  );
});

test('what cannot be a pair is told in two lines', async () => {
  const bench = path.join(fixtures, 'trtllm-report.json');
  const cases: readonly (readonly [Asked, RegExp])[] = [
    [{ normal: [bench], perfect: [] }, /needs a run with the normal router/],
    [
      { normal: [bench], perfect: [capturePath('moe-perfect')] },
      /One side is a benchmark and the other a profile/,
    ],
    [{ normal: ['absent.json'], perfect: [bench] }, /absent\.json does not exist/],
    [{ normal: [capturePath('client')], perfect: [capturePath('moe-perfect')] }, /not recorded: GPU work/],
    [{ normal: [path.join(fixtures, 'README.md')], perfect: [bench] }, /no benchmark result/],
  ];
  for (const [args, what] of cases)
    await assert.rejects(report(args), (error: unknown) => {
      assert.ok(error instanceof UserError, String(error));
      assert.match(error.message, what);
      assert.ok(error.hint !== '' && !`${error.message}${error.hint}`.includes('\n'));
      return true;
    });
});
