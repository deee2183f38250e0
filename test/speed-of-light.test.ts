import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { causalPairs, kvElements } from '../src/analyze/inference/attention-cost.js';
import { leastTime } from '../src/analyze/inference/least-time.js';
import { checkLayers, impossible } from '../src/analyze/inference/model-check.js';
import { matrixSizes } from '../src/analyze/inference/model-parameters.js';
import { type ModelShape, parseModelConfig } from '../src/analyze/inference/model-shape.js';
import { speedOfLight } from '../src/analyze/inference/speed-of-light.js';
import { expectedExperts, stepCost } from '../src/analyze/inference/step-cost.js';
import type { StepLoad } from '../src/analyze/inference/step-load.js';
import { UserError } from '../src/base/user-error.js';
import { findGpu, gpuPeaks, peakFromProfile } from '../src/catalog/gpus.js';
import { findModel, modelPresets } from '../src/catalog/models.js';
import { drawEngine } from '../src/testing/drawn-engine.js';

function shapeOf(id: string, changes: Record<string, unknown> = {}): ModelShape {
  return parseModelConfig({ ...findModel(id)!.config, ...changes });
}

/** Weights in all; those multiplied with every token; the table tokens are looked up in, which some makers count as active. */
function countParameters(shape: ModelShape): { total: number; active: number; embedding: number } {
  const m = matrixSizes(shape);
  const { moe } = shape;
  const embedding = shape.tiedEmbeddings ? 0 : m.embedding;
  const everyToken =
    shape.layers * (m.query + m.keyValue + m.latent + m.output) +
    shape.denseMlp.layers * m.denseMlp +
    (moe?.layers ?? 0) * (m.router + m.sharedExpert) +
    m.lmHead;
  const experts = moe ? moe.layers * m.expert : 0;
  return {
    total: everyToken + embedding + experts * (moe?.experts ?? 0),
    active: everyToken + experts * (moe?.expertsPerToken ?? 0),
    embedding,
  };
}

/** Cache that one token takes over all layers. */
const kvBytesPerToken = (shape: ModelShape, kvBits: number) =>
  (shape.layers * kvElements(shape, 1) * kvBits) / 8;

function near(actual: number, expected: number, tolerance = 0.01): void {
  assert.ok(
    Math.abs(actual / expected - 1) <= tolerance,
    `${actual} is not within ${tolerance} of ${expected}`,
  );
}

const oneDecode: StepLoad = {
  contextTokens: 0,
  contextRequests: 0,
  generationRequests: 1,
  generationTokens: 1,
  generationKvTokens: 0,
  tensorParallel: 1,
};
const onePrefill = (tokens: number): StepLoad => ({
  ...oneDecode,
  contextTokens: tokens,
  contextRequests: 1,
  contextKvTokens: 0,
  generationRequests: 0,
  generationTokens: 0,
});
const h200 = peakFromProfile({ deviceId: 0, name: 'NVIDIA H200', host: '' });
const part = (cost: ReturnType<typeof stepCost>, name: string) => cost.parts.find(p => p.part === name)!;

test('parameters add up to what makers publish', () => {
  // [total, active, whether the maker counts the input table as active]
  const published: Record<string, [number, number?, boolean?]> = {
    'llama-3.2-1b': [1.236e9],
    'llama-3.1-8b': [8.03e9],
    'llama-3.3-70b': [70.6e9],
    'llama-3.1-405b': [405.9e9],
    'qwen2.5-7b': [7.616e9],
    'qwen3-8b': [8.19e9],
    'qwen3-32b': [32.76e9],
    'qwen3-30b-a3b': [30.5e9, 3.3e9, true],
    'qwen3-235b-a22b': [235.1e9, 22e9, true],
    'mistral-7b': [7.25e9],
    'mixtral-8x7b': [46.7e9, 12.9e9, true],
    'gpt-oss-20b': [20.9e9, 3.61e9],
    'gpt-oss-120b': [116.8e9, 5.13e9],
    'deepseek-v3': [671e9, 36.7e9],
    'kimi-k2': [1.04e12, 32.6e9, true],
    'gemma-3-27b': [27.0e9],
    'phi-4': [14.7e9],
    'tinyllama-1.1b': [1.1e9],
  };
  // Qwen cut 3.353 to two digits; the 1.04 of Kimi's report would need experts in all 61 layers, its config has 60.
  const rounded: Record<string, number> = { 'qwen3-30b-a3b': 0.02, 'kimi-k2': 0.02 };
  assert.deepEqual(Object.keys(published).sort(), modelPresets.map(preset => preset.id).sort());
  for (const [id, [total, active, withTable]] of Object.entries(published)) {
    const count = countParameters(shapeOf(id));
    near(count.total, total, rounded[id]);
    if (active !== undefined) near(count.active + (withTable ? count.embedding : 0), active, rounded[id]);
  }
});

test('presets are found by id, alias and full repository name', () => {
  for (const preset of modelPresets)
    for (const name of [preset.id, ...preset.aliases, `Owner/${preset.id.toUpperCase()}`])
      assert.equal(findModel(name), preset);
  assert.equal(findModel('deepseek-ai/DeepSeek-R1')?.id, 'deepseek-v3');
  assert.equal(findModel('llama'), undefined);
});

test('one token of Llama 8B on an H200 takes the time its weights need', () => {
  const shape = shapeOf('llama-3.1-8b');
  const cost = stepCost(shape, oneDecode);
  const table = 128256 * 4096;
  const matrices = 32 * (4096 * 4096 * 2 + 4096 * 1024 * 2 + 3 * 4096 * 14336) + table;
  assert.equal(cost.total.weightBytes, 2 * matrices + 2 * 4096);
  assert.equal(cost.total.kvBytes, 131072);
  assert.equal(cost.total.flops, 2 * matrices);
  const time = leastTime(cost, h200, 'bf16');
  near(time.overlappedNs, ((2 * matrices) / 4.8e12) * 1e9, 1e-4);
  near(time.overlappedNs, 3.127e6, 1e-3);
  assert.equal(time.overlappedNs, time.memoryNs);
  assert.equal(time.bound, 'memory');
  assert.ok(time.leastNs >= time.overlappedNs);
  assert.deepEqual(time.unknown, []);
});

test('a prompt costs two operations per parameter and token, and is bound by compute', () => {
  const tokens = 8192;
  const shape = shapeOf('llama-3.1-8b');
  const cost = stepCost(shape, onePrefill(tokens));
  const { active } = countParameters(shape);
  // lm_head runs for one token only.
  near(cost.total.flops - part(cost, 'attention prefill').flops, 2 * (active - 128256 * 4096) * tokens, 1e-3);
  const pairs = (tokens * (tokens + 1)) / 2;
  assert.equal(part(cost, 'attention prefill').flops, 32 * 32 * 128 * 4 * pairs);
  const time = leastTime(cost, h200, 'bf16');
  assert.equal(time.bound, 'compute');
  assert.ok(time.overlappedNs < time.leastNs);
  near(time.computeNs, (cost.total.flops / 989.4e12) * 1e9, 1e-9);
  const head = time.perPart.find(p => p.part === 'lm_head')!;
  assert.equal(head.bound, 'memory');
  assert.equal(head.leastNs, head.memoryNs);
});

test('cache per token', () => {
  assert.equal(kvBytesPerToken(shapeOf('llama-3.1-8b'), 16), 131072);
  assert.equal(kvBytesPerToken(shapeOf('deepseek-v3'), 16), 61 * (512 + 64) * 2);
  assert.equal(kvBytesPerToken(shapeOf('deepseek-v3'), 8), 61 * (512 + 64));
});

test('generation reads the whole cache, but no more than a sliding window of it', () => {
  const long = { ...oneDecode, generationRequests: 2, generationTokens: 2, generationKvTokens: 20_000 };
  const llama = part(stepCost(shapeOf('llama-3.1-8b'), long), 'attention decode');
  assert.equal(llama.kvBytes, 131072 * 20_002);
  assert.equal(llama.flops, 32 * 32 * 128 * 4 * 20_000);
  const gemma = shapeOf('gemma-3-27b');
  assert.deepEqual(gemma.sliding, { window: 1024, layers: 52 });
  const perLayer = 2 * 16 * 128 * 2;
  const sliding = part(stepCost(gemma, long), 'attention decode');
  assert.equal(sliding.kvBytes, perLayer * (10 * 20_002 + 52 * (2 * 1024 + 2)));
  // Verifying drafted tokens reads the cache once, for all of them.
  const drafted = part(
    stepCost(shapeOf('llama-3.1-8b'), { ...long, generationTokens: 8 }),
    'attention decode',
  );
  assert.equal(drafted.kvBytes, 131072 * 20_008);
  assert.equal(drafted.flops, 4 * llama.flops);
});

test('pairs of a prompt, counted one by one', () => {
  for (const fresh of [1, 5, 20])
    for (const cached of [0, 3, 50])
      for (const window of [4, 10, Number.POSITIVE_INFINITY]) {
        let pairs = 0;
        for (let token = 1; token <= fresh; token++) pairs += Math.min(cached + token, window);
        assert.equal(causalPairs(fresh, cached, window), pairs);
      }
});

test('latent attention works on vectors of 576 when generating, on heads of 192 in prompts', () => {
  const shape = shapeOf('deepseek-v3');
  const decode = stepCost(shape, { ...oneDecode, generationKvTokens: 1000, tensorParallel: 8 });
  assert.equal(part(decode, 'attention decode').flops, 61 * 16 * 2 * (576 + 512) * 1000);
  assert.equal(part(decode, 'attention decode').kvBytes, 61 * 576 * 2 * 1001);
  const prefill = stepCost(shape, onePrefill(100));
  assert.equal(part(prefill, 'attention prefill').flops, 61 * 128 * 2 * (192 + 128) * 5050);
});

test('tensor parallelism divides, except what every GPU holds', () => {
  const long = { ...oneDecode, generationKvTokens: 4096 };
  const shape = shapeOf('llama-3.3-70b');
  const one = stepCost(shape, long);
  const eight = stepCost(shape, { ...long, tensorParallel: 8 });
  near(eight.total.flops, one.total.flops / 8, 1e-12);
  near(eight.total.weightBytes, one.total.weightBytes / 8, 1e-12);
  near(eight.total.kvBytes, one.total.kvBytes / 8, 1e-12);
  // Eight heads of keys and values cannot be split sixteen ways.
  const sixteen = stepCost(shape, { ...long, tensorParallel: 16 });
  assert.equal(sixteen.total.kvBytes, eight.total.kvBytes);
  const latent = stepCost(shapeOf('deepseek-v3'), { ...long, tensorParallel: 8 });
  assert.equal(latent.total.kvBytes, stepCost(shapeOf('deepseek-v3'), long).total.kvBytes);
});

test('experts: few tokens read few, many read all', () => {
  assert.equal(expectedExperts(128, 4, 1), 4);
  near(expectedExperts(128, 4, 2), 128 - (124 * 124) / 128, 1e-12);
  near(expectedExperts(8, 2, 1000), 8, 1e-12);
  const shape = shapeOf('gpt-oss-120b');
  const one = stepCost(shape, oneDecode);
  const expert = 3 * 2880 * 2880;
  assert.equal(part(one, 'MoE experts').flops, 2 * 36 * 4 * expert);
  assert.equal(part(one, 'MoE experts').weightBytes, (36 * 4 * expert * 4.25) / 8);
  assert.equal(part(one, 'qkv projection').weightBytes, 36 * 2880 * (64 + 16) * 64 * 2);
  const { active } = countParameters(shape);
  near(one.total.flops, 2 * active, 1e-9);
  const observed = stepCost(shape, {
    ...oneDecode,
    generationRequests: 64,
    generationTokens: 64,
    expertsTouched: 9,
  });
  assert.equal(part(observed, 'MoE experts').weightBytes, (36 * 9 * expert * 4.25) / 8);
  assert.ok(!observed.assumptions.some(text => text.includes('uniform')));
  const prompt = stepCost(shape, onePrefill(4096));
  const plain = leastTime(prompt, h200, 'bf16');
  const mixed = leastTime(prompt, h200, cost => (cost.variant === 'grouped' ? 'fp8' : 'bf16'));
  prompt.parts.forEach(({ variant, flops }, i) => {
    if (flops === 0) return;
    const ratio = mixed.perPart[i].computeNs / plain.perPart[i].computeNs;
    near(ratio, variant === 'grouped' ? 989.4 / 1978.9 : 1, 1e-12);
  });
  const split = stepCost(shape, { ...oneDecode, expertParallel: 4 });
  assert.equal(part(split, 'MoE experts').weightBytes, part(one, 'MoE experts').weightBytes / 4);
  assert.equal(part(split, 'qkv projection').weightBytes, part(one, 'qkv projection').weightBytes);
});

test('what is not known is left out and said', () => {
  const shape = shapeOf('llama-3.1-8b');
  const blind = stepCost(shape, { ...oneDecode, generationKvTokens: undefined });
  assert.match(blind.unknown.join(), /context lengths of generating requests/);
  assert.equal(blind.total.kvBytes, 131072);
  const odd = shapeOf('llama-3.1-8b', { quantization_config: { quant_method: 'quark' } });
  const cost = stepCost(odd, oneDecode);
  assert.equal(part(cost, 'dense MLP').weightBytes, 0);
  assert.ok(part(cost, 'lm_head').weightBytes > 0);
  assert.match(cost.unknown.join(), /Bits per weight/);
  assert.deepEqual(stepCost(odd, { ...oneDecode, weightBits: 4 }).unknown, []);
  const stranger = peakFromProfile({ deviceId: 0, name: 'Some GPU', host: '' });
  const time = leastTime(cost, stranger, 'bf16');
  assert.equal(time.leastNs, 0);
  assert.equal(time.bound, undefined);
  assert.equal(time.unknown.length, cost.unknown.length + 2);
  const nothing = stepCost(shape, { ...oneDecode, generationRequests: 0, generationTokens: 0 });
  assert.deepEqual(nothing.total, { flops: 0, weightBytes: 0, kvBytes: 0 });
  for (const bad of [{ generationTokens: 0 }, { tensorParallel: 0 }, { generationKvTokens: Number.NaN }])
    assert.throws(() => stepCost(shape, { ...oneDecode, ...bad }), RangeError);
});

test('formats of weights', () => {
  const mlpBits = (quantization_config: unknown, step: Partial<StepLoad> = {}) => {
    const cost = stepCost(shapeOf('llama-3.1-8b', { quantization_config }), { ...oneDecode, ...step });
    return (part(cost, 'dense MLP').weightBytes * 8) / (32 * 3 * 4096 * 14336);
  };
  assert.equal(mlpBits(undefined), 16);
  assert.equal(mlpBits(undefined, { weightBits: 8 }), 8);
  assert.equal(mlpBits({ quant_method: 'fp8' }), 8);
  assert.equal(mlpBits({ quant_method: 'awq', bits: 4, group_size: 128 }), 4.125);
  assert.equal(mlpBits({ quant_method: 'gptq', bits: 4, group_size: -1 }), 4);
  assert.equal(mlpBits({ quant_method: 'modelopt', quant_algo: 'NVFP4' }), 4.5);
  const weights = { num_bits: 4, type: 'int', group_size: 32 };
  const ignore = ['lm_head', 're:.*self_attn.*'];
  const packed = { quant_method: 'compressed-tensors', config_groups: { group_0: { weights } }, ignore };
  assert.equal(mlpBits(packed), 4.5);
  const shape = shapeOf('llama-3.1-8b', { quantization_config: packed });
  assert.deepEqual([...shape.weights.quantized], ['mlp', 'experts', 'sharedExperts']);
  const everyLayer = Array.from({ length: 32 }, (_, i) => `model.layers.${i}.self_attn*`);
  const modelopt = (exclude_modules: string[]) =>
    shapeOf('llama-3.1-8b', {
      quantization_config: {
        quant_method: 'modelopt',
        quant_algo: 'FP8',
        kv_cache_quant_algo: 'FP8',
        exclude_modules,
      },
    }).weights;
  assert.ok(!modelopt(everyLayer).quantized.has('attention'));
  assert.ok(modelopt(everyLayer.slice(1)).quantized.has('attention'));
  assert.ok(modelopt([]).quantized.has('lmHead'));
  assert.equal(modelopt([]).kvBits, 8);
  const wide = stepCost(shapeOf('llama-3.1-8b', { torch_dtype: 'float32' }), oneDecode);
  assert.equal(wide.total.weightBytes, stepCost(shapeOf('llama-3.1-8b'), oneDecode).total.weightBytes);
  assert.match(wide.assumptions.join(), /float32/);
});

test('layers with experts and with windows, as each family names them', () => {
  const qwen = shapeOf('qwen3-30b-a3b', { decoder_sparse_step: 2, mlp_only_layers: [1, 3] });
  assert.equal(qwen.moe?.layers, 22);
  assert.deepEqual(qwen.denseMlp, { layers: 26, width: 6144 });
  const listed = shapeOf('deepseek-v3', { moe_layer_freq: Array.from({ length: 61 }, (_, i) => i % 2) });
  assert.equal(listed.moe?.layers, 29);
  assert.equal(shapeOf('deepseek-v3').moe?.sharedWidth, 2048);
  assert.equal(shapeOf('gpt-oss-20b').sliding?.layers, 12);
  assert.equal(shapeOf('qwen2.5-7b').sliding, undefined);
  assert.deepEqual(shapeOf('mistral-7b', { sliding_window: 4096 }).sliding, { window: 4096, layers: 32 });
  assert.equal(shapeOf('mixtral-8x7b', { num_local_experts: null }).moe, undefined);
});

test('a config that cannot be used is refused in two lines naming the field', () => {
  const llama = findModel('llama-3.1-8b')!.config;
  const bad: [unknown, RegExp][] = [
    [null, /null/],
    [[], /not a JSON object/],
    ['x'.repeat(1000), /not a JSON object/],
    [{}, /num_hidden_layers/],
    [{ ...llama, hidden_size: undefined }, /hidden_size/],
    [{ ...llama, vocab_size: 0 }, /vocab_size/],
    [{ ...llama, vocab_size: -5 }, /vocab_size/],
    [{ ...llama, intermediate_size: 1.5 }, /intermediate_size/],
    [{ ...llama, intermediate_size: '14336\n' }, /intermediate_size/],
    [{ ...llama, num_attention_heads: 1e9 }, /num_attention_heads/],
    [{ ...llama, num_hidden_layers: 1e6 }, /num_hidden_layers/],
    [{ ...llama, num_key_value_heads: 5 }, /num_key_value_heads/],
    [{ ...llama, num_attention_heads: 33, num_key_value_heads: 33 }, /head_dim/],
    [{ ...llama, num_experts: 8, num_experts_per_tok: 9 }, /9 of only 8 experts/],
    [{ ...llama, num_experts: 8 }, /num_experts_per_tok/],
    [{ ...llama, kv_lora_rank: 512 }, /qk_rope_head_dim/],
    [{ ...llama, layer_types: ['full_attention'] }, /layer_types/],
    [{ ...llama, layer_types: Array(32).fill('linear_attention') }, /linear_attention/],
    [{ ...llama, index_topk: 2048 }, /index_topk/],
  ];
  for (const [config, expected] of bad)
    assert.throws(
      () => parseModelConfig(config),
      error => {
        assert.ok(error instanceof UserError);
        assert.equal(error.code, 'usage');
        assert.match(error.message, expected);
        for (const line of [error.message, error.hint])
          assert.ok(line.length < 140 && !line.includes('\n'), line);
        return true;
      },
    );
});

test('GPUs are found by the names profilers print', () => {
  const names: Record<string, string | undefined> = {
    'NVIDIA H200': 'H200 SXM',
    'NVIDIA H200 NVL': 'H200 NVL',
    'NVIDIA B200': 'B200',
    'NVIDIA B300 SXM6 AC': 'B300',
    'NVIDIA GB200': 'GB200',
    'NVIDIA GB300': 'GB300',
    'NVIDIA GH200 480GB': 'GH200 96GB',
    'NVIDIA GH200 144G HBM3e': 'GH200 144GB',
    'NVIDIA H100 80GB HBM3': 'H100 SXM',
    'NVIDIA H100 PCIe': 'H100 PCIe',
    'NVIDIA H100 NVL': 'H100 NVL',
    'NVIDIA H20': 'H20',
    'NVIDIA H20-3e': 'H20 141GB',
    'NVIDIA A100-SXM4-40GB': 'A100 40GB',
    'NVIDIA A100-PCIE-40GB': 'A100 40GB',
    'NVIDIA A100-PG509-200': 'A100 40GB',
    'NVIDIA A100-SXM4-80GB': 'A100 80GB SXM',
    'NVIDIA A100 80GB PCIe': 'A100 80GB PCIe',
    'NVIDIA A10': 'A10',
    'NVIDIA A10G': 'A10G',
    'NVIDIA L4': 'L4',
    'NVIDIA L40': 'L40',
    'NVIDIA L40S': 'L40S',
    'Tesla T4': 'T4',
    'Tesla V100-DGXS-32GB': 'V100 DGX Station',
    'Tesla V100-SXM2-16GB': 'V100 SXM2',
    'Tesla V100-PCIE-32GB': 'V100 PCIe',
    'Tesla V100S-PCIE-32GB': 'V100S PCIe',
    'NVIDIA GeForce RTX 3090': 'GeForce RTX 3090',
    'NVIDIA GeForce RTX 4090': 'GeForce RTX 4090',
    'NVIDIA GeForce RTX 5090': 'GeForce RTX 5090',
    'NVIDIA RTX 6000 Ada Generation': 'RTX 6000 Ada',
    'NVIDIA RTX PRO 6000 Blackwell Workstation Edition': 'RTX PRO 6000 Blackwell',
    'NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition': 'RTX PRO 6000 Blackwell Max-Q',
    'NVIDIA RTX PRO 6000 Blackwell Server Edition': 'RTX PRO 6000 Blackwell Server',
    'AMD Instinct MI210': 'MI210',
    'AMD Instinct MI250X / MI250': 'MI250X, one die',
    'AMD Instinct MI300X': 'MI300X',
    'AMD Instinct MI325X': 'MI325X',
    'AMD Instinct MI350X': 'MI350X',
    'AMD Instinct MI355X': 'MI355X',
    // Relatives with other limits, and slices, must not borrow figures.
    'NVIDIA A100-SXM4-40GB MIG 1g.5gb': undefined,
    'NVIDIA GeForce RTX 4090 Laptop GPU': undefined,
    'NVIDIA GeForce RTX 3090 Ti': undefined,
    'NVIDIA GeForce RTX 4090 D': undefined,
    'AMD Radeon Graphics': undefined,
    'NVIDIA A10-24Q': undefined,
    '': undefined,
  };
  for (const [printed, name] of Object.entries(names)) assert.equal(findGpu(printed)?.name, name, printed);
  assert.deepEqual(
    gpuPeaks.map(peak => peak.name).filter(name => !Object.values(names).includes(name)),
    [],
  );
});

test('rates of a GPU keep their proportions, which catches a sparse figure among dense ones', () => {
  for (const { name, denseFlops, memoryBandwidthBytesPerSecond, source } of gpuPeaks) {
    const { fp32, tf32, fp16, bf16, fp8, fp4 } = denseFlops;
    assert.ok(fp32 < fp16 && source.length > 0, name);
    if (bf16) assert.equal(bf16, fp16, name);
    if (tf32) near(fp16 / tf32, 2, 0.02);
    if (fp8) near(fp8 / fp16, 2, 0.02);
    // Consumer cards run FP4 at four times FP8 with fp32 accumulation, Blackwell Ultra at three times.
    if (fp4 && fp8)
      assert.ok(
        [2, 3, 4].some(ratio => Math.abs(fp4 / fp8 / ratio - 1) < 0.05),
        name,
      );
    assert.ok(memoryBandwidthBytesPerSecond >= 3e11 && memoryBandwidthBytesPerSecond <= 8e12, name);
  }
});

test('what the file states about a GPU wins, and each figure says where it is from', () => {
  assert.deepEqual(h200.memoryBandwidthBytesPerSecond, { value: 4.8e12, from: 'catalogue' });
  const stated = { memoryBandwidthBytesPerSecond: 4.814e12, memoryBytes: 150e9, smCount: 0 };
  const limits = peakFromProfile({ deviceId: 0, name: 'NVIDIA H200', host: '', ...stated });
  assert.deepEqual(limits.memoryBandwidthBytesPerSecond, { value: 4.814e12, from: 'file' });
  assert.deepEqual(limits.memoryBytes, { value: 150e9, from: 'file' });
  assert.deepEqual(limits.smCount, { value: 132, from: 'catalogue' });
  assert.deepEqual(limits.denseFlops, { value: findGpu('NVIDIA H200')!.denseFlops, from: 'catalogue' });
  const stranger = peakFromProfile({ deviceId: 0, name: 'Some GPU', host: '', ...stated });
  assert.equal(stranger.denseFlops, undefined);
  assert.equal(stranger.memoryBandwidthBytesPerSecond?.from, 'file');
});

const drawn = (gpu: string, model: string) =>
  new Analyzer(drawEngine({ gpu }), { model: findModel(model)!.config as Settings['model'] });

test('a GPU whose limits nobody knows has no speed of light', () => {
  for (const [gpu, hint] of [
    ['', /does not name its GPU: name it with --gpu NAME, or capture with nsys/],
    ['Some GPU', /peak rates of Some GPU are unknown/],
  ] as const)
    assert.throws(() => drawn(gpu, 'tinyllama-1.1b').get(speedOfLight), { hint });
});

test('nothing reaches more than the speed of light: a model that would is refused', () => {
  const { rows } = drawn('NVIDIA A100-SXM4-80GB', 'tinyllama-1.1b').get(speedOfLight);
  assert.ok(rows.every(({ ofLeast }) => ofLeast === null || ofLeast <= 1));
  assert.throws(() => drawn('NVIDIA A100-SXM4-80GB', 'llama-3.3-70b').get(speedOfLight), {
    hint: /would have run at [\d.]+ times the GPU’s peak: --model is not the captured model/,
  });
});

test('what the capture shows of the model says which input is wrong', () => {
  const seen = { hasExpertKernels: false, hasNarrowGemms: false, ranks: 1 };
  const llama = shapeOf('llama-3.1-8b');
  assert.throws(() => checkLayers(llama, { ...seen, layers: 80 }), {
    hint: /it has 32 layers, the capture has 80/,
  });
  checkLayers(llama, { ...seen, layers: 32 });
  checkLayers(llama, { ...seen, layers: 8, ranks: 4 });
  const why = (model: string, more: object) =>
    impossible('gemm', 3, shapeOf(model), { ...seen, ...more }).hint;
  assert.match(
    why('llama-3.3-70b', { repeats: 31 }),
    /80 layers, but a captured step repeats its kernels 31 times/,
  );
  assert.match(why('qwen3-30b-a3b', {}), /has experts, but no captured kernel/);
  assert.match(why('llama-3.1-8b', { hasNarrowGemms: true }), /quantized model/);
  assert.match(why('llama-3.1-8b', {}), /--tp is smaller/);
});
