/** Expert loads: every format gives the same counts, bad files end in two lines, long runs in bounded memory. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { NoteCounter } from '../src/base/notes.js';
import { UserError } from '../src/base/user-error.js';
import { loadImporters } from '../src/import/expert-load/index.js';
import { LoadContent } from '../src/import/expert-load/load-content.js';
import type { LoadOptions } from '../src/import/expert-load/load-importer.js';
import { openLoads } from '../src/import/expert-load/open-loads.js';
import type { BalanceLog, ExpertLoads } from '../src/model/expert-load.js';
import { LoadCollector } from '../src/moe/loads/load-collector.js';
import { externalFiles, projectRoot } from '../src/testing/captures.js';
import {
  npyBytes,
  npyOf,
  numbersAs,
  numpyTypes,
  safetensorsOf,
  storedZip,
  torchSaved,
} from '../src/testing/load-files.js';
import { lacks } from '../src/testing/needs.js';
import { randomNumbers } from '../src/testing/random-profile.js';

const temporary = mkdtempSync(path.join(tmpdir(), 'stepscope-moe-'));
after(() => rmSync(temporary, { recursive: true }));

function put(name: string, content: string | Uint8Array): string {
  const file = path.join(temporary, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

async function read(paths: string | string[], options: LoadOptions = {}) {
  const { loads } = await openLoads(Array.isArray(paths) ? paths : [paths], options);
  assert.equal(loads?.kind, 'counts');
  const opened = loads as ExpertLoads;
  const steps: { iteration: number; counts: number[]; phase?: string }[] = [];
  try {
    for await (const { iteration, counts, phase } of opened.steps())
      steps.push({ iteration, counts: [...counts], ...(phase ? { phase } : {}) });
  } finally {
    opened.close();
  }
  return { shape: opened.shape, steps, notes: opened.notes.list(), source: opened.source };
}

/** Two iterations of two layers with three experts. */
const first = [5, 0, 1, 2, 2, 2];
const second = [1, 7, 0, 0, 0, 6];
const both = [...first, ...second];
const nested = [
  [first.slice(0, 3), first.slice(3)],
  [second.slice(0, 3), second.slice(3)],
];

const packedIds = (ids: readonly number[]) => deflateSync(numbersAs('<i4', ids)).toString('base64');
const calibration = (rank0: readonly number[]) =>
  JSON.stringify({
    world_size: 2,
    all_ranks_records: [rank0, [2, 0]].map(ids => [
      {
        iteration: 7,
        metadata: [{ layer_idx: 3, num_slots: 4, token_selected_slots_shape: [ids.length / 2, 2] }],
        raw_data: packedIds(ids),
      },
    ]),
  });
const agentHead = {
  stepscopeExpertLoad: 1,
  rank: 0,
  iterations: [10, 11],
  iterationsLeftOut: 0,
  layers: [
    { index: 3, module: 'model.layers.3.mlp', experts: 3, topK: 2 },
    { index: 4, module: 'model.layers.4.mlp', experts: 3, topK: 2 },
  ],
  experts: 3,
};
const statistic = (folder: string) => {
  put(`${folder}/meta_info.json`, '{"num_experts": 3, "num_experts_per_token": 2}');
  put(
    `${folder}/rank0.safetensors`,
    safetensorsOf({ '100_3': [5, 0, 1], '100_4': [2, 2, 2], '101_3': [1, 7, 0], '101_4': [0, 0, 6] }),
  );
  put(
    `${folder}/rank1.safetensors`,
    safetensorsOf({ '100_3': [1, 1, 1], '100_4': [0, 0, 0], '101_3': [0, 0, 0], '101_4': [1, 2, 3] }),
  );
  return path.join(temporary, folder);
};
const vllmLog = `INFO 11-02 10:11:12 [eplb_state.py:430] EPLB step: avg_tokens=100.00, max_tokens=150, balancedness=0.6667
INFO EPLB step: 12 for model Qwen/Qwen3-30B-A3B: avg_tokens=100.00, max_tokens=200, balancedness=0.5000
(EngineCore_0 pid=1) INFO EPLB step: 13 for model m: avg_tokens=64.00, max_tokens=64, balancedness=1.0000, steps until the next rearrangement: 5
INFO EPLB step: 14 for model m: avg_tokens=0.00, max_tokens=0, balancedness=0.0000
`;

/** One file per format, so that a new line in the registry without one fails. */
const samples: Record<string, () => string> = {
  npy: () => put('samples/counts.npy', npyOf('<i8', [2, 2, 3], both)),
  json: () => put('samples/counts.json', JSON.stringify({ logical_count: nested })),
  csv: () => put('samples/counts.csv', 'iteration,layer,0,1,2\n0,0,5,0,1\n0,1,2,2,2\n1,0,1,7,0\n1,1,0,0,6\n'),
  'trtllm-expert-statistic': () => statistic('samples/statistic'),
  'trtllm-calibration': () => put('samples/calibration.json', calibration([0, 1, 0, 3])),
  'sglang-pt': () =>
    put('samples/dump.pt', torchSaved({ rank: 0, logical_count: { shape: [2, 2, 3], values: both } })),
  'stepscope-agent': () => put('samples/agent.json', JSON.stringify({ ...agentHead, counts: nested })),
  'balance-log': () => put('samples/vllm.log', vllmLog),
};

test('each format is recognized by exactly one importer, and each importer has a sample', async () => {
  assert.deepEqual(Object.keys(samples).sort(), loadImporters.map(({ id }) => id).sort());
  for (const [id, sample] of Object.entries(samples)) {
    const content = await LoadContent.open(sample());
    const known = loadImporters.filter(importer => importer.recognizes(content)).map(importer => importer.id);
    content.close();
    assert.deepEqual(known, [id]);
  }
});

test('the same counts from NumPy of every type, gzipped too', async () => {
  for (const type of numpyTypes) {
    const { steps, shape } = await read(put('types.npy', npyOf(type, [2, 2, 3], both)));
    assert.deepEqual(
      steps.map(step => step.counts),
      [first, second],
      type,
    );
    assert.equal(shape.iterations, 2);
  }
  const packed = await read(put('packed.npy.gz', gzipSync(npyOf('<i4', [2, 2, 3], both))));
  assert.deepEqual(packed.steps[1].counts, second);
  const flat = await read(put('flat.npy', npyOf('|u1', [2, 3], first)), { as: 'counts' });
  assert.deepEqual(flat.steps, [{ iteration: 0, counts: first }]);
  const large = await read(
    put(
      'large.npy',
      npyOf(
        '<i8',
        [1, 20],
        Array.from({ length: 20 }, () => 2 ** 40 + 3),
      ),
    ),
  );
  assert.equal(large.steps[0].counts[0], 2 ** 40 + 3);
});

test('the same counts from JSON, CSV in three forms, SGLang and the agent', async () => {
  for (const id of ['json', 'csv', 'sglang-pt', 'stepscope-agent']) {
    const { steps, shape } = await read(samples[id]());
    assert.deepEqual(
      steps.map(step => step.counts),
      [first, second],
      id,
    );
    assert.equal(shape.experts, 3, id);
  }
  const long =
    'iteration,layer,expert,count\n4,7,0,5\n4,7,2,1\n4,9,0,2\n4,9,1,2\n4,9,2,2\n5,7,0,1\n5,7,1,7\n5,9,2,6\n';
  const { steps, shape } = await read(put('long.csv', long));
  assert.deepEqual(steps, [
    { iteration: 4, counts: first },
    { iteration: 5, counts: second },
  ]);
  assert.deepEqual(shape.layers, [7, 9]);
  assert.deepEqual((await read(put('bare.csv', '5,0,1\n2,2,2\n'))).steps[0].counts, first);
});

test('TensorRT-LLM: ranks are added up, layers keep their numbers, a missing part is noted', async () => {
  const { steps, shape } = await read(statistic('sums'));
  assert.deepEqual(shape.layers, [3, 4]);
  assert.equal(shape.topK, 2);
  assert.equal(shape.ranks, 2);
  assert.deepEqual(steps, [
    { iteration: 100, counts: [6, 1, 2, 2, 2, 2] },
    { iteration: 101, counts: [1, 7, 0, 1, 2, 9] },
  ]);
  const folder = statistic('gap');
  writeFileSync(path.join(folder, 'rank1.safetensors'), safetensorsOf({ '100_3': [1, 1, 1] }));
  const gap = await read(folder);
  assert.equal(gap.notes.find(note => note.code === 'missing-part')?.count, 3);
});

test('calibration: chosen slots of all ranks become counts', async () => {
  const { steps, shape } = await read(samples['trtllm-calibration']());
  assert.deepEqual(shape, { layers: [3], experts: 4, iterations: 1, ranks: 2, topK: 2 });
  assert.deepEqual(steps, [{ iteration: 7, counts: [3, 1, 1, 1] }]);
});

test('SGLang records: physical experts go back to logical ones, ranks are added up pass by pass', async () => {
  const dump = (rank: number, passes: readonly number[]) =>
    put(
      `rank${rank}.pt`,
      torchSaved({
        records: passes.map(id => ({
          forward_pass_id: id,
          rank,
          gatherer_key: 'primary',
          global_physical_count: { shape: [1, 4], values: [1, 2, 3, rank] },
        })),
        last_physical_to_logical_map: { shape: [1, 4], values: [0, 1, 2, 0] },
      }),
    );
  assert.deepEqual((await read(dump(5, [9]))).steps, [{ iteration: 9, counts: [6, 2, 3] }]);
  const joined = await read([dump(0, [9, 10]), dump(1, [9])]);
  assert.deepEqual(joined.steps, [
    { iteration: 9, counts: [3, 4, 6] },
    { iteration: 10, counts: [1, 2, 3] },
  ]);
  assert.deepEqual(
    joined.notes.map(({ code, count }) => [code, count]),
    [['missing-rank', 1]],
  );
});

test('a pickle can make tensors and nothing else', async () => {
  const hostile = Buffer.concat([
    Buffer.from([0x80, 2]),
    Buffer.from('cos\nsystem\n(X\x04\x00\x00\x00true'),
    Buffer.from('tR.'),
  ]);
  await refuses(put('hostile.pt', storedZip({ 'archive/data.pkl': hostile })), /pickle requests "os system"/);
  const packed = storedZip({ 'archive/data.pkl': Buffer.from([0x80, 2, 0x93, 0x2e]) });
  await refuses(put('other.pt', packed), /instruction 0x93/);
});

test('the agent’s counts may lie beside their head, but nowhere else', async () => {
  put('agent/loads.npy', npyOf('<i4', [2, 2, 3], both));
  const head = put('agent/loads.json', JSON.stringify({ ...agentHead, countsFile: 'loads.npy' }));
  const { steps, shape, source } = await read(head);
  assert.deepEqual(
    steps.map(step => step.iteration),
    [10, 11],
  );
  assert.deepEqual(shape.layers, [3, 4]);
  assert.equal(source.format, 'stepscope-agent');
  const globbed = await read([head, head.replace('.json', '.npy')]);
  assert.equal(globbed.steps.length, 2, 'an array named by its head is read once');
  const outside = put(
    'agent/outside.json',
    JSON.stringify({ ...agentHead, countsFile: '../../../etc/passwd' }),
  );
  await refuses(outside, /agent\/passwd does not exist/);
});

test('chosen experts become counts; unused slots are left out', async () => {
  const rows = Array.from({ length: 600 }, (_, token) => [token % 4, 4 + (token % 2)]);
  rows[0] = [-1, 5];
  const { steps, shape, notes } = await read(put('ids.npy', npyOf('<i4', [600, 2], rows.flat())));
  assert.deepEqual(steps[0].counts, [149, 150, 150, 150, 299, 301]);
  assert.equal(shape.topK, 2);
  assert.equal(notes.find(note => note.code === 'unused-slot')?.count, 1);
  const named = await read(put('ids.json', JSON.stringify({ topk_ids: [rows.slice(1, 3)] })), { experts: 8 });
  assert.deepEqual(named.steps[0].counts, [0, 1, 1, 0, 1, 1, 0, 0]);
  await refuses(
    put('few.npy', npyOf('<i4', [4, 2], [0, 1, 2, 3, 1, 2, 0, 3])),
    /may contain counts .* or chosen expert IDs/,
  );
});

test('logs of vLLM in three wordings and of SGLang', async () => {
  const { loads } = await openLoads([samples['balance-log']()]);
  const log = loads as BalanceLog;
  assert.equal(log.engine, 'vLLM');
  assert.deepEqual(
    log.points.map(point => point.maxOverMean),
    [1.5, 2, 1],
  );
  assert.equal(log.notes.list()[0].code, 'empty-pass');
  const sglang = put(
    'sglang.log',
    '[2026-01-01 DP0 TP0] [Expert Balancedness] forward_pass_id=41 current_pass_balancedness=0.800 last_10_average_balancedness=0.790  gpu_physical_count_sum=4096\n',
  );
  const other = (await openLoads([sglang])).loads as BalanceLog;
  assert.deepEqual(other.points, [{ iteration: 41, maxOverMean: 1.25 }]);
});

async function refuses(file: string | string[], wanted: RegExp, options: LoadOptions = {}) {
  await assert.rejects(read(file, options), error => {
    assert.ok(error instanceof UserError, String(error));
    assert.match(error.message, wanted);
    assert.ok(error.hint.length > 0 && !/\n/.test(error.message + error.hint), 'two lines');
    return true;
  });
}

test('bad counts are said with their place', async () => {
  const wide = (bad: number) => [...first, ...second.slice(0, 5), bad];
  await refuses(
    put('negative.npy', npyOf('<i4', [2, 2, 3], wide(-3))),
    /iteration 1, layer 1, expert 2 is -3, below 0/,
  );
  await refuses(put('negative8.npy', npyOf('<i8', [2, 2, 3], wide(-3))), /expert 2 is -3, below 0/);
  await refuses(put('half.npy', npyOf('<f4', [2, 2, 3], wide(0.5))), /is 0.5, not a whole number/);
  await refuses(put('nan.npy', npyOf('<f8', [2, 2, 3], wide(Number.NaN))), /is not a number/);
  await refuses(put('inf.npy', npyOf('<f8', [2, 2, 3], wide(Infinity))), /too large for a count/);
  await refuses(put('half.json', '[[1, 2], [3, 0.25]]'), /layer 1, expert 1 is 0.25/, { as: 'counts' });
  await refuses(put('ragged.json', '[[1, 2, 3], [3, 4]]'), /layer 1 has 2 experts, but the first has 3/, {
    as: 'counts',
  });
  await refuses(put('text.json', '[[1, 2], [3, "4"]]'), /layer 1, expert 1 is not a number/, {
    as: 'counts',
  });
  await refuses(put('ragged.csv', '1,2,3\n4,5\n'), /line 2 has 2 experts, others have 3/);
  await refuses(
    put('back.csv', 'iteration,layer,0,1\n0,0,1,1\n1,0,1,1\n0,0,2,2\n'),
    /line 4 returns to iteration 0/,
  );
  await refuses(
    put('hole.csv', 'iteration,layer,0,1\n0,0,1,1\n0,1,1,1\n1,0,1,1\n'),
    /iteration 1 is missing 1 of 2 layers/,
  );
});

test('headers are not believed', async () => {
  const body = numbersAs('<i8', both);
  await refuses(put('fortran.npy', npyBytes('<i8', [2, 2, 3], body, true)), /Fortran order/);
  await refuses(put('big-endian.npy', npyBytes('>i8', [2, 2, 3], body)), /type ">i8" is not supported/);
  await refuses(put('object.npy', npyBytes('|O', [2, 2, 3], body)), /type "\|O"/);
  await refuses(put('cut.npy', npyOf('<i8', [2, 2, 3], both).subarray(0, -8)), /declares 2 × 2 × 3 numbers/);
  await refuses(
    put('more.npy', Buffer.concat([npyOf('<i8', [2, 2, 3], both), Buffer.alloc(8)])),
    /it has \d+/,
  );
  await refuses(put('absurd.npy', npyBytes('<i8', [1e12, 1e9, 1e9], body)), /cannot be read/);
  await refuses(
    put('layers.npy', npyOf('|u1', [5000, 20], new Array(100_000).fill(0))),
    /5000 layers with 20 experts/,
  );
  await refuses(
    put('header.npy', Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0, 255, 255, 255, 127])),
    /declares 2147483647 bytes/,
  );
  const folder = statistic('bomb');
  const bomb = Buffer.alloc(64);
  bomb.writeBigUInt64LE(2n ** 60n);
  writeFileSync(path.join(folder, 'rank0.safetensors'), bomb);
  await refuses(folder, /header declares 11529215046068\d+ bytes/);
  const outside = Buffer.from(
    JSON.stringify({ '1_1': { dtype: 'I64', shape: [3], data_offsets: [0, 2 ** 40] } }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(outside.length));
  writeFileSync(path.join(folder, 'rank0.safetensors'), Buffer.concat([length, outside]));
  await refuses(folder, /would end at byte/);
  const inflated = calibration([0, 1, 0, 3]).replace(
    packedIds([0, 1, 0, 3]),
    deflateSync(Buffer.alloc(1e7)).toString('base64'),
  );
  await refuses(put('inflated.json', inflated), /does not unpack to the 16 bytes/);
  await refuses(put('slot.json', calibration([0, 9, 0, 3])), /names slot 9 of 4/);
});

test('cut and flipped files end in two lines or in counts, never in a stack', async () => {
  const random = randomNumbers(11);
  for (const [id, sample] of Object.entries(samples)) {
    const file = sample();
    if (id === 'trtllm-expert-statistic' || id === 'balance-log') continue;
    const whole = readFileSync(file);
    for (let i = 0; i < 60; i++) {
      const bytes = i < 20 ? whole.subarray(0, Math.floor((whole.length * i) / 20)) : Buffer.from(whole);
      if (i >= 20) bytes[random(bytes.length)] ^= 1 << random(8);
      try {
        await read(put(`broken${path.extname(file)}`, bytes));
      } catch (error) {
        // Broken beyond recognition it is none of ours.
        const isOurs = error instanceof UserError || (error as Error).name === 'AssertionError';
        assert.ok(isOurs, `${id} ${i}: ${(error as Error).stack}`);
      }
    }
  }
});

test('what is kept does not grow with the run, and its sums are exact', () => {
  const shape = { layers: [0, 1], experts: 8, topK: 2 };
  const collector = new LoadCollector({
    source: { file: 'run', format: 'npy' },
    shape,
    notes: new NoteCounter(),
  });
  const random = randomNumbers(5);
  const sums = new Float64Array(16);
  const counts = new Float64Array(16);
  for (let iteration = 0; iteration < 5001; iteration++) {
    for (let i = 0; i < 16; i++) sums[i] += counts[i] = random(100);
    collector.add({ iteration, counts });
  }
  const summary = collector.finish();
  assert.deepEqual([...summary.totals], [...sums]);
  assert.ok(summary.segments.length <= 60 && summary.samples.length <= 256);
  assert.equal(
    summary.segments.reduce((sum, { from, to }) => sum + to - from, 0),
    5001,
  );
  assert.equal(new Set(summary.samples.map(({ position }) => position)).size, summary.samples.length);
  const late = summary.samples.filter(({ position }) => position >= 2500).length / summary.samples.length;
  assert.ok(late > 0.35 && late < 0.65, `an even draw, ${late} of it late`);
});

test('a long series is thinned, not cut', () => {
  const shape = { layers: Array.from({ length: 4000 }, (_, i) => i), experts: 2 };
  const collector = new LoadCollector({
    source: { file: 'run', format: 'npy' },
    shape,
    notes: new NoteCounter(),
  });
  const counts = new Float64Array(8000).fill(1);
  for (let iteration = 0; iteration < 1600; iteration++) collector.add({ iteration, counts });
  const { series } = collector.finish();
  assert.ok(series.stride > 1 && series.length * 4000 <= 2_000_000);
  assert.ok(series.iterations[series.length - 1] > 1600 - 2 * series.stride);
  assert.ok(series.maxOverMean.every(value => value === 1));
});

const external = externalFiles(/expert-load.*\.json(\.gz)?$/);
test('real counts of DeepSeek-V3', { skip: lacks('external') }, async () => {
  const { shape, steps } = await read(external[0]);
  assert.equal(shape.experts, 256);
  assert.equal(shape.layers.length, 61);
  assert.equal(steps.length, 1);
  const sum = (layer: number) =>
    steps[0].counts.slice(layer * 256, (layer + 1) * 256).reduce((a, b) => a + b);
  assert.equal(sum(0), 0);
  // Every token goes to eight experts in every layer that has some.
  assert.equal(sum(3), sum(60));
});

test('every format is in docs/moe.md', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/moe.md'), 'utf8');
  for (const { id } of loadImporters) assert.ok(text.includes(`\`${id}\``), id);
});
