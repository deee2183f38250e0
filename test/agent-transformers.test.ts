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

// Three kinds of router; the others are like the first.
const MODELS = process.env.STEPSCOPE_EVERY_CAPTURE
  ? ['mixtral', 'qwen3-moe', 'llama4', 'gpt-oss', 'deepseek-v3']
  : ['mixtral', 'gpt-oss', 'deepseek-v3'];

/** Digests of what the models say. */
function run(cwd: string, variables: Record<string, string>): Map<string, string> {
  const { status, stdout, stderr } = spawnSync(
    locate('transformers')!,
    [path.join(agent, 'tests/transformers_models.py'), ...MODELS],
    {
      cwd,
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

// Importing transformers takes seconds: all models share a process, with each setting of the agent.
const once = (variables: Record<string, string>) => {
  let known: Map<string, string> | undefined;
  const own = mkdtempSync(path.join(folder, 'run-'));
  return {
    digest: (model: string) => {
      known ??= run(own, variables);
      return known.get(model)!;
    },
    /** By layer and step: calls of the busiest expert minus those of the idlest. */
    spreads: (model: string): number[] => {
      const { counts } = JSON.parse(readFileSync(path.join(own, model, 'load-rank-0.json'), 'utf8'));
      return (counts as number[][][]).flat().map(row => Math.max(...row) - Math.min(...row));
    },
  };
};
const counting = { STEPSCOPE_EXPERT_LOAD: 'load.json' };
const plain = once({});
const counted = once(counting);
const perfect = once({ ...counting, ENABLE_PERFECT_ROUTER: '1' });

for (const model of MODELS)
  test(`${model}: experts differ by one at most for any number of tokens, and off, nothing changes`, {
    skip,
  }, () => {
    const digest = plain.digest(model);
    assert.ok(digest);
    assert.equal(counted.digest(model), digest, 'counted');
    assert.ok(Math.max(...counted.spreads(model)) > 1, 'the learned router is uneven');
    assert.notEqual(perfect.digest(model), digest);
    assert.equal(perfect.spreads(model).length, 2 * 10);
    assert.equal(Math.max(...perfect.spreads(model)), 1);
  });
