/** Findings on profiles of real programs, where those are beside the project: what each of them was once told wrongly. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import type { Finding } from '../src/analyze/findings/finding.js';
import { findings } from '../src/analyze/findings/findings.js';
import { speedOfLight } from '../src/analyze/inference/speed-of-light.js';
import { describePageAnswer } from '../src/analyze/page.js';
import { program } from '../src/analyze/program.js';
import { findModel } from '../src/catalog/models.js';
import { openProfile } from '../src/import/open.js';
import { lacks, locate, type NeedId } from '../src/testing/needs.js';

type Folder = Extract<NeedId, 'captures' | 'external' | 'external-2'>;

const open = async (folder: Folder, names: readonly string[], settings = {}) =>
  new Analyzer(await openProfile(names.map(name => path.join(locate(folder)!, name))), settings);
const findIn = async (folder: Folder, ...names: string[]) =>
  (await open(folder, names)).get(findings).findings;
const get = (all: readonly Finding[], id: string) => all.find(finding => finding.id === id);
const adviceOf = (finding: Finding | undefined) => finding?.advice.map(({ text }) => text).join('\n') ?? '';

test('a segmentation model in FP32: 46% of GPU time on CUDA cores', {
  skip: lacks('external-2'),
}, async () => {
  const [first] = await findIn('external-2', 'kineto/sam-amg-a100.json.gz');
  assert.equal(first.id, 'fp32-gemm');
  // ampere_sgemm kernels take 268.6 of 575 ms, by a script that adds up the file's own durations.
  assert.ok(Math.abs(first.costNs! - 268.6e6) < 2e6, `${first.costNs}`);
});

test('a language model in FP32: 91% of GPU time on CUDA cores', { skip: lacks('external') }, async () => {
  const [first] = await findIn('external', 'nsys/a100-lm27b-nvtx-3.16.sqlite.gz');
  assert.equal(first.id, 'fp32-gemm');
  assert.match(first.claim, /91\.\d% of GPU time/);
});

test('what CUDA graphs bring to a real engine is predicted from its eager run', {
  skip: lacks('captures'),
}, async () => {
  const finding = get(await findIn('captures', 'vllm-eager/profile.sqlite.gz'), 'launch-overhead');
  // The same model, batch and GPU with graphs takes 7.85 ms per step where it took 31.8 ms without: 4.05 times as fast.
  const predicted = 1 + finding!.gain!.throughput;
  assert.ok(predicted > 4.05 * 0.75 && predicted < 4.05 * 1.25, `${predicted}`);
  assert.equal(finding!.confidence, 'likely');
});

test('one stalled launch of a toy on an MI250', { skip: lacks('external') }, async () => {
  const all = await findIn('external', 'hta/amd_trace_mi250_minitoy_train_ROCm6_2_kineto.json.gz');
  assert.equal(all[0].id, 'launch-stall');
  assert.match(all[0].claim, /^hipLaunchKernel stalls for 6\.5/);
  assert.equal(get(all, 'launch-overhead'), undefined);
});

test('gpt-oss in MXFP4 is not told to run in FP8, nor to overlap what overlaps', {
  skip: lacks('external'),
}, async () => {
  const file = 'sglang-gptoss120b-b200-tp8/bs-1-il-4096-1780800270.547418-TP-0-DECODE.trace.json.gz';
  const analyzer = await open('external', [file]);
  const known = analyzer.get(program);
  assert.deepEqual([known.engine, known.hasNarrowWeights, known.overlapsSteps], ['SGLang', true, true]);
  const all = analyzer.get(findings).findings;
  assert.equal(get(all, 'fp8-available'), undefined);
  assert.doesNotMatch(adviceOf(get(all, 'exposed-host-work')), /overlap-schedule/);
  // Stacks are named once: with what the profiler adds.
  assert.equal(get(all, 'stacks-recorded'), undefined);
  assert.match(
    adviceOf(get(all, 'profiler-cost')),
    /^record without --torch-stack .* saves about \d+ µs per step \(estimated, /m,
  );
});

test('an engine that writes another’s annotations is still itself', { skip: lacks('external') }, async () => {
  const analyzer = await open('external', ['tracelens/sglang-mi300x-decode.json.gz']);
  assert.equal(analyzer.get(program).engine, 'SGLang');
  for (const { claim, advice } of analyzer.get(findings).findings)
    for (const text of [claim, ...advice.map(one => one.text)]) assert.doesNotMatch(text, /CUDA graph/);
});

test('a graph that is being captured is said to be', { skip: lacks('external-2') }, async () => {
  const all = await findIn('external-2', 'tracelens/sglang-mi300x-graph-capture.json.gz');
  assert.equal(all[0].id, 'graph-being-captured');
  assert.equal(get(all, 'launch-overhead'), undefined);
});

test('programs without steps: no count of 0, nothing per step, nothing certain about launches', {
  skip: lacks('external'),
}, async () => {
  for (const name of [
    'b200-moe-gate-3.16',
    'h100-fuser-3.16',
    'rtx6000-2021-noschema',
    'a100-saxpy-mpi-2.9',
  ]) {
    const analyzer = await open('external', [`nsys/${name}.sqlite.gz`]);
    const all = analyzer.get(findings).findings;
    for (const { claim, evidence } of all)
      for (const text of [claim, ...evidence.map(one => one.text)])
        assert.doesNotMatch(text, /\b0 kernels|per step|per \w+ step/, `${name}: ${text}`);
    assert.notEqual(get(all, 'launch-overhead')?.confidence, 'certain', name);
    assert.doesNotMatch(describePageAnswer(analyzer).answer.lines[0], /per step/);
  }
});

test('a program of C++ gets no settings of PyTorch', { skip: lacks('external') }, async () => {
  const all = await findIn('external', 'nsys/rtx-graphblock-3.24.sqlite.gz');
  for (const finding of all) assert.doesNotMatch(adviceOf(finding), /torch|PYTORCH|TLLM/);
  assert.ok(get(all, 'steady-allocations'));
});

test('vLLM 0.25 under the agent: its own advice, and none for what is on by default', {
  skip: lacks('captures'),
}, async () => {
  const files = ['vllm-agent/profile.sqlite.gz', 'vllm-agent/agent.json'];
  const analyzer = await open('captures', files);
  const known = analyzer.get(program);
  assert.deepEqual([known.engine, known.version, known.overlapsSteps], ['vLLM', '0.25.1', true]);
  const all = analyzer.get(findings).findings;
  for (const finding of all) assert.doesNotMatch(adviceOf(finding), /--async-scheduling|TLLM/);
  assert.ok(get(all, 'fp8-available')?.advice.some(({ engine }) => engine === 'vLLM'));
  assert.equal(get(all, 'cuda-errors'), undefined, '42 queries answered "not ready"');
});

test('an SGLang without markers is known by its threads', { skip: lacks('captures') }, async () => {
  const known = (await open('captures', ['sglang-graphs/profile.sqlite.gz'])).get(program);
  assert.deepEqual([known.engine, known.overlapsSteps], ['SGLang', true]);
});

test('synchronous vLLM is told to schedule ahead', { skip: lacks('captures') }, async () => {
  for (const name of ['vllm-graphs', 'vllm-blocks']) {
    const all = await findIn('captures', `${name}/profile.sqlite.gz`);
    assert.match(adviceOf(get(all, 'exposed-host-work')), /--async-scheduling/, name);
    assert.ok(!get(all, 'partial-graphs') && !get(all, 'graphs-in-pieces'), name);
  }
});

test('another model than the one that ran is refused, with the reason', {
  skip: lacks('captures'),
}, async () => {
  const wrong = { model: findModel('llama-3.3-70b')!.config };
  const analyzer = await open('captures', ['vllm-graphs/profile.sqlite.gz'], wrong);
  assert.throws(() => analyzer.get(speedOfLight), {
    message: /distance to the speed of light/,
    hint: /times the GPU’s peak: --model has 80 layers, .* repeats its kernels 32 times/,
  });
  const right = { model: findModel('llama-3.1-8b')!.config };
  const { rows } = (await open('captures', ['vllm-graphs/profile.sqlite.gz'], right)).get(speedOfLight);
  for (const { ofLeast } of rows) assert.ok(ofLeast === null || ofLeast <= 1);
});
