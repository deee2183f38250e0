import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { hostBlockers, plainBlockers } from '../src/analyze/host-code/host-blockers.js';
import { threadStacks } from '../src/analyze/host-code/thread-stacks.js';
import { usualAnalyses } from '../src/analyze/index.js';
import { idleGaps } from '../src/analyze/inference/idle-gaps.js';
import { openProfile } from '../src/import/open.js';
import { capturePath } from '../src/testing/captures.js';
import { helpAhead } from '../src/threads/help-ahead.js';
import { hostLanes } from '../src/timeline/host-lanes.js';

const files = [
  capturePath('eager'),
  capturePath('gil'),
  capturePath('graph'),
  capturePath('eager', 'kineto.json.gz'),
];

test('a thread that helps gives the same results', async () => {
  for (const file of files) {
    const profile = await openProfile([file]);
    const alone = new Analyzer(profile);
    const helped = new Analyzer(profile);
    await helpAhead(helped, { leastCalls: 1, withTimeline: true });
    const blockers = helped.get(hostBlockers);
    assert.notEqual(blockers.paths, helped.get(threadStacks).paths, 'they come from the thread');
    assert.deepEqual(helped.get(hostLanes), alone.get(hostLanes), file);
    assert.deepEqual(plainBlockers(blockers), plainBlockers(alone.get(hostBlockers)), file);
    for (const analysis of usualAnalyses)
      assert.deepEqual(helped.run(analysis), alone.run(analysis), `${file}: ${analysis.id}`);
  }
});

test('what the thread cannot answer is computed here', async () => {
  const profile = await openProfile([capturePath('eager')]);
  const helped = new Analyzer(profile);
  helped.promise(idleGaps, () => undefined);
  assert.deepEqual(helped.get(idleGaps), new Analyzer(profile).get(idleGaps));
});

test('results are waited for, not computed twice', async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('eager')]));
  const made = { rows: [], summary: { gaps: -1 } };
  analyzer.promise(idleGaps, () => made);
  assert.equal(analyzer.get(idleGaps), made);
});
