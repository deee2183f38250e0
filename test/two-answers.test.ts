/**
 * A finding's gain and `whatif` answer the same question by different means, one by the budget, one by replaying the launch
 * graph: what they say about the same change of the same run must not contradict.
 */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { sumOfParts } from '../src/analyze/undisturbed/replay-without-recording.js';
import { changesOf } from '../src/analyze/whatif/changes.js';
import { predictPhases } from '../src/analyze/whatif/predict.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';

type Asked = Parameters<typeof changesOf>[0];

const changeFor: Readonly<Record<string, Asked>> = {
  'launch-overhead': { graphs: true },
  'exposed-host-work': { async: true },
  'fp8-available': { fp8: true },
  'pageable-copies': { pinned: true },
  'garbage-collection': { noGc: true },
};

/** Times faster by one answer, divided by the other. */
const APART = 1.25;

const files = [
  ...['eager', 'gc', 'graphmode'].map(name => capturePath(name)),
  ...[
    ...['nsys-eager-decode.sqlite.xz', 'logits-to-cpu.json.xz', 'nsys-hidden-states.sqlite.xz'],
    ...['nsys-sglang-no-overlap.sqlite.xz', 'nsys-sglang-prefill.sqlite.xz', 'sorting.json.xz'],
    ...['nsys-tokenizing.sqlite.xz', 'compiled-graph.json.xz', 'nsys-embedding-service.sqlite.xz'],
  ].map(name => path.join(projectRoot, 'test/fixtures/own-programs', name)),
];

for (const file of files)
  test(`${path.basename(path.dirname(file))}/${path.basename(file)}: gain and prediction agree`, async () => {
    const analyzer = new Analyzer(await openProfile([file]));
    let compared = 0;
    for (const { id, phase, gain, advice } of analyzer.get(findings).findings) {
      const asked = changeFor[id];
      // Host work that is longer than what overlapping hides has to be shortened, by how much nobody predicts.
      if (!asked || !gain || /sleeps|shorten it/.test(advice[0]?.text ?? '')) continue;
      const changes = changesOf({ ...asked, noProfiler: true });
      const found = predictPhases(analyzer, changes).find(own => own.phase === phase);
      if (!found || 'cannotTell' in found) continue;
      const [without, wanted] = found.changes;
      if (wanted.outcome.status !== 'applied') continue;
      const predicted = (sumOfParts(found.from) + (without.aloneNs ?? 0)) / sumOfParts(found.to);
      const promised = 1 + gain.throughput;
      const apart = Math.max(promised / predicted, predicted / promised);
      assert.ok(
        apart <= APART,
        `${id}: ×${promised.toFixed(2)} promised, ×${predicted.toFixed(2)} predicted`,
      );
      compared++;
    }
    assert.ok(compared > 0, 'nothing to compare');
  });
