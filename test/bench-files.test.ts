/** Benchmark results: every printed figure is found, none is invented, and broken files end well. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { shiftDecimal } from '../src/base/decimal-shift.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { parsePythonLiteral } from '../src/base/python-literal.js';
import { UserError } from '../src/base/user-error.js';
import { benchMetrics } from '../src/catalog/bench-metrics.js';
import { benchSchema } from '../src/compare/bench-schema.js';
import { BenchContent } from '../src/import/bench/bench-content.js';
import { benchImporters } from '../src/import/bench/index.js';
import { openBenchRuns, readBenchText } from '../src/import/bench/open-bench.js';
import type { BenchRun } from '../src/model/bench-run.js';
import { compareBenchRuns } from '../src/run/bench-difference.js';
import { externalFiles, externalFolder, projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { lacks } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = path.join(projectRoot, 'test/fixtures/bench');
const names = readdirSync(folder)
  .filter(name => name !== 'README.md')
  .sort();
const fixture = (name: string) => path.join(folder, name);
const textOf = (name: string) => readFileSync(fixture(name), 'utf8');
const read = (name: string) => readBenchText(name, textOf(name));
const temporary = mkdtempSync(path.join(tmpdir(), 'stepscope-bench-'));
after(() => rmSync(temporary, { recursive: true }));

const stepscope = (args: string[], width?: number) => runStepscope(['bench', ...args], width);

/** Every number of a run by its name, rows aside. */
function figuresOf(run: BenchRun): Map<string, number> {
  const figures = new Map<string, number>();
  const walk = (value: unknown, at: string) => {
    if (typeof value === 'number') figures.set(at, value);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) walk(inner, `${at}.${key}`);
  };
  const { load, throughput, latency, counts, energy, durationNs } = run;
  walk({ load, throughput, latency, counts, energy, durationNs }, '');
  return figures;
}

const formats: Record<string, string> = {
  'aiperf.json': 'genai-perf-json',
  'aiperf-gpu-telemetry.jsonl': 'aiperf-gpu-telemetry-jsonl',
  'aiperf-records.jsonl': 'aiperf-records-jsonl',
  'aiperf-server-metrics.jsonl': 'aiperf-server-metrics-jsonl',
  'trtllm-energy-metrics.jsonl': 'trtllm-energy-metrics',
  'trtllm-perf-metrics.json': 'trtllm-perf-metrics',
  'trtllm-time-events.jsonl': 'trtllm-time-events',
  'genai-perf.json': 'genai-perf-json',
  'gpt-manager.csv': 'gpt-manager',
  'gpt-manager.txt': 'gpt-manager',
  'sglang-offline.jsonl': 'sglang-throughput-json',
  'sglang-offline.txt': 'serving-text',
  'sglang-one-batch.jsonl': 'sglang-one-batch-json',
  'sglang-one-batch.txt': 'sglang-one-batch-text',
  'sglang-serving.jsonl': 'sglang-serving-json',
  'sglang-serving.txt': 'serving-text',
  'stepscope-load.json': 'stepscope-load-json',
  'trtllm-0.12.txt': 'trtllm-log',
  'trtllm-0.17.txt': 'trtllm-log',
  'trtllm-0.18.txt': 'trtllm-log',
  'trtllm-1.2-streaming.log': 'trtllm-log',
  'trtllm-energy-second-died.log': 'trtllm-log',
  'trtllm-iter-lines.log': 'trtllm-log',
  'trtllm-iteration.log': 'trtllm-iteration-log',
  'trtllm-mixed-ranks.log': 'trtllm-log',
  'trtllm-output.json': 'trtllm-output-json',
  'trtllm-pieces.md': 'trtllm-log',
  'trtllm-report.json': 'trtllm-report-json',
  'trtllm-requests.json': 'trtllm-request-json',
  'trtllm-serving.json': 'trtllm-serving-json',
  'trtllm-serving.txt': 'serving-text',
  'trtllm-srun-two-ranks.log': 'trtllm-log',
  'trtllm-two-reports-crlf.log': 'trtllm-log',
  'vllm-latency.json': 'vllm-latency-json',
  'vllm-serve-not-streamed.json': 'vllm-serving-json',
  'vllm-serve-old-two-runs.txt': 'serving-text',
  'vllm-serve.json': 'vllm-serving-json',
  'vllm-serve.txt': 'serving-text',
  'vllm-throughput.json': 'vllm-throughput-json',
};

test('exactly one importer recognizes each fixture, and every importer has one', () => {
  assert.deepEqual(names, Object.keys(formats).sort());
  for (const name of names) {
    const content = new BenchContent(name, textOf(name));
    const known = benchImporters.filter(importer => importer.recognizes(content)).map(({ id }) => id);
    assert.deepEqual(known, [formats[name]], name);
  }
  assert.deepEqual(
    benchImporters.map(({ id }) => id).filter(id => !Object.values(formats).includes(id)),
    [],
  );
});

test('a text inside a result does not make it another format', () => {
  // vllm-serve.json and trtllm-output.json hold answers that quote a report of trtllm-bench.
  assert.equal(read('vllm-serve.json')[0].source.format, 'vllm-serving-json');
  assert.throws(() => read('trtllm-output.json'), /contains the model output/);
});

/** Figures as printed, in base units. */
const expected: Record<string, readonly Record<string, number>[]> = {
  'gpt-manager.csv': [
    {
      '.load.requests': 500,
      '.counts.errors': 2,
      '.durationNs': 41_250_500_000,
      '.throughput.requests': 12.1211,
      '.throughput.outputTokens': 1551.5,
      '.latency.e2e.meanNs': 6_120_250_000,
      '.latency.e2e.percentilesNs.99': 8_250_250_000,
      '.latency.ttft.minNs': 51_500_000,
      '.latency.tpot.percentilesNs.50': 45_500_000,
    },
  ],
  'gpt-manager.txt': [
    {
      '.durationNs': 2_510_250_000,
      '.throughput.outputTokens': 1020.37,
      '.latency.e2e.meanNs': 1_201_500_000,
    },
    {
      '.durationNs': 2_400_500_000,
      '.throughput.requests': 8.33,
      '.latency.e2e.percentilesNs.99': 1_900_750_000,
    },
  ],
  'trtllm-energy-second-died.log': [
    {
      '.energy.totalJoules': 48_600.311,
      '.energy.outputTokensPerSecondPerWatt': 2.6337,
      '.throughput.requests': 12.3456,
    },
  ],
  'stepscope-load.json': [
    {
      '.durationNs': 196736829,
      '.throughput.requests': 20.33172955125753,
      '.latency.ttft.percentilesNs.50': 31808274.5,
      '.latency.itl.maxNs': 11640598,
      '.counts.errors': 2,
      '.load.outputTokens': 5,
    },
    {
      '.durationNs': 436541710,
      '.throughput.requests': 9.162927409616827,
      '.latency.ttft.percentilesNs.50': 31824648.5,
      '.latency.itl.maxNs': 11914546,
      '.counts.errors': 2,
      '.load.outputTokens': 5,
    },
  ],
  'trtllm-0.12.txt': [
    {
      '.throughput.outputTokens': Number('11234.567890123456'),
      '.throughput.requests': 175.540123283179,
      '.durationNs': 5_696_703_418,
      '.load.inputTokens': 256,
      '.load.requests': 1000,
    },
  ],
  'trtllm-0.17.txt': [
    {
      '.throughput.outputTokens': 40960.1024,
      '.throughput.requests': 320.0008,
      '.durationNs': 6_249_984_400,
    },
  ],
  'trtllm-0.18.txt': [
    {
      '.throughput.outputTokensPerUser': 21.5432,
      '.throughput.generationSpeedPerUser': 24.9998,
      '.throughput.totalTokens': 4740.7104,
      '.latency.tpot.percentilesNs.99': 51_062_500,
      '.latency.e2e.percentilesNs.95': 7_000_250_000,
    },
  ],
  'trtllm-1.2-streaming.log': [
    {
      '.load.meanConcurrency': 50.6912,
      '.load.tensorParallel': 2,
      '.throughput.requests': 25.6,
      '.throughput.outputTokensPerGpu': 1638.4,
      '.latency.ttft.meanNs': 310_437_500,
      '.latency.tpot.meanNs': 13_147_100,
      '.latency.e2e.maxNs': 2_490_500_000,
    },
  ],
  'trtllm-two-reports-crlf.log': [
    { '.throughput.requests': 20.125, '.durationNs': 3_180_124_200 },
    { '.throughput.requests': 22.5, '.durationNs': 2_844_444_400 },
  ],
  'trtllm-pieces.md': [
    { '.throughput.requests': 100, '.latency.e2e.meanNs': 15_000_500_000 },
    { '.throughput.requests': 102.5, '.durationNs': 29_268_292_700 },
  ],
  'trtllm-serving.txt': [
    {
      '.load.maxConcurrency': 16,
      '.load.requests': 64,
      '.counts.completed': 63,
      '.counts.errors': 1,
      '.throughput.outputTokensPerUser': 64.31,
      '.latency.itl.percentilesNs.99': 41_250_000,
      '.latency.e2e.stddevNs': 150_500_000,
    },
  ],
  'vllm-serve.txt': [
    {
      '.load.requestRate': 10,
      '.throughput.outputTokens': 1190.7,
      '.latency.ttft.percentilesNs.50': 40_120_000,
      '.durationNs': 21_500_000_000,
    },
  ],
  'vllm-serve-old-two-runs.txt': [
    { '.load.maxConcurrency': 16, '.throughput.requests': 1.68 },
    { '.load.maxConcurrency': 32, '.throughput.requests': 1.7 },
  ],
  'vllm-serve.json': [
    { '.latency.e2e.percentilesNs.99.9': 369_980_000, '.throughput.goodRequests': 1.6, '.counts.errors': 1 },
  ],
  'vllm-throughput.json': [{ '.throughput.totalTokens': 20000, '.durationNs': 20_500_000_000 }],
  'vllm-latency.json': [{ '.latency.e2e.meanNs': 612_500_000, '.latency.e2e.percentilesNs.99': 624_750_000 }],
  'sglang-serving.txt': [{ '.latency.itl.maxNs': 401_500_000, '.load.meanConcurrency': 88.44 }],
  'sglang-serving.jsonl': [
    { '.throughput.requests': 20, '.load.tensorParallel': 2 },
    { '.throughput.requests': 21.5 },
  ],
  'sglang-one-batch.jsonl': [
    { '.latency.ttft.meanNs': 12_500_000, '.latency.itl.percentilesNs.50': 5_000_000 },
    { '.load.batchSize': 4 },
  ],
  'sglang-one-batch.txt': [
    { '.latency.ttft.meanNs': 371_830_000, '.load.batchSize': 4, '.throughput.totalTokens': 5700.25 },
    { '.durationNs': 741_000_000 },
  ],
  'sglang-offline.txt': [{ '.throughput.totalTokens': 1536, '.load.outputTokens': 128 }],
  'aiperf.json': [
    {
      '.latency.tpot.meanNs': 13_500_000,
      '.latency.itl.meanNs': 13_750_000,
      '.durationNs': 20_000_000_000,
      '.counts.errors': 2,
      '.throughput.generationSpeedPerUser': 74.25,
    },
  ],
  'genai-perf.json': [{ '.latency.tpot.meanNs': 10_500_000, '.load.maxConcurrency': 1 }],
};

test('figures equal the printed ones', () => {
  for (const [name, runs] of Object.entries(expected)) {
    const found = read(name);
    assert.equal(found.length, runs.length, name);
    runs.forEach((figures, i) => {
      const all = figuresOf(found[i]);
      for (const [figure, value] of Object.entries(figures))
        assert.equal(all.get(figure), value, `${name}: ${figure}`);
    });
  }
});

test('what was not printed is absent: no zeros, no issue rate', () => {
  for (const name of names.filter(name => formats[name] !== 'trtllm-output-json')) {
    for (const run of read(name)) {
      for (const [figure, value] of figuresOf(run)) {
        const mayBeZero = figure.endsWith('.errors') || figure.endsWith('.stddevNs');
        assert.ok(Number.isFinite(value) && (value > 0 || mayBeZero), `${name}: ${figure} is ${value}`);
        // The smallest issue rate among the fixtures.
        assert.ok(value < 4e14, `${name}: ${figure} is ${value}`);
      }
    }
  }
  const [notStreamed] = read('vllm-serve-not-streamed.json');
  assert.deepEqual(Object.keys(notStreamed.latency), ['e2e']);
  assert.equal(notStreamed.notes[0].code, 'not-measured');
});

test('text and JSON of one run agree to the digits printed', () => {
  for (const [name, other] of [
    ['trtllm-1.2-streaming.log', 'trtllm-report.json'],
    ['trtllm-serving.txt', 'trtllm-serving.json'],
    ['sglang-offline.txt', 'sglang-offline.jsonl'],
  ]) {
    const printed = figuresOf(read(name)[0]);
    const exact = figuresOf(read(other)[0]);
    let compared = 0;
    for (const [figure, value] of printed) {
      if (!exact.has(figure)) continue;
      compared++;
      assert.ok(Math.abs(exact.get(figure)! - value) <= 0.0051 * Math.max(1, value), `${name}: ${figure}`);
    }
    assert.ok(compared >= 8, `${name}: ${compared} figures compared`);
  }
});

test('identity: framework, version, model, names', () => {
  const [run] = read('trtllm-1.2-streaming.log');
  assert.equal(run.framework, 'TensorRT-LLM');
  assert.equal(run.frameworkVersion, '1.2.0');
  assert.equal(run.model, 'Qwen/Qwen3-8B');
  assert.equal(run.gpu, 'NVIDIA H200');
  assert.equal(run.quantization, undefined);
  assert.equal(run.load.dataset, '/data/synthetic_1024_128.jsonl');
  assert.equal(read('trtllm-serving.json')[0].framework, undefined, 'a client of any server does not say');
  assert.equal(read('trtllm-serving.txt')[0].tool, 'benchmark_serving (TensorRT-LLM)');
  assert.equal(read('sglang-serving.txt')[0].tool, 'sglang.bench_serving');
  assert.equal(read('vllm-serve.txt')[0].tool, 'vllm bench serve');
  assert.deepEqual(
    read('trtllm-pieces.md').map(({ label }) => label),
    ['plugin on', 'plugin off'],
  );
  assert.deepEqual(
    read('sglang-serving.jsonl').map(({ label }) => label),
    ['base', 'tuned'],
  );
  assert.equal(read('sglang-serving.jsonl')[0].load.requestRate, 'unlimited');
});

test('iteration lines in their four shapes', () => {
  const [run] = read('trtllm-iter-lines.log');
  assert.deepEqual(
    run.iterations!.map(row => [
      row.iteration,
      row.hostStepNs,
      row.previousDeviceStepNs,
      row.scheduledRequests,
    ]),
    [
      [40, 12_500_000, undefined, undefined],
      [41, 12_340_000, 11_870_000, 64],
      [42, 12_500_000, 11_500_000, 63],
      [43, 13_750_000, undefined, 62],
    ],
  );
  assert.deepEqual(run.iterations![0].contextTokens, 1024);
  assert.deepEqual(
    run.iterations!.map(row => row.kvCacheShare),
    [undefined, undefined, 0.25, undefined],
  );
});

test('iterations belong to the report after them, without the warm-up', () => {
  const [run] = read('trtllm-1.2-streaming.log');
  assert.deepEqual(
    run.iterations!.map(row => row.iteration),
    [3, 4, 5],
  );
  assert.equal(run.iterations![0].hostStepNs, 12_345_678.9);
  assert.equal(run.notes.find(note => note.code === 'warm-up')!.count, 2);
});

test('iteration statistics as Python prints them', () => {
  const [run] = read('trtllm-iteration.log');
  assert.equal(run.iterations!.length, 4);
  assert.deepEqual(run.iterations![0], {
    iteration: 0,
    timestamp: '11-02-2025 10:12:20.000001',
    iterationLatencyNs: 25_500_000,
    scheduledRequests: 1,
    activeRequests: 8,
    queuedRequests: 3,
    contextRequests: 1,
    contextTokens: 1024,
    generationRequests: 0,
    kvCacheShare: 0.25,
  });
  assert.equal(run.iterations![3].gpuForwardNs, 11_250_000);
});

test('requests are summed up by the rule of trtllm-bench', () => {
  const [run] = read('trtllm-requests.json');
  assert.equal(run.requests!.length, 10);
  assert.equal(run.latency.ttft!.percentilesNs['50'], 95_000_000, 'place ⌊10 × 0.5⌋ of ten');
  assert.equal(run.latency.ttft!.percentilesNs['99'], run.latency.ttft!.maxNs);
  assert.equal(run.latency.tpot!.minNs, 12_000_000, 'an answer of one token has no time per further token');
  assert.equal(run.counts.outputTokens, 9 * 33 + 1);
  assert.equal(run.throughput.requests, 10 / (run.durationNs! / 1e9));
});

test('ranks are read apart, and one report printed by all is one', () => {
  const runs = read('trtllm-srun-two-ranks.log');
  assert.equal(runs.length, 1);
  assert.deepEqual(runs[0].notes, []);
  assert.deepEqual(
    runs[0].iterations!.map(row => [row.iteration, row.globalRank]),
    [
      [7, 0],
      [7, 1],
      [8, 0],
      [8, 1],
    ],
  );
});

test('of two figures for one line neither is taken, nor what follows', () => {
  const [run] = read('trtllm-mixed-ranks.log');
  assert.equal(run.durationNs, undefined);
  assert.deepEqual(run.latency, {});
  assert.equal(run.throughput.requests, 25.6);
  assert.equal(run.notes[0].code, 'mixed-reports');
});

test('not finite is not a figure', () => {
  const [run] = read('sglang-serving.jsonl');
  assert.equal(run.latency.tpot!.stddevNs, undefined);
  assert.equal(run.notes.find(note => note.code === 'impossible-figure')!.example, 'latency.tpot.stddev');
  const text = textOf('trtllm-pieces.md').replace('100.0000', 'nan');
  const [first, second] = readBenchText('x', text);
  assert.equal(first.throughput.requests, undefined);
  assert.equal(first.throughput.outputTokens, 12800);
  assert.equal(second.throughput.requests, 102.5);
});

test('what stands in front of lines does not matter', () => {
  const texts = names.filter(name => /trtllm-log|text$/.test(formats[name]) && name !== 'trtllm-pieces.md');
  assert.ok(texts.length >= 12);
  for (const prefix of [
    '# ',
    '> ',
    '2025-11-02T10:00:00.123Z ',
    '[1,0]<stdout>:',
    '  3: ',
    '\x1b[36m',
    '│ ',
  ]) {
    for (const name of texts.filter(name => !name.includes('srun'))) {
      const text = textOf(name).replace(/^/gm, prefix);
      assert.deepEqual(
        readBenchText(name, text).map(figuresOf),
        read(name).map(figuresOf),
        `${name}: ${prefix}`,
      );
    }
  }
});

test('cut anywhere: a UserError, or figures of the whole file', () => {
  // Files that grow by lines, without a summary: fewer lines are fewer requests or readings.
  const growing = /^aiperf-(records|server-metrics|gpu-telemetry)-|^trtllm-(time-events|energy-metrics)/;
  const cuttable = names.filter(
    name => !['trtllm-output.json', 'trtllm-mixed-ranks.log'].includes(name) && !growing.test(formats[name]),
  );
  for (const name of names.filter(name => growing.test(formats[name]))) {
    // Two of each are left, and the last line is not whole.
    const cut = textOf(name).trimEnd().slice(0, -9);
    if (cut.split('\n').length < 3) continue;
    assert.ok(
      readBenchText(name, cut).every(run => run.notes.some(({ code }) => code === 'cut-off')),
      name,
    );
  }
  for (const name of cuttable) {
    const whole = textOf(name);
    const full = read(name);
    const results = [...whole.matchAll(/\n/g)].map(match => match.index + 1);
    // Every line, and every byte of a stretch in the middle and at the end.
    const cuts = new Set([
      ...results,
      ...range(whole.length >> 1, 250),
      ...range(Math.max(0, whole.length - 300), 300),
    ]);
    for (const at of cuts) {
      let runs: BenchRun[];
      try {
        runs = readBenchText(name, whole.slice(0, at));
      } catch (error) {
        assert.ok(error instanceof UserError, `${name} cut at ${at}: ${(error as Error).stack}`);
        continue;
      }
      runs.forEach((run, i) => {
        // A log cut before its report is a log of iterations.
        if (run.tool !== full[i]?.tool && run.tool === 'TensorRT-LLM') return;
        const known = figuresOf(full[i]);
        for (const [figure, value] of figuresOf(run))
          assert.equal(value, known.get(figure), `${name} cut at ${at}: ${figure}`);
      });
    }
  }
});

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

/** The same numbers every time. */
function randomizer(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('garbage in any place ends in a UserError or in runs', () => {
  const random = randomizer(7);
  const junk = [
    '\0',
    '\x1b[',
    '{',
    '}',
    '[',
    "'",
    '"',
    ':',
    '\n',
    '\r',
    '=',
    '9',
    'e+999',
    '-',
    'NaN',
    '\ufffd',
    ' iter = ',
  ];
  let survived = 0;
  for (const name of names) {
    for (let round = 0; round < 60; round++) {
      let text = textOf(name);
      for (let times = 1 + random(6); times > 0; times--) {
        const at = random(text.length);
        text = text.slice(0, at) + junk[random(junk.length)] + text.slice(at + random(8));
      }
      try {
        for (const run of readBenchText(name, text)) {
          for (const value of figuresOf(run).values()) assert.ok(Number.isFinite(value) && value >= 0);
        }
        survived++;
      } catch (error) {
        assert.ok(error instanceof UserError, `${name}, round ${round}: ${(error as Error).stack}`);
      }
    }
  }
  assert.ok(survived > 300, `${survived} survived`);
});

test('bytes of anything at all are refused in two lines', async () => {
  const random = randomizer(11);
  for (let round = 0; round < 40; round++) {
    const file = path.join(temporary, 'noise');
    writeFileSync(
      file,
      Uint8Array.from({ length: 1 + random(5000) }, () => random(256)),
    );
    const { status, err } = await stepscope([file]);
    assert.ok(status > 0);
    assert.equal(err.trim().split('\n').length, 2, err);
  }
});

/** Four times the text may take four times as long, not sixteen; a busy machine may double either. */
const GROWTH = 10;
const SLACK_MS = 500;

test('the time for hostile text grows with its length, not faster', () => {
  const hostile = (part: number) => {
    const many = (text: string, times: number) => text.repeat(times / part);
    return [
      `Request Throughput (req/sec): ${many('9', 500_000)}`,
      many('iter = 1, global_rank = 0, rank = 0, a = b, states = {', 100_000),
      many('= PERFORMANCE OVERVIEW ', 200_000),
      `= Serving Benchmark Result =\n${many('Mean TTFT (ms): ', 200_000)}`,
      `= Serving Benchmark Result =\n${many("Namespace(model='", 200_000)}`,
      `{${many('"a":{', 200_000)}`,
      `${many('[', 300_000)}${many(']', 300_000)}`,
      `Request Throughput (req/sec): 1.0000\n${many('\x1b[', 500_000)}\n${many('\r', 500_000)}`,
      many(`{'a': '${'\\'.repeat(1000)}`, 1000),
      `Prefill. latency: ${many(' ', 1_000_000)}`,
      `${many('a line: like any other\n', 400_000)}Request Throughput (req/sec): 1.0000\n`,
      many(`{'iter': 1, 'iterLatencyMS': 2.5}\n`, 200_000),
    ];
  };
  const timeOf = (text: string) => {
    const begun = performance.now();
    try {
      readBenchText('hostile', text);
    } catch (error) {
      assert.ok(error instanceof UserError, (error as Error).stack);
    }
    return performance.now() - begun;
  };
  const short = hostile(4);
  for (const [i, text] of hostile(1).entries()) {
    const [few, all] = [timeOf(short[i]), timeOf(text)];
    assert.ok(
      all < GROWTH * few + SLACK_MS,
      `${text.slice(0, 40)}: ${few} ms for a quarter, ${all} ms for all`,
    );
  }
});

test('values as Python prints them, and nothing else', () => {
  assert.deepEqual(
    {
      ...(parsePythonLiteral(`{'a': True, "b": None, 'c': (1, -2.5e-3,), 'd': 'it\\'s \\u00e9'}`) as object),
    },
    {
      a: true,
      b: null,
      c: [1, -0.0025],
      d: "it's é",
    },
  );
  assert.equal(parsePythonLiteral('-inf'), -Infinity);
  assert.ok(Number.isNaN(parsePythonLiteral(' NaN ')));
  assert.deepEqual(Object.keys(parsePythonLiteral(`{'__proto__': 1}`) as object), ['__proto__']);
  for (const wrong of [
    '',
    '{',
    "{'a'}",
    "{'a': print(1)}",
    '1 2',
    "'open",
    '[1,,2]',
    '__import__',
    '0x1f',
    '{[1]: 2}',
    '['.repeat(200),
  ])
    assert.throws(() => parsePythonLiteral(wrong), `took ${wrong}`);
  assert.equal(shiftDecimal(15698.2533, 6), 15_698_253_300);
  assert.equal(shiftDecimal(1.5e-7, 9), 150);
});

test('files: packed, UTF-16, too large, missing', async () => {
  const packed = path.join(temporary, 'report.json.gz');
  writeFileSync(packed, gzipSync(textOf('trtllm-report.json')));
  assert.equal((await openBenchRuns([packed]))[0].throughput.requests, 25.59999987);
  const wide = path.join(temporary, 'wide.txt');
  writeFileSync(wide, Buffer.from(`\ufeff${textOf('trtllm-0.18.txt')}`, 'utf16le'));
  assert.equal((await openBenchRuns([wide]))[0].throughput.requests, 12.3456);
  const large = path.join(temporary, 'large.log.gz');
  writeFileSync(large, gzipSync(Buffer.alloc(200 * 1024 * 1024, 'x')));
  const { status, err } = await stepscope([large]);
  assert.equal(status, 6);
  assert.match(err, /larger than 201 MB/);
  assert.equal((await stepscope(['no-such-file'])).status, 3);
  assert.equal((await stepscope([])).status, 2);
  assert.equal((await stepscope([fixture('aiperf.json'), '--csv', '--json'])).status, 2);
  assert.equal((await stepscope([fixture('aiperf.json'), '--format', 'xml'])).status, 2);
  const cut = path.join(temporary, 'cut.json');
  writeFileSync(cut, textOf('trtllm-report.json').slice(0, 1500));
  assert.match((await stepscope([cut])).err, /truncated or damaged/);
});

const shown: Record<string, readonly string[]> = {
  'bench-trtllm.txt': ['trtllm-pieces.md', 'trtllm-1.2-streaming.log'],
  'bench-two-reports.txt': ['trtllm-two-reports-crlf.log'],
  'bench-serving.txt': ['sglang-serving.jsonl', 'vllm-serve.json', 'trtllm-serving.txt'],
  'bench-one.txt': ['trtllm-report.json'],
};

test('tables read as they should', async () => {
  for (const [golden, files] of Object.entries(shown))
    assertGolden(golden, (await stepscope(files.map(fixture), 130)).out);
  assertGolden('bench.md', (await stepscope([fixture('trtllm-two-reports-crlf.log'), '--markdown'])).out);
});

test('tables fit any terminal', async () => {
  const files = names.filter(name => name !== 'trtllm-output.json').map(fixture);
  for (const width of [60, 80, 100, 132, 200]) {
    const { out } = await stepscope(files, width);
    for (const line of out.split('\n')) assert.ok([...line].length <= width, `at ${width}: ${line}`);
  }
});

interface Json {
  readonly schema: string;
  readonly runs: readonly (BenchRun & { readonly name: string })[];
  readonly besideFirst: readonly unknown[];
}

test('JSON follows its schema, CSV carries the same figures', async () => {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  const validate = ajv.compile(benchSchema as object);
  const files = names.filter(name => name !== 'trtllm-output.json').map(fixture);
  const document: Json = answerIn((await stepscope([...files, '--json'])).out);
  const isValid = validate(document);
  assert.ok(isValid, JSON.stringify(validate.errors?.slice(0, 3)));
  assert.equal(document.schema, 'stepscope-bench/1');
  assert.equal(document.besideFirst.length, document.runs.length - 1);
  const runNames = document.runs.map(({ name }) => name);
  assert.equal(new Set(runNames).size, runNames.length);
  const [header, ...rows] = parseCsv((await stepscope([...files, '--csv'])).out);
  assert.equal(rows.length, document.runs.length);
  rows.forEach((row, i) => {
    for (const { id, of } of benchMetrics) {
      const cell = row[header.indexOf(id)];
      assert.equal(cell === '' ? undefined : Number(cell), of(document.runs[i]), `${row[0]}: ${id}`);
    }
  });
});

test('every column is defined in docs/metrics.md, every format in docs/bench-formats.md', () => {
  const metrics = readFileSync(path.join(projectRoot, 'docs/metrics.md'), 'utf8');
  for (const { header } of benchMetrics)
    assert.ok(metrics.includes(header.replace(/ (mean|p50|p99)$/, '')), header);
  const known = readFileSync(path.join(projectRoot, 'docs/bench-formats.md'), 'utf8');
  for (const { id } of benchImporters) assert.ok(known.includes(`\`${id}\``), id);
});

/** A run with these figures. */
const run = (requests: number, more: Partial<BenchRun> = {}): BenchRun => ({
  source: { file: 'x', format: 'x' },
  tool: 'trtllm-bench',
  model: 'meta/llama',
  load: { inputTokens: 128, outputTokens: 128, requests: 1000, maxConcurrency: 64, requestRate: 'unlimited' },
  throughput: { requests },
  latency: {},
  counts: {},
  notes: [],
  ...more,
});

test('one run each: noise unknown', () => {
  const { comparable, metrics, warnings } = compareBenchRuns([run(100)], [run(110)]);
  assert.ok(comparable);
  assert.equal(metrics[0].verdict, 'unproven');
  assert.ok(Math.abs(metrics[0].change - 0.1) < 1e-12);
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['single-runs'],
  );
});

test('repeats tell a change from noise', () => {
  const verdict = (before: number[], after: number[]) =>
    compareBenchRuns(
      before.map(value => run(value)),
      after.map(value => run(value)),
    ).metrics[0];
  assert.equal(verdict([100, 101, 99], [110, 111, 109]).verdict, 'better');
  assert.equal(verdict([100, 101, 99], [90, 91, 89]).verdict, 'worse');
  assert.equal(verdict([100, 110, 90], [104, 95, 113]).verdict, 'within-noise');
  // Deviation 1 on both sides, four degrees of freedom: 2.776 × √(2/3) of 100.
  assert.ok(Math.abs(verdict([100, 101, 99], [110, 111, 109]).noise! - 0.02776 * Math.sqrt(2 / 3)) < 1e-5);
  // Repeats on one side only still say something.
  assert.equal(verdict([100, 101, 99], [120]).verdict, 'better');
  assert.equal(verdict([100, 101, 99], [101]).verdict, 'within-noise');
});

test('latency that falls is better', () => {
  const at = (meanNs: number) => run(1, { throughput: {}, latency: { ttft: { meanNs, percentilesNs: {} } } });
  const { metrics } = compareBenchRuns([at(100), at(101), at(99)], [at(50), at(51), at(49)]);
  assert.deepEqual([metrics[0].id, metrics[0].verdict], ['ttftMeanNs', 'better']);
});

test('comparable means the same question', () => {
  const reasons = (more: Partial<BenchRun>) =>
    compareBenchRuns([run(100)], [run(100, more)]).settings.map(({ id, effect }) => `${id} ${effect}`);
  const load = run(1).load;
  assert.deepEqual(reasons({}), ['batchSize unstated']);
  assert.deepEqual(reasons({ model: 'meta/other' }), ['model prevents', 'batchSize unstated']);
  assert.deepEqual(reasons({ model: '/hub/models--meta--llama/snapshots/1' }), ['batchSize unstated']);
  assert.deepEqual(
    reasons({ load: { ...load, inputTokens: 128.9 } }),
    ['batchSize unstated'],
    'drawn lengths',
  );
  assert.deepEqual(reasons({ load: { ...load, maxConcurrency: 32 } }), [
    'maxConcurrency prevents',
    'batchSize unstated',
  ]);
  assert.deepEqual(reasons({ load: { ...load, requests: undefined } }), [
    'requests unstated',
    'batchSize unstated',
  ]);
  assert.deepEqual(reasons({ framework: 'vLLM' }), ['batchSize unstated'], 'one side does not say');
  const both = compareBenchRuns([run(1, { quantization: 'FP8' })], [run(1, { quantization: 'NVFP4' })]);
  assert.ok(both.comparable, 'this may be the question');
  assert.deepEqual(both.settings[1], {
    id: 'quantization',
    label: 'quantization',
    effect: 'explains',
    before: 'FP8',
    after: 'NVFP4',
  });
  const failed = compareBenchRuns([run(1)], [run(1, { counts: { errors: 3 } })]);
  assert.ok(failed.warnings.some(({ code }) => code === 'errors'));
});

const seed = path.join(externalFolder, '../seeds/004-practice-log.txt');

test('the practice log: two pieces of reports, +1.7% for "disabled"', { skip: lacks('seeds') }, async () => {
  const runs = await openBenchRuns([seed]);
  assert.deepEqual(
    runs.map(({ label, throughput, durationNs }) => [label, throughput.requests, durationNs]),
    [
      ['auto', 141.2968, 21_231_904_900],
      ['disabled', 143.7005, 20_876_752_500],
    ],
  );
  const { metrics, warnings } = compareBenchRuns([runs[0]], [runs[1]]);
  assert.equal((metrics[0].change * 100).toFixed(1), '1.7');
  assert.equal(warnings[0].code, 'single-runs');
  assert.match((await stepscope([seed])).out, /disabled .*\+1\.7%/);
});

test('logs and results of others: all are read, text and JSON of a run agree', {
  skip: lacks('external'),
}, async () => {
  const files = externalFiles(/\.(txt|jsonl?)$/).filter(file => /trtllm-bench|serving-bench/.test(file));
  assert.ok(files.length >= 24, `${files.length} files`);
  for (const file of files) {
    const runs = await openBenchRuns([file]);
    for (const found of runs) assert.deepEqual(found.notes, [], file);
    if (!file.endsWith('.txt')) continue;
    const [printed] = runs;
    const [exact] = await openBenchRuns([file.replace(/\.txt$/, '.report.json')]);
    for (const [figure, value] of figuresOf(exact)) {
      if (figure === '.load.gpus') continue;
      const shownValue = figuresOf(printed).get(figure)!;
      // Four decimals, of milliseconds for times.
      const rounding = figure.endsWith('Ns') || figure.includes('latency') ? 51 : 0.000051;
      assert.ok(Math.abs(shownValue - value) <= rounding, `${file}: ${figure} ${shownValue} ${value}`);
    }
  }
});

/** trtllm-bench that ran out of GPU memory before it measured anything. */
const died = `[11/15/2026-09:00:01] [TRT-LLM] [I] Preparing to run throughput benchmark...
[11/15/2026-09:00:02] [TRT-LLM] [I]
===========================================================
= DATASET DETAILS
===========================================================
Dataset Path:         /work/dataset.txt
Number of Sequences:  1000

[11/15/2026-09:00:03] [TRT-LLM] [I] Setting up throughput benchmark.
Traceback (most recent call last):
  File "/usr/local/lib/python3.12/dist-packages/tensorrt_llm/executor/worker.py", line 741, in worker_main
    worker: GenerationExecutorWorker = worker_cls(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 11.25 GiB is free.
RuntimeError: Executor worker died during initialization
srun: error: node7: task 0: Exited with exit code 1
`;

test('a run that died says why, alone or behind another in its log', () => {
  assert.throws(
    () => readBenchText('died.log', died),
    (error: UserError) =>
      error.code === 'damaged' &&
      /without a report: the GPU ran out of memory \(line 13: torch\.OutOfMemoryError: CUDA out/.test(
        error.message,
      ) &&
      error.hint.includes('--kv_cache_free_gpu_mem_fraction'),
  );
  const [run] = read('trtllm-energy-second-died.log');
  const note = run.notes.find(({ code }) => code === 'ended-early');
  assert.equal(note?.text, 'later run in this log ended before its report: the GPU ran out of memory');
  assert.match(note?.example ?? '', /^line 15: /);
  const begun = 'Preparing to run throughput benchmark...\n';
  for (const [line, words] of [
    ['slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-01-01 DUE TO TIME LIMIT ***', /time limit/],
    ['Keyboard interrupt, exiting benchmark...', /it was interrupted/],
    ['slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.', /host ran out of memory/],
    ['ValueError: Requests failed: cut (3 requests)', /requests failed/],
    ['AssertionError: Benchmark failed', /Python exited with an error \(line 2: AssertionError/],
    ['nothing of note', /without an error message/],
  ] as const)
    assert.throws(() => readBenchText('a.log', `${begun}${line}\n`), words);
  // What is said while an engine starts did not end a run that has its report.
  const reported = `${begun}RuntimeError: retried\n${textOf('trtllm-0.18.txt')}\nRuntimeError: while stopping\n`;
  assert.deepEqual(readBenchText('a.log', reported)[0].notes, read('trtllm-0.18.txt')[0].notes);
  const passes = `${begun}${textOf('trtllm-iter-lines.log')}\nCUDA out of memory. Tried\n`;
  assert.ok(readBenchText('a.log', passes)[0].notes.some(({ code }) => code === 'ended-early'));
});

test('a folder stands for the results in it and below; the rest is passed over and counted', async () => {
  const results = mkdtempSync(path.join(temporary, 'sweep-'));
  for (const [name, content] of [
    ['c10/result.json', textOf('vllm-serve.json')],
    ['c9/result.json', textOf('vllm-serve.json')],
    ['c9/trace.json', '{"schemaVersion": 1, "traceEvents": []}'],
    ['c9/config.json', '{"model": "llama"}'],
    ['notes.pdf', 'not looked at'],
  ]) {
    mkdirSync(path.dirname(path.join(results, name)), { recursive: true });
    writeFileSync(path.join(results, name), content);
  }
  const runs = await openBenchRuns([results]);
  assert.deepEqual(
    runs.map(({ source }) => source.file),
    ['c9/result.json', 'c10/result.json'],
  );
  const { status, out, err } = await stepscope([results]);
  assert.equal(status, 0);
  assert.match(out, /c9\/result\.json: graphs on/);
  assert.match(err, /^note: 2 files of .* contain no benchmark result \(e\.g\. c9\/config\.json\)\n$/);
  rmSync(path.join(results, 'c9/result.json'));
  rmSync(path.join(results, 'c10/result.json'));
  await assert.rejects(openBenchRuns([results]), { code: 'not-found' });
});
