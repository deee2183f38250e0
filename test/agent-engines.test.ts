/** The agent in the MoE layers of engines: stand-ins with the signatures of vLLM and SGLang, real torch, real files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const skip = lacks('torch');
const agent = path.join(projectRoot, 'agent');
const home = mkdtempSync(path.join(tmpdir(), 'stepscope-engines-'));
after(() => rmSync(home, { recursive: true, force: true }));

const clean = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(STEPSCOPE|TLLM)_|^PYTHON|^RANK$|^ENABLE_PERFECT/.test(name),
  ),
);

function run(name: string, variables: Record<string, string>, python: 'torch' | 'transformers' = 'torch') {
  const folder = mkdtempSync(path.join(home, 'run-'));
  const ran = spawnSync(locate(python)!, [path.join(agent, 'tests', 'engine_moe.py'), name], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...clean, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: agent, ...variables },
  });
  assert.equal(ran.status, 0, ran.stderr);
  const load = path.join(folder, 'load-rank-0.json');
  return {
    said: JSON.parse(ran.stdout.trim().split('\n').at(-1)!),
    stderr: ran.stderr,
    load: existsSync(load) ? JSON.parse(readFileSync(load, 'utf8')) : undefined,
  };
}

const COUNTED = { STEPSCOPE_EXPERT_LOAD: 'load.json' };
const PERFECT = { ENABLE_PERFECT_ROUTER: '1' };

for (const how of ['eager', 'compiled'] as const) {
  // torch.compile needs torch 2.
  const python = how === 'compiled' ? 'transformers' : 'torch';
  const SCENARIO_COMPILE = how === 'compiled' ? '1' : '';

  test(`vLLM, ${how}: counts are those of the steps alone, without warm-up before and between them`, {
    skip: lacks(python),
  }, () => {
    const { said, load, stderr } = run('vllm', { ...COUNTED, SCENARIO_COMPILE }, python);
    assert.ok(Math.max(...said.spreads.flat()) > 1, 'the learned router is not balanced');
    assert.deepEqual(
      load.layers.map((layer: { module: string; index: number }) => [layer.module, layer.index]),
      [0, 1, 2].map(index => [`model.layers.${index}.mlp.experts`, index]),
    );
    assert.equal(said.choices.length, 3);
    assert.deepEqual(load.counts, said.choices);
    assert.ok(said.bias, 'the learned bias stays');
    assert.doesNotMatch(stderr, /PERFECT/);
  });

  test(`vLLM, ${how}: planned logits reach every kind of router, for every batch size at one address`, {
    skip: lacks(python),
  }, () => {
    const { said, load } = run('vllm', { ...COUNTED, ...PERFECT, SCENARIO_COMPILE }, python);
    assert.deepEqual(said.spreads, Array(3).fill([1, 1, 1]));
    assert.deepEqual(load.counts, said.choices);
    assert.equal(said.addresses, 1);
    assert.equal(said.bias, false);
  });
}

test('vLLM: ranks that route the same tokens plan the same experts, others continue', { skip }, () => {
  const { said, load, stderr } = run('vllm_ranks', { ...COUNTED, ...PERFECT });
  const first = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
  ];
  assert.deepEqual(said.tensor, first);
  assert.deepEqual(said.gathered, first);
  assert.deepEqual(said.data, [[3, 7, 11, 15], ...first.slice(0, 2)]);
  assert.deepEqual(
    load.layers.map((layer: { module: string }) => layer.module),
    ['data'],
  );
  assert.match(stderr, /another rank routes the same tokens and counts them/);
});

test('vLLM: where balanced logits do not balance the GPUs, the learned router stays, with a reason', {
  skip,
}, () => {
  const { said, stderr } = run('vllm_refused', PERFECT);
  assert.deepEqual(said.changed, [false, false]);
  assert.match(stderr, /load balancer places the experts/);
  assert.match(stderr, /placed round-robin/);
});

test('vLLM: a version without the known method says so', { skip }, () => {
  assert.match(run('vllm_unknown', PERFECT).stderr, /vLLM \S+ has no MoERunner\._apply_quant_method: /);
});

test('SGLang: planned and counted for every format that its top-k returns', { skip }, () => {
  const { said, load } = run('sglang', { ...COUNTED, ...PERFECT });
  assert.deepEqual(said.spreads, { standard: 1, triton: 1, bypassed: 1, shared: 1, padded: 0 });
  assert.deepEqual(
    load.layers.map((layer: { index: number; topK: number }) => [layer.index, layer.topK]),
    [3, 4, 5, 6, 7].map(index => [index, 4]),
  );
  const tokens = load.counts[0].map((row: number[]) => row.reduce((sum, count) => sum + count));
  assert.deepEqual(tokens, [52, 52, 52, 52, 32]);
  const learned = run('sglang', COUNTED).said.spreads;
  assert.ok(learned.standard > 1 && learned.triton > 1 && learned.bypassed > 1, JSON.stringify(learned));
});
