/** Sentences of the first screen that a critical reader would stumble over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DrawnTrace, type TraceHead, traceText, withFiles } from '../src/testing/drawn-trace.js';
import { runStepscope } from './run-stepscope.js';

const screen = (trace: DrawnTrace, head: TraceHead = {}) =>
  withFiles(
    [traceText(trace.all(), head)],
    async files => (await runStepscope(['analyze', ...files], 200)).out,
  );

const GEMM = 'nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT';
const ATTENTION = 'void flash::flash_fwd_splitkv_kernel<cutlass::bfloat16_t>(flash::Flash_fwd_params)';
const ALL_REDUCE = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)';

/** Steps of one graph launch: these kernels one after the other, 100 µs each. */
function replays(steps: number, marker: string, kernels: readonly string[]): DrawnTrace {
  const trace = new DrawnTrace();
  for (let step = 0; step < steps; step++) {
    const at = 100 * (kernels.length + 1) * step;
    trace.range(marker, at, at + 100 * kernels.length + 90);
    trace.replay(
      1,
      at + 1,
      kernels.map((name, i) => [name, at + 20 + 100 * i, at + 120 + 100 * i] as const),
    );
  }
  return trace;
}

test('the kernels of a graph are not called the work of its launch', async () => {
  const out = await screen(replays(12, 'step[DECODE bs=8]', [GEMM, ATTENTION, GEMM]));
  assert.match(out, /cudaGraphLaunch .* per step, .*; each of its kernels takes 100 µs/);
});

test('a trace with copies alone is not a workload that waits for copies', async () => {
  const trace = new DrawnTrace().copy('Memcpy HtoD (Pinned -> Device)', 'cudaMemcpyAsync', [0, 5], 10, 12);
  const out = await screen(trace);
  assert.match(out, /Only copies and memsets ran on the GPU: no kernels were recorded\./);
  assert.doesNotMatch(out, /waits for copies/);
});

test('a PyTorch trace without GPU work gets no option of nsys', async () => {
  const trace = new DrawnTrace().range('ProfilerStep#1', 0, 1_000);
  const out = await screen(trace);
  assert.match(out, /Steps were recorded but no GPU work/);
  assert.doesNotMatch(out, /engine’s steps|→ .*add --trace-fork/);
});

test('times of steps have no exponents, whatever the first one took', async () => {
  const trace = new DrawnTrace();
  const lengths = [200, 1_100_000, 1_200_000, 1_150_000, 1_180_000, 1_120_000];
  lengths.reduce((at, length, step) => {
    trace.range(`ProfilerStep#${step}`, at, at + length - 10);
    trace.kernel(GEMM, at + 10, at + 20, at + length - 20);
    return at + length;
  }, 0);
  const out = await screen(trace);
  assert.doesNotMatch(out, /\de\+\d/);
  assert.match(out, /ms +0\.200 +1,100 +1,200/);
});

test('with one rank of several, communication and waiting for the others are one', async () => {
  const trace = replays(12, 'step[DECODE bs=8]', [GEMM, ALL_REDUCE, GEMM]);
  assert.match(await screen(trace), /Decode waits for communication: /);
  assert.match(
    await screen(trace, { rank: 0, worldSize: 8 }),
    /Decode waits for communication or other ranks: /,
  );
});

test('a mixed step has no time per token: prefill shares it', async () => {
  const out = await screen(replays(12, 'step[MIXED bs=9 c=1 ext=512 g=8]', [GEMM, ATTENTION, GEMM]));
  assert.match(out, /per token +399 µs between two tokens of a request; prefill shares the step/);
});

test('a kernel that was started early does nothing before the one ahead of it is done', async () => {
  const trace = new DrawnTrace();
  for (let step = 0; step < 12; step++) {
    const at = 1_000 * step;
    trace.range('step[DECODE bs=8]', at, at + 990);
    trace.kernel(ALL_REDUCE, at + 1, at + 20, at + 420);
    // Programmatic dependent launch: it runs from the start and spins.
    trace.kernel('void rms_norm_kernel<c10::BFloat16>(int)', at + 5, at + 30, at + 520);
  }
  const out = await screen(trace);
  assert.match(out, /communication .* 400 µs +80\.0/);
  assert.match(out, /norm .* 100 µs +20\.0/);
});
