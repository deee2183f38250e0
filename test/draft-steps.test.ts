/** Speculative decoding: draft and target are steps of two kinds, also where one marker names both. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { steadyState } from '../src/analyze/inference/steady-state.js';
import { stepsOf } from '../src/analyze/inference/steps.js';
import { tokenTime } from '../src/analyze/inference/token-time.js';
import { matchMarker } from '../src/catalog/engine-markers.js';
import { openProfile } from '../src/import/open.js';
import { DrawnTrace, traceText, withFiles } from '../src/testing/drawn-trace.js';
import { lacks, locate } from '../src/testing/needs.js';

const GEMM = 'nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT';
const ATTENTION = 'void flash::flash_fwd_splitkv_kernel<cutlass::bfloat16_t>(flash::Flash_fwd_params)';

/** One step of a model with so many layers, each a norm, an attention and two GEMMs of 10 µs. */
function step(trace: DrawnTrace, at: number, layers: number, kernels = Infinity): number {
  const names = Array.from({ length: layers }, () => ['rms_norm_kernel', ATTENTION, GEMM, GEMM]).flat();
  // A model of its own size has kernels of its own.
  names.unshift(layers > 10 ? 'embedding_kernel' : 'small_embedding_kernel');
  const end = at + 10 * names.length + 50;
  trace.range('execute_context_0(0)_generation_8(8)', at, end - 1);
  names.slice(0, kernels).forEach((name, i) => {
    trace.kernel(name, at + 1 + 9 * i, at + 10 + 10 * i, at + 19 + 10 * i);
  });
  return end;
}

const analyze = (trace: DrawnTrace) =>
  withFiles([traceText(trace.all())], async files => new Analyzer(await openProfile(files)));

/** Three drafts of 4 layers before each target of 32. */
function speculative(): DrawnTrace {
  const trace = new DrawnTrace();
  let at = 0;
  for (let round = 0; round < 6; round++) {
    at = step(trace, at, 32);
    for (let draft = 0; draft < 3; draft++) at = step(trace, at, 4);
  }
  return trace;
}

test('draft and target under one marker are two kinds, and no target is warm-up', async () => {
  const analyzer = await analyze(speculative());
  const phases = analyzer.get(stepsOf)!.steps.map(({ facts }) => facts.phase);
  assert.deepEqual(phases.slice(0, 5), ['speculative', 'draft', 'draft', 'draft', 'speculative']);
  assert.ok(!analyzer.get(steadyState)!.state.includes('warm-up'), 'the first step is a target, not slow');
});

test('a token pays for its drafts, and how many are accepted is said to be assumed', async () => {
  const analyzer = await analyze(speculative());
  const result = analyzer.get(tokenTime);
  assert.deepEqual(
    result.rows.map(({ phase, tokensPerStep }) => [phase, tokensPerStep]),
    [['speculative', 8]],
  );
  // 1,340 µs of the target and 3 × 220 of its drafts.
  assert.ok(Math.abs(result.rows[0].interTokenNs - 2_000_000) < 20_000, `${result.rows[0].interTokenNs}`);
  assert.match(tokenTime.headline!.text(result, 'speculative')!, /; one accepted token per step assumed$/);
});

test('a step in which the recording ended is no draft', async () => {
  const trace = new DrawnTrace();
  let at = 0;
  for (let i = 0; i < 6; i++) at = step(trace, at, 32);
  step(trace, at, 32, 40);
  const analyzer = await analyze(trace);
  assert.ok(analyzer.get(stepsOf)!.steps.every(({ facts }) => facts.phase === 'decode'));
  assert.equal(analyzer.get(steadyState)!.state.at(-1), 'incomplete', 'the recording ended in it');
});

test('markers that say draft are draft', () => {
  assert.equal(matchMarker('step[DRAFT_EXTEND bs=4]')?.facts.phase, 'draft');
  assert.equal(matchMarker('step[TARGET_VERIFY bs=4]')?.facts.phase, 'speculative');
});

test('SGLang with EAGLE3: the draft’s prefill is not averaged with the target’s', {
  skip: lacks('external'),
}, async () => {
  const open = async (name: string) =>
    new Analyzer(
      await openProfile([path.join(locate('external')!, `sglang-gptoss120b-eagle3/bs-1-il-4096-${name}`)]),
    );
  const prefill = await open('1780800503.2446792-TP-0-EXTEND.trace.json.gz');
  assert.deepEqual(
    prefill.get(stepsOf)!.steps.map(({ facts }) => facts.phase),
    ['prefill', 'draft'],
  );
  const decode = await open('1780800503.2446792-TP-0-DECODE.trace.json.gz');
  // The last of five replays two graphs instead of three.
  assert.deepEqual(decode.get(steadyState)!.state, ['steady', 'steady', 'steady', 'steady', 'incomplete']);
});
