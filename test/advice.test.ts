/** Advice is for the program that ran: its engine, its framework, its GPU, and not for what it does already. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { program } from '../src/analyze/program.js';
import { type AdvisedProgram, adviceOn } from '../src/catalog/advice.js';
import { adviceFor } from '../src/catalog/advice-texts.js';
import { drawEngine, type EngineOptions } from '../src/testing/drawn-engine.js';

const unknown: AdvisedProgram = {
  engine: '',
  usesTorch: false,
  isAmd: false,
  overlapsSteps: false,
  hasNarrowWeights: false,
};
const everyText = (of: AdvisedProgram) =>
  Object.keys(adviceFor).flatMap(id => adviceOn(id, of).map(({ text }) => text));
const look = (options: EngineOptions) => new Analyzer(drawEngine(options));
const engineOf = (options: EngineOptions) => look(options).get(program).engine;
const adviceIn = (options: EngineOptions, id: string) => {
  const found = look(options).get(findings).findings;
  const own = found.find(finding => finding.id === id);
  assert.ok(own, `${id} among ${found.map(finding => finding.id)}`);
  return own.advice.map(({ engine, text }) => `${engine}: ${text}`).join('\n');
};

const unmarked = { marker: () => '' };
const asAgent = { marker: (step: number) => `stepscope.step ${step} ctx=0/0 gen=8/8` };
const sglangFrame = 'python/sglang/srt/managers/scheduler.py(1493): event_loop_overlap';

test('the engine is told by threads, processes, versions and frames, not by markers alone', () => {
  assert.equal(engineOf({ ...unmarked, program: { thread: 'VLLM::EngineCor' } }), 'vLLM');
  assert.equal(engineOf({ ...unmarked, program: { process: 'sglang::scheduler' } }), 'SGLang');
  assert.equal(engineOf({ ...asAgent, program: { versions: { vllm: '0.25.1' } } }), 'vLLM');
  assert.equal(engineOf({ ...unmarked, frames: { perStep: 2, name: sglangFrame } }), 'SGLang');
  assert.equal(engineOf({}), 'TensorRT-LLM', 'its own marker');
  assert.equal(engineOf({ ...asAgent }), '', 'the agent is no engine');
});

test('markers that another engine imitates do not decide against its own files', () => {
  const marker = () => 'execute_32_context_0(sq0sk0)_generation_32(sq32sk32785)';
  assert.equal(engineOf({ marker }), 'vLLM');
  assert.equal(engineOf({ marker, frames: { perStep: 2, name: sglangFrame } }), 'SGLang');
});

test('an unknown program gets no engine’s settings and nothing of PyTorch', () => {
  for (const text of everyText(unknown))
    assert.doesNotMatch(
      text,
      /TLLM_|PYTORCH_|torch|vllm|sglang|cudagraph_|\.item\(\)|pin_memory|_config/,
      text,
    );
});

test('every finding has advice for every program, and each engine only its own', () => {
  for (const engine of ['', 'vLLM', 'SGLang', 'TensorRT-LLM', 'PyTorch', 'TGI'])
    for (let bits = 0; bits < 16; bits++) {
      const of: AdvisedProgram = {
        engine,
        usesTorch: (bits & 1) > 0,
        isAmd: (bits & 2) > 0,
        overlapsSteps: (bits & 4) > 0,
        hasNarrowWeights: (bits & 8) > 0,
      };
      for (const id of Object.keys(adviceFor)) {
        const given = adviceOn(id, of);
        assert.ok(given.length > 0, `${id} for ${JSON.stringify(of)}`);
        // What is for another circumstance is not given beside what it replaces, and claims nothing that is not so.
        const beginnings = given.map(({ engine, text }) => `${engine}: ${text.slice(0, 24)}`);
        assert.equal(new Set(beginnings).size, given.length, beginnings.join('\n'));
        for (const { text } of given) {
          assert.ok(of.isAmd || !/amd-smi/.test(text), text);
          assert.ok(of.hasNarrowWeights || !/already 4-bit|4-bit weights alone/.test(text), text);
        }
        for (const { engine: whose } of given)
          assert.ok(whose === 'any' || whose === engine, `${id}: ${whose}`);
      }
    }
});

test('TLLM_PROFILE_START_STOP is for TensorRT-LLM', () => {
  assert.match(adviceIn({ steps: 4 }, 'too-few-steps'), /TLLM_PROFILE_START_STOP/);
  const vllm = { steps: 4, marker: () => 'execute_context_0(0)_generation_8(8)' };
  assert.doesNotMatch(adviceIn(vllm, 'too-few-steps'), /TLLM/);
});

test('PYTORCH_CUDA_ALLOC_CONF is for programs that run on PyTorch', () => {
  const before = { ns: 1e6, call: 'cudaMalloc' };
  assert.doesNotMatch(adviceIn({ before }, 'steady-allocations'), /PYTORCH|empty_cache/);
  const kernels = ['void at::native::vectorized_elementwise_kernel<4>(int)'];
  assert.match(adviceIn({ before, kernels }, 'steady-allocations'), /PYTORCH_CUDA_ALLOC_CONF/);
});

test('AMD has HIP graphs', () => {
  const gpu = 'AMD Instinct MI300X';
  const [finding] = look({ gpu, eager: 100 }).get(findings).findings;
  assert.equal(finding.claim, 'Decode is launch-bound: 100 kernel launches, no HIP graphs');
  for (const text of everyText({ ...unknown, isAmd: true }))
    assert.doesNotMatch(text, /CUDA graph|nvidia-smi/);
});

test('weights in 4 bits are not advised to take 8', () => {
  const h200 = { gpu: 'NVIDIA H200', kernels: ['nvjet_sm90_tst_64x8'] };
  const ids = (options: EngineOptions) =>
    look(options)
      .get(findings)
      .findings.map(({ id }) => id);
  assert.ok(ids(h200).includes('fp8-available'));
  for (const narrow of [
    'void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8>(int4 const*)',
    'machete_mm_kernel',
    '_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1',
    'void awq_gemm_kernel<16>(int)',
    'gptq_gemm_half_q_half',
  ]) {
    const mixed = { ...h200, kernels: [...h200.kernels, narrow] };
    assert.ok(look(mixed).get(program).hasNarrowWeights, narrow);
    assert.ok(!ids(mixed).includes('fp8-available'), narrow);
  }
  assert.doesNotMatch(
    adviceOn('memory-bandwidth', { ...unknown, engine: 'vLLM', hasNarrowWeights: true })
      .map(({ text }) => text)
      .join(),
    /fp8/i,
  );
});

test('a scheduler that overlaps steps is not told to', () => {
  const late: EngineOptions = { before: { ns: 2e6, range: '_schedule' } };
  const vllm = { marker: () => 'execute_context_0(0)_generation_8(8)', ...late };
  assert.match(adviceIn(vllm, 'exposed-host-work'), /--async-scheduling/);
  const on: EngineOptions[] = [
    { ...vllm, program: { versions: { vllm: '0.25.1' } } },
    {
      ...late,
      frames: {
        perStep: 1,
        name: 'tensorrt_llm/_torch/pyexecutor/py_executor.py(9): _executor_loop_overlap',
      },
    },
    { ...late, ...unmarked, frames: { perStep: 1, name: sglangFrame } },
  ];
  for (const options of on)
    assert.doesNotMatch(
      adviceIn(options, 'exposed-host-work'),
      /--async-sched|overlap_scheduler|overlap-sched/,
    );
  const old = { ...vllm, program: { versions: { vllm: '0.13.2' } } };
  assert.match(adviceIn(old, 'exposed-host-work'), /--async-scheduling/);
});

test('a host that begins the next step before the GPU is done overlaps steps, whatever its name', () => {
  assert.equal(look({}).get(program).overlapsSteps, false);
  assert.equal(look({ aheadNs: 2e6 }).get(program).overlapsSteps, true);
});
