/** The headline is the first finding, everywhere in the same words; without one it describes the budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { describePageAnswer } from '../src/analyze/page.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { capturePath, unlikeCaptures } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { viewProfile } from '../src/timeline/view-profile.js';

/** What the page, the JSON document and the web view say of a profile, and its first finding. */
function said(profile: Profile) {
  const analyzer = new Analyzer(profile);
  const { findings: all, summary } = analyzer.get(findings);
  const { answer } = describePageAnswer(analyzer);
  const web = viewProfile(profile, {}, 'profile').answer();
  return { first: all.find(({ severity }) => severity !== 'note'), answer, verdict: summary?.verdict, web };
}

test('page, JSON and web view open with the first finding of every capture', async () => {
  let checked = 0;
  for (const name of unlikeCaptures) {
    const profile = await openProfile([capturePath(name)]).catch(() => undefined);
    if (!profile) continue;
    const { first, answer, verdict, web } = said(profile);
    assert.deepEqual(web.lines, answer.lines, name);
    if (!first) {
      assert.equal(verdict, null, name);
      continue;
    }
    assert.ok(answer.lines[0].startsWith(first.claim), `${name}: ${answer.lines[0]}`);
    assert.equal(verdict, answer.lines[0], name);
    checked++;
  }
  assert.ok(checked >= 8, `only ${checked} captures with a finding`);
});

test('cause, cost and gain are those of the finding', () => {
  const { answer, first } = said(drawEngine({ eager: 100 }));
  assert.equal(first?.id, 'launch-overhead');
  assert.match(
    answer.lines[0],
    /^Decode is launch-bound: 100 kernel launches, no CUDA graphs \([\d.]+ ms per step, [\d.]+%; gain ×[\d.]+, likely\)\.$/,
  );
});

test('without a finding the budget is described', () => {
  const { answer, verdict } = said(drawEngine({}));
  assert.match(answer.lines[0], /^Decode keeps the GPU busy \d+% of every step; most of it is GEMM/);
  assert.equal(verdict, null);
});
