/**
 * The perfect router and the counts of experts in models of a real transformers. It needs a newer torch than
 * distributions bring.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const skip = lacks('transformers');

const agent = path.join(projectRoot, 'agent');
const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-transformers-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const clean = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(STEPSCOPE|TLLM)_|^RANK$|^ENABLE_PERFECT_ROUTER$/.test(name),
  ),
);

const MODELS = ['mixtral', 'qwen3-moe', 'llama4', 'gpt-oss', 'deepseek-v3'];

/** Digests of what the models say. */
function run(models: readonly string[], variables: Record<string, string>): Map<string, string> {
  const { status, stdout, stderr } = spawnSync(
    locate('transformers')!,
    [path.join(agent, 'tests/transformers_models.py'), ...models],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...clean,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: [agent, clean.PYTHONPATH].filter(Boolean).join(':'),
        ...variables,
      },
    },
  );
  assert.equal(status, 0, stderr);
  const lines = stdout.split('\n').filter(line => line.startsWith('{'));
  return new Map(lines.map(line => JSON.parse(line)).map(({ model, digest }) => [model, digest]));
}

// Importing transformers takes seconds: without the agent, all models share a process.
let known: Map<string, string> | undefined;
const plainly = (model: string) => (known ??= run(MODELS, {})).get(model)!;

const spreads = (): number[] => {
  const { counts } = JSON.parse(readFileSync(path.join(folder, 'load-rank-0.json'), 'utf8'));
  return (counts as number[][][]).flat().map(row => Math.max(...row) - Math.min(...row));
};

for (const model of MODELS)
  test(`${model}: experts differ by one at most for any number of tokens, and off, nothing changes`, {
    skip,
  }, () => {
    const counting = { STEPSCOPE_EXPERT_LOAD: 'load.json' };
    const plain = plainly(model);
    assert.ok(plain);
    assert.equal(run([model], counting).get(model), plain, 'counted');
    assert.ok(Math.max(...spreads()) > 1, 'the learned router is uneven');
    assert.notEqual(run([model], { ...counting, ENABLE_PERFECT_ROUTER: '1' }).get(model), plain);
    assert.equal(spreads().length, 2 * 10);
    assert.equal(Math.max(...spreads()), 1);
  });
