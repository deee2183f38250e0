/** Counters per kernel family: only where samples can tell a family from its neighbours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { describeGpuMetrics } from '../src/analyze/gpu/describe-gpu-metrics.js';
import { gpuMetricsAnalysis } from '../src/analyze/gpu/gpu-metrics.js';
import { NONE } from '../src/base/column.js';
import { ProfileBuilder } from '../src/model/builder.js';
import { drawnCapture } from '../src/testing/drawn-capture.js';

const GEMM = 'nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT';
const NORM = 'void rms_norm_kernel<c10::BFloat16>(int)';
const ROUND_NS = 500e3;
const SAMPLE_NS = 50e3;

/** Rounds of a GEMM and a norm of this length, back to back; tensor cores work at 85% in GEMMs, at 0 in norms. */
function drawn(normNs: number) {
  const builder = new ProfileBuilder();
  const stream = builder.stream(builder.process('', 1), builder.gpu('', 0), 1, 7);
  builder.metrics.push('Tensor Active [Throughput %]');
  const kernels = Array.from({ length: 40 }, (_, i) => [
    { start: i * ROUND_NS, end: (i + 1) * ROUND_NS - normNs, name: GEMM },
    { start: (i + 1) * ROUND_NS - normNs, end: (i + 1) * ROUND_NS, name: NORM },
  ]).flat();
  builder.addTable(
    'kernels',
    {
      start: Float64Array.from(kernels, kernel => kernel.start),
      end: Float64Array.from(kernels, kernel => kernel.end),
      stream: Int32Array.from(kernels, () => stream),
      correlation: new Uint32Array(kernels.length),
      launch: new Int32Array(kernels.length).fill(NONE),
      name: Int32Array.from(kernels, kernel => builder.strings.intern(kernel.name)),
    },
    kernels.length,
  );
  const samples = Array.from({ length: (40 * ROUND_NS) / SAMPLE_NS + 1 }, (_, i) => i * SAMPLE_NS);
  const gemmShare = (to: number) => {
    const inRound = (((to - SAMPLE_NS) % ROUND_NS) + ROUND_NS) % ROUND_NS;
    const gemmEnd = ROUND_NS - normNs;
    return Math.max(0, Math.min(SAMPLE_NS, gemmEnd - inRound)) / SAMPLE_NS;
  };
  builder.addTable(
    'metricSamples',
    {
      start: Float64Array.from(samples),
      gpu: new Int32Array(samples.length),
      metric: new Int32Array(samples.length),
      value: Float64Array.from(samples, at => Math.round(85 * gemmShare(at))),
    },
    samples.length,
  );
  return new Analyzer(builder.build(drawnCapture('drawn'))).get(gpuMetricsAnalysis);
}

const tensor = ({ rows }: ReturnType<typeof drawn>, family: string) =>
  rows.find(row => row.family === family && row.metric === 'tensor active')?.overBusy;

test('kernels shorter than a sample do not inherit what their neighbours do', () => {
  const result = drawn(5e3);
  assert.equal(tensor(result, 'norm'), null);
  assert.ok(Math.abs(tensor(result, 'gemm')! - 85) < 1.5, `${tensor(result, 'gemm')}`);
  const [table] = describeGpuMetrics(result);
  assert.ok(table.kind === 'table');
  const { values } = table.columns[0] as { values: readonly unknown[] };
  assert.ok(values.includes('norm: samples too coarse') && values.includes('gemm'), values.join());
});

test('kernels longer than a sample have an average of their own', () => {
  const result = drawn(150e3);
  assert.deepEqual([tensor(result, 'norm'), tensor(result, 'gemm')], [0, 85]);
});
