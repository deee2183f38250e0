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

function run(model: string, variables: Record<string, string>): string {
  const { status, stdout, stderr } = spawnSync(
    locate('transformers')!,
    [path.join(agent, 'tests/transformers_models.py'), model],
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
  return JSON.parse(stdout.trim().split('\n').at(-1)!).digest;
}

const spreads = (): number[] => {
  const { counts } = JSON.parse(readFileSync(path.join(folder, 'load-rank-0.json'), 'utf8'));
  return (counts as number[][][]).flat().map(row => Math.max(...row) - Math.min(...row));
};

for (const model of ['mixtral', 'qwen3-moe', 'llama4', 'gpt-oss', 'deepseek-v3'])
  test(`${model}: experts differ by one at most for any number of tokens, and off, nothing changes`, {
    skip,
  }, () => {
    const counting = { STEPSCOPE_EXPERT_LOAD: 'load.json' };
    const plain = run(model, {});
    assert.equal(run(model, counting), plain, 'counted');
    assert.ok(Math.max(...spreads()) > 1, 'the learned router is uneven');
    assert.notEqual(run(model, { ...counting, ENABLE_PERFECT_ROUTER: '1' }), plain);
    assert.equal(spreads().length, 2 * 10);
    assert.equal(Math.max(...spreads()), 1);
  });
