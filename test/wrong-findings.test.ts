/** What a look at the timeline would refute is not said. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { checklist } from '../src/analyze/findings/checklist.js';
import { findings } from '../src/analyze/findings/findings.js';
import { runsInFp32 } from '../src/analyze/gpu/fp32-gemms.js';
import { analyses } from '../src/analyze/index.js';
import { describePage } from '../src/analyze/page.js';
import { text } from '../src/report/text.js';
import { drawEngine, type EngineOptions } from '../src/testing/drawn-engine.js';

const look = (options: EngineOptions) => new Analyzer(drawEngine(options));
const found = (options: EngineOptions) => look(options).get(findings).findings;
const ids = (options: EngineOptions) => found(options).map(({ id }) => id);
const pageOf = (options: EngineOptions) =>
  text.render(describePage(look(options), analyses), { width: 120, color: false, rowLimit: 40 });
const attention =
  'fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausalP64VarSeqQ8Kv128PersistentSwapsAbForGen';
const odd = ['a', 'bb', 'ccc'].map(name => `kernel_${name}`);

test('graphs that leave only sampling outside are whole', () => {
  const sampling = [
    'void at::native::softmax<float>(int)',
    'topk_topp_sampling_kernel',
    'nvjet_sm80_tst_8x8',
  ];
  const outside = ids({ afterGraph: sampling });
  assert.ok(!outside.includes('partial-graphs') && !outside.includes('graphs-in-pieces'), outside.join());
});

test('a count of tiny copies holds no large one', () => {
  const few = { copies: { count: 12, bytes: 48, largeBytes: 20e6 } };
  assert.ok(!ids(few).includes('tiny-copies'), 'six tiny ones are too few');
  const many = found({ copies: { count: 24, bytes: 48, largeBytes: 20e6 } });
  const own = many.find(({ id }) => id === 'tiny-copies')!;
  assert.match(own.claim, /^12 tiny copies/);
  assert.match(own.evidence[0].text, /48 B on average, at most 48 B/);
});

test('one call that stalls is not many launches', () => {
  const stalled = ids({ eager: 14, eagerBusy: 0.95, steps: 4, stall: { step: 1, ns: 8e6 } });
  assert.ok(stalled.includes('launch-stall') && !stalled.includes('launch-overhead'), stalled.join());
});

test('where there are no steps nothing is per step, and no kernels are counted as 0', () => {
  const options: EngineOptions = { steps: 2, eager: 100, marker: () => '', kernels: [...odd, 'kernel_dddd'] };
  const page = pageOf({ ...options, steps: 1 });
  assert.match(page, /no engine steps found/);
  assert.match(page, /Findings +in total +share/);
  assert.match(page, /The trace is launch-bound: 100 kernel launches, no CUDA graphs/);
  assert.doesNotMatch(page, /per step|per decode step|\b0 kernels|of a step|certain\b.*launched/);
  const launches = found({ ...options, steps: 1 }).find(({ id }) => id === 'launch-overhead');
  assert.equal(launches?.confidence, 'possible');
});

test('who launches is no client', () => {
  const lost = found({ without: 'gpu-activities' });
  assert.equal(lost[0].id, 'gpu-work-lost');
  assert.match(lost[0].claim, /^20 launch calls recorded but no GPU work/);
  assert.ok(!lost.some(({ id }) => id === 'client-profiled'));
});

test('a graph that is being captured is no lack of graphs', () => {
  const capturing = ids({ eager: 40, capturing: true });
  assert.ok(
    !capturing.includes('launch-overhead') && !capturing.includes('low-utilisation'),
    capturing.join(),
  );
  assert.ok(capturing.includes('graph-being-captured'));
});

test('a query that says "not ready" is no error', () => {
  assert.ok(!ids({ queryResult: 600 }).includes('cuda-errors'));
  const [error] = found({ queryResult: 700 }).filter(({ id }) => id === 'cuda-errors');
  assert.equal(error.claim, '20 API calls return an error');
  assert.match(error.evidence[0].text, /cudaStreamQuery returns 700 20 times/);
});

test('host time under recorded stacks is possible, not likely', () => {
  const late: EngineOptions = { before: { ns: 2e6, range: '_schedule' } };
  const sure = (options: EngineOptions) =>
    found(options).find(({ id }) => id === 'exposed-host-work')?.confidence;
  assert.equal(sure(late), 'likely');
  assert.equal(sure({ ...late, frames: { perStep: 50, name: 'a.py(1): f' } }), 'possible');
});

test('kernels in FP32 on CUDA cores are told from TF32 and 16 bits', () => {
  for (const name of [
    'ampere_sgemm_128x64_tn',
    'volta_sgemm_64x64_nt',
    'void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(T1::Params)',
    'sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_aligna4_kernel',
  ])
    assert.ok(runsInFp32(name), name);
  for (const name of [
    'sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_tensor1688',
    'cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4',
    'ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_tn',
    'nvjet_sm90_tst_64x8',
    'ampere_h16816gemm_128x64_tn',
  ])
    assert.ok(!runsInFp32(name), name);
});

test('the checklist calls utilisation analysed only where counters were sampled', () => {
  const item = (options: EngineOptions, id: string) =>
    look(options)
      .get(checklist)
      .rows.find(row => row.key === `item:${id}`)!;
  assert.equal(item({}, 'busy').status, 'done');
  assert.equal(item({}, 'utilisation').status, 'not done');
  assert.match(item({}, 'utilisation').why, /gpu-metrics/);
  const metrics = { 'DRAM Read Bandwidth [Throughput %]': 40, 'SM Issue [Throughput %]': 35 };
  assert.equal(item({ metrics }, 'utilisation').status, 'done');
  assert.match(item({}, 'baseline').why, /stepscope compare/);
});

test('gaps of a replay whose launch call still runs are no host work', () => {
  // The call feeds nodes for the whole replay, as it does where every node is traced.
  const slow = ids({ kernels: [attention], feeding: { nodeGapNs: 40e3 } });
  assert.ok(!slow.includes('exposed-host-work') && !slow.includes('host-work-in-step'), slow.join());
});
