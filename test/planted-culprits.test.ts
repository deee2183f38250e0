/**
 * A real vLLM whose host code was slowed in one known way at a time (docs/evidence/host-code): the page leads with it,
 * and names the code. PyTorch profiler with stacks, or nsys with everything about the host; H200, redacted.
 */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { program } from '../src/analyze/program.js';
import { undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';

interface Planted {
  readonly file: string;
  readonly finding: string;
  readonly names: RegExp;
  /** Milliseconds: median step of the same process before the window, without a profiler. */
  readonly quietMs: number;
  /** The host did not do in the window what it did before it, or a constant of the estimate comes from this run. */
  readonly isNoJudge?: true;
}

const planted: readonly Planted[] = [
  {
    file: 'tokenizer.json.xz',
    finding: 'exposed-host-work',
    names: /to_py_obj .*Tokenizer\.decode/,
    quietMs: 10.53,
    isNoJudge: true,
  },
  {
    file: 'item.json.xz',
    finding: 'blocking-in-layers',
    names: /(?:9\d\.\d|100\.0)% of them in read_lengths/,
    quietMs: 11.86,
  },
  {
    file: 'logging.json.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms log_one \(planted\.py:\d+\) → _log \(logging\/__init__\.py:\d+\) \(157 ×\)/,
    quietMs: 10.34,
  },
  { file: 'lock.json.xz', finding: 'exposed-host-work', names: /: [\d.]+ ms update_metrics/, quietMs: 11.93 },
  {
    file: 'page-faults.json.xz',
    finding: 'exposed-host-work',
    names: /: \d+ ms stage_buffer/,
    quietMs: 144.9,
    isNoJudge: true,
  },
  { file: 'gc.json.xz', finding: 'garbage-collection', names: /collections per step/, quietMs: 20.17 },
  { file: 'mask.json.xz', finding: 'exposed-host-work', names: /: [\d.]+ ms build_mask/, quietMs: 11.94 },
  {
    file: 'json.json.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms encode_answer \(planted\.py:\d+\) → iterencode/,
    quietMs: 10.76,
  },
  { file: 'malloc.json.xz', finding: 'steady-allocations', names: /cudaMalloc, cudaFree/, quietMs: 11.47 },
  {
    file: 'pipe.json.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms ask_api_server \(planted\.py:\d+\) → FileIO\.readline/,
    quietMs: 11.46,
  },
  {
    file: 'nsys-tokenizer.sqlite.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms decode_history \(planted\.py\) → decode \(tokenization/,
    quietMs: 11.5,
    isNoJudge: true,
  },
  {
    file: 'nsys-logging.sqlite.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms log_one \(planted\.py\) → flush \(logging\/__init__\.py:1144\)/,
    quietMs: 10.54,
  },
  {
    file: 'nsys-lock.sqlite.xz',
    finding: 'exposed-host-work',
    names:
      /: [\d.]+ ms update_metrics \(planted\.py:148\) → .*sem_wait → meanwhile thread .*: export_metrics \(planted\.py:140\)/,
    quietMs: 10.77,
  },
  {
    file: 'nsys-page-faults.sqlite.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms stage_buffer \(planted\.py\)/,
    quietMs: 13.22,
    isNoJudge: true,
  },
  { file: 'nsys-gc.sqlite.xz', finding: 'garbage-collection', names: /collections per step/, quietMs: 16.59 },
  {
    file: 'nsys-busy-core.sqlite.xz',
    finding: 'cpu-contention',
    names: /taken by python3 \(16(17|18|19|20)\)/,
    quietMs: 152,
    isNoJudge: true,
  },
  {
    file: 'nsys-mask.sqlite.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms build_mask/,
    quietMs: 11.14,
  },
  {
    file: 'nsys-json.sqlite.xz',
    finding: 'exposed-host-work',
    names: /: [\d.]+ ms encode_answer \(planted\.py\) → iterencode/,
    quietMs: 11.69,
  },
  {
    file: 'nsys-malloc.sqlite.xz',
    finding: 'steady-allocations',
    names: /ms per step in cudaMalloc/,
    quietMs: 11.41,
  },
  {
    file: 'nsys-pipe.sqlite.xz',
    finding: 'exposed-host-work',
    names:
      /: [\d.]+ ms ask_api_server \(planted\.py:233\) → read → meanwhile thread python3 of python3: <string>\(6\): <module>/,
    quietMs: 11.34,
  },
];

for (const { file, finding, names, quietMs, isNoJudge } of planted)
  test(`${file}: the culprit comes first, by name`, async () => {
    const where = path.join(projectRoot, 'test/fixtures/planted', file);
    const analyzer = new Analyzer(await openProfile([where], { workers: 0 }), {});
    const [first] = analyzer.get(findings).rows;
    assert.equal(first.rule, finding);
    assert.match(JSON.stringify(first.evidence), names);
    if (isNoJudge) return;
    const [step] = analyzer.get(undisturbedStep).rows;
    assert.ok(step.lowNs <= quietMs * 1e6 && quietMs * 1e6 <= step.highNs, JSON.stringify(step));
  });

test('the profiler takes part in a fight for a CPU: nothing is estimated without it', async () => {
  const file = path.join(projectRoot, 'test/fixtures/planted/nsys-busy-core.sqlite.xz');
  const analyzer = new Analyzer(await openProfile([file], { workers: 0 }), {});
  assert.deepEqual(analyzer.get(undisturbedStep).rows, []);
});

test('with the PyTorch profiler, counters of the agent show a thread that has no CPU', async () => {
  const at = (name: string) => path.join(projectRoot, 'test/fixtures/planted', name);
  const files = [at('busy-core.json.xz'), at('busy-core.agent.json')];
  const analyzer = new Analyzer(await openProfile(files, { workers: 0 }), {});
  const [first] = analyzer.get(findings).rows;
  assert.equal(first.rule, 'lost-cpu');
  assert.match(
    JSON.stringify(first.evidence),
    /waits 339 ms per step for host code, which has a CPU for 9\.21 ms/,
  );
  // The steps around this window were slowed by something else, or by nothing: they measure nothing about it.
  assert.ok(analyzer.get(undisturbedStep).rows.every(({ source }) => source === 'estimate'));
});

test('what was recorded decides whether steps overlap, not what the release does by default', async () => {
  const profile = await openProfile([path.join(projectRoot, 'test/fixtures/planted/mask.json.xz')], {
    workers: 0,
  });
  const capture = { ...profile.capture, versions: { ...profile.capture.versions, vllm: '0.25.1' } };
  assert.equal(new Analyzer({ ...profile, capture }, {}).get(program).overlapsSteps, false);
});
