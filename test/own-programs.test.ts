/**
 * Programs of one's own on PyTorch, without an engine or a marker, each with a known bottleneck
 * (docs/evidence/own-programs): the page leads with it. PyTorch profiler or nsys; H200, redacted.
 */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';

interface Program {
  readonly file: string;
  /** Steps the program ran; 0: its layers are all alike, so that nothing shows where a step begins. */
  readonly steps: number;
  /** Findings with a gain, the first of the page first; empty: none. */
  readonly first: readonly string[];
  /** What the evidence or the advice of the first says. */
  readonly says?: RegExp;
  /** Times faster when the cause was removed, on the same machine. The gain promises no more. */
  readonly mended?: number;
}

const programs: readonly Program[] = [
  // cuDNN builds a plan of its attention for every new length of the cache, which grows by one each step.
  {
    file: 'nsys-eager-decode.sqlite.xz',
    steps: 20,
    first: ['host-work-in-step', 'launch-overhead'],
    says: /cuLibraryLoadData/,
    mended: 109.5 / 22.9,
  },
  {
    file: 'plans.json.xz',
    steps: 10,
    first: ['host-work-in-step'],
    says: /_cudnn_attention_forward: cuDNN builds a plan for every new length/,
  },
  // The same, and numpy samples on the CPU.
  {
    file: 'nsys-cpu-sampling.sqlite.xz',
    steps: 10,
    first: ['host-work-in-step', 'exposed-host-work'],
    says: /cuLibraryLoadData/,
  },
  // The same, and the loop sleeps 20 ms.
  { file: 'nsys-sleeping.sqlite.xz', steps: 15, first: ['host-work-in-step', 'exposed-host-work'] },
  { file: 'nsys-tokenizing.sqlite.xz', steps: 10, first: ['exposed-host-work'], says: /22\.9 ms before/ },
  {
    file: 'nsys-expert-loop.sqlite.xz',
    steps: 9,
    first: ['launch-overhead', 'blocking-in-layers'],
    says: /first remove the 64 waits/,
  },
  { file: 'offload.json.xz', steps: 0, first: ['pageable-copies'], mended: 57.7 / 7.95 },
  { file: 'offload-pinned.json.xz', steps: 0, first: ['link-bound'], says: /53\.0 GB\/s/ },
  { file: 'fp32.json.xz', steps: 5, first: ['fp32-gemm'], mended: 42.5 / 11.3 },
  // A prompt of fixed length, compiled and replayed: busy, and not decode.
  { file: 'compiled-graph.json.xz', steps: 19, first: ['fp8-available'] },
  { file: 'nsys-convolutions.sqlite.xz', steps: 12, first: [] },
];

for (const { file, steps, first, says, mended } of programs)
  test(`${file}: the page leads with what is known to hold it up`, async () => {
    const profile = await openProfile([path.join(projectRoot, 'test/fixtures/own-programs', file)]);
    const analyzer = new Analyzer(profile);
    const found = analyzer.get(findings).findings.filter(({ gain }) => gain !== null);
    assert.deepEqual(
      found.slice(0, Math.max(1, first.length)).map(({ id }) => id),
      first,
    );
    const rows = analyzer.get(iterations).rows.filter(row => row.selected);
    assert.equal(rows.length, steps);
    assert.ok(
      rows.every(({ phase }) => phase === 'unknown'),
      'nothing in the file tells prefill from decode',
    );
    if (says)
      assert.match([...found[0].evidence, ...found[0].advice].map(({ text }) => text).join('\n'), says);
    const times = 1 + (found[0]?.gain?.throughput ?? 0);
    if (mended) assert.ok(times > 1.3 && times <= mended, `×${times} promised, ×${mended} measured`);
  });
