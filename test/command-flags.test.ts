/** What a recorded command line tells, and what it must not; GPUs that a file does not name; the width of a model. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { speedOfLight } from '../src/analyze/inference/speed-of-light.js';
import { program } from '../src/analyze/program.js';
import { adviceOn } from '../src/catalog/advice.js';
import {
  COMMAND_ENGINE,
  COMMAND_FLAGS,
  settingsOfCommand,
  toldOfWord,
} from '../src/catalog/command-flags.js';
import { findModel } from '../src/catalog/models.js';
import { openProfile } from '../src/import/open.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { DrawnTrace, traceText, withFiles } from '../src/testing/drawn-trace.js';
import { runStepscope } from './run-stepscope.js';
import { fillExport, makeDatabase } from './small-exports.js';

const VLLM = [
  '/opt/venv/bin/python',
  '-m',
  'vllm.entrypoints.openai.api_server',
  '--model',
  '/home/ann/llama',
];

test('of a command line the engine and options that advice asks for are kept, no values', () => {
  const told = settingsOfCommand([
    ...VLLM,
    '--quantization',
    'fp8',
    '--api-key=sk-secret',
    '--api-key',
    'abc',
  ]);
  assert.deepEqual(told, {
    [COMMAND_ENGINE]: 'vLLM',
    [COMMAND_FLAGS]: '--quantization',
  });
  assert.equal(settingsOfCommand(['numactl', '-N0', 'trtllm-serve', 'x'])[COMMAND_ENGINE], 'TensorRT-LLM');
  assert.deepEqual(settingsOfCommand(['python', 'train.py', '--quantization']), {}, 'of no engine');
});

test('a copy fit to share keeps the same of it', () => {
  const words = [...VLLM, '--quantization=fp8', '--api-key=sk-secret', 'abc'].map(toldOfWord);
  assert.deepEqual(words, ['', '-m', 'vllm.entrypoints.openai.api_server', '', '', '--quantization', '', '']);
  assert.deepEqual(settingsOfCommand(words), settingsOfCommand([...VLLM, '--quantization=fp8']));
});

async function programOf(words: readonly string[]) {
  const bytes = await makeDatabase(4096, database => {
    fillExport(database);
    database.run('CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT)');
    words.forEach((word, i) => {
      const name = i === 0 ? 'PROCESS_0:COMMAND' : `PROCESS_0:ARGUMENT_${i - 1}`;
      database.run('INSERT INTO META_DATA_CAPTURE VALUES (?, ?)', [name, word]);
    });
  });
  return withFiles([''], async ([file]) => {
    writeFileSync(file, bytes);
    return new Analyzer(await openProfile([file])).get(program);
  });
}

test('the command of an export tells the engine, and advice leaves out what it has', async () => {
  const given = async (...more: string[]) => {
    const known = await programOf([...VLLM, ...more]);
    assert.equal(known.engine, 'vLLM');
    return adviceOn('fp8-available', known)
      .map(({ text }) => text)
      .join();
  };
  assert.match(await given(), /--quantization fp8/);
  assert.doesNotMatch(await given('--quantization', 'fp8'), /--quantization/);
});

test('whether steps overlap is read from the command, with the engine’s default', () => {
  // The host waits for each step: only the command can tell.
  const drawn = drawEngine({ marker: () => '', before: { ns: 2e6 } });
  const overlaps = (...words: string[]) => {
    const capture = { ...drawn.capture, settings: settingsOfCommand(words) };
    return new Analyzer({ ...drawn, capture }).get(program).overlapsSteps;
  };
  assert.equal(overlaps(...VLLM), false);
  assert.equal(overlaps(...VLLM, '--async-scheduling'), true);
  const sglang = ['python', '-m', 'sglang.launch_server'];
  assert.equal(overlaps(...sglang), true);
  assert.equal(overlaps(...sglang, '--disable-overlap-schedule'), false);
});

/** Decode steps of a model of this width, with shapes; on a GPU without a name. */
function decode(width: number): string {
  const trace = new DrawnTrace();
  const ops: object[] = [];
  for (let step = 0; step < 12; step++) {
    const at = 50_000 * step;
    trace.range('step[DECODE bs=8]', at, at + 49_990);
    for (let layer = 0; layer < 32; layer++) {
      const from = at + 1_500 * layer;
      trace.kernel('nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT', from, from + 10, from + 1_400);
      const args = {
        'Input Dims': [
          [8, width],
          [width, 4 * width],
        ],
      };
      ops.push({ ph: 'X', cat: 'cpu_op', name: 'aten::mm', pid: 100, tid: 100, ts: from, dur: 5, args });
    }
  }
  return traceText([...trace.all(), ...ops], { gpu: '' });
}

const leastTime = (width: number, gpu?: string) =>
  withFiles([decode(width)], async files => {
    const model = findModel('llama-3.1-8b')!.config as Settings['model'];
    return new Analyzer(await openProfile(files), { model, ...(gpu ? { gpu } : {}) }).run(speedOfLight);
  });

test('--gpu names the GPU of a file that does not', async () => {
  const unnamed = await leastTime(4096);
  assert.ok(unnamed.status === 'not-recorded');
  assert.match(unnamed.hint, /does not name its GPU.*--gpu NAME/);
  assert.equal((await leastTime(4096, 'NVIDIA H100 80GB HBM3')).status, 'ok');
  await withFiles([decode(4096)], async ([file]) => {
    const page = await runStepscope(['analyze', file, '--gpu', 'H100']);
    assert.match(page.out, /trace-0.json · H100 ·/);
    const wrong = await runStepscope(['analyze', file, '--gpu', 'H1000X']);
    assert.match(wrong.err, /The limits of GPU "H1000X" are not known/);
  });
});

test('a model of another width is not the one captured', async () => {
  const other = await leastTime(2048, 'NVIDIA H100 80GB HBM3');
  assert.ok(other.status === 'not-recorded');
  assert.match(other.hint, /its hidden size is 4096, and no captured GEMM has that size/);
});
