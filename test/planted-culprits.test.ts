/**
 * A real vLLM whose host code was slowed in one known way at a time (docs/evidence/host-code): the page leads with it,
 * and names the code. PyTorch profiler with stacks, H200, redacted.
 */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';

/** Milliseconds: median step of the same process before the window, without a profiler. */
const culprits: readonly {
  readonly culprit: string;
  readonly finding: string;
  readonly names: RegExp;
  readonly quietMs: number;
}[] = [
  {
    culprit: 'tokenizer',
    finding: 'exposed-host-work',
    names: /to_py_obj .*Tokenizer\.decode/,
    quietMs: 10.53,
  },
  {
    culprit: 'item',
    finding: 'blocking-in-layers',
    names: /9\d\.\d% of the waits in read_lengths/,
    quietMs: 11.86,
  },
  {
    culprit: 'logging',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms _log \(logging\/__init__\.py:\d+\) \(157 ×\)/,
    quietMs: 10.34,
  },
  { culprit: 'lock', finding: 'exposed-host-work', names: /: [\d.]+ ms update_metrics/, quietMs: 11.93 },
  { culprit: 'page-faults', finding: 'exposed-host-work', names: /: \d+ ms stage_buffer/, quietMs: 144.9 },
  { culprit: 'gc', finding: 'garbage-collection', names: /collections per step/, quietMs: 20.17 },
];

for (const { culprit, finding, names, quietMs } of culprits)
  test(`${culprit}: comes first, by name`, async () => {
    const file = path.join(projectRoot, 'test/fixtures/planted', `${culprit}.json.xz`);
    const analyzer = new Analyzer(await openProfile([file], { workers: 0 }), {});
    const [first] = analyzer.get(findings).rows;
    assert.equal(first.rule, finding);
    assert.match(JSON.stringify(first.evidence), names);
    // Page faults came and went while they were measured; a constant of the estimate comes from the tokenizer.
    if (culprit === 'page-faults' || culprit === 'tokenizer') return;
    const [step] = analyzer.get(undisturbedStep).rows;
    assert.ok(step.lowNs <= quietMs * 1e6 && quietMs * 1e6 <= step.highNs, JSON.stringify(step));
  });
