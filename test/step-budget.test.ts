/** Budgets add up: on every capture and on thousands of random profiles, checked against a count of single moments. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { gpuUtilization } from '../src/analyze/gpu/gpu-utilization.js';
import { gpuWork, WorkKind } from '../src/analyze/gpu/gpu-work.js';
import type { BudgetRow } from '../src/analyze/inference/budget-totals.js';
import { criticalPath } from '../src/analyze/inference/critical-path.js';
import { idleGaps } from '../src/analyze/inference/idle-gaps.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { selection } from '../src/analyze/inference/selection.js';
import { stepBudget, windowBudgets } from '../src/analyze/inference/step-budget.js';
import { stepWork } from '../src/analyze/inference/step-work.js';
import { tokenTime } from '../src/analyze/inference/token-time.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { capturePath, unlikeCaptures } from '../src/testing/captures.js';
import { randomProfile } from '../src/testing/random-profile.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function assertAddsUp(row: BudgetRow, where: string): void {
  const parts = row.computeNs + row.communicationExposedNs + row.copyExposedNs + row.idleNs;
  assert.equal(parts, row.wallNs, `${where} ${row.key}: parts`);
  assert.equal(sum(Object.values(row.idleByCause)), row.idleNs, `${where} ${row.key}: causes`);
  assert.equal(row.endNs - row.startNs, row.wallNs, `${where} ${row.key}: window`);
  for (const [name, ns] of Object.entries(row)) {
    if (typeof ns === 'number' && name.endsWith('Ns') && name !== 'startNs' && name !== 'endNs')
      assert.ok(ns >= 0, `${where} ${row.key}: ${name} is ${ns}`);
  }
  for (const [cause, ns] of Object.entries(row.idleByCause))
    assert.ok(ns > 0, `${where} ${row.key}: ${cause}`);
}

const budgetRows = (profile: Profile, settings: Settings): readonly BudgetRow[] => {
  const outcome = new Analyzer(profile, settings).run(stepBudget);
  if (outcome.status === 'failed') throw new Error(outcome.message);
  return outcome.status === 'ok' ? (outcome.result.rows as readonly BudgetRow[]) : [];
};

const files = unlikeCaptures.flatMap(name =>
  ['profile.sqlite.gz', 'kineto.json.gz']
    .filter(file => existsSync(capturePath(name, file)))
    .map(file => [name, file]),
);
for (const [name, file] of files) {
  test(`budgets of ${name}/${file} sum to wall time to the nanosecond`, async () => {
    const profile = await openProfile([capturePath(name, file)]);
    let rows = 0;
    for (const settings of [{}, { whole: true }]) {
      for (const row of budgetRows(profile, settings)) {
        assertAddsUp(row, name);
        rows++;
      }
    }
    if (profile.tables.kernels) assert.ok(rows > 0, 'a capture with kernels has budgets');
  });
}

test('budgets of 1,000 random profiles add up, and every moment is counted as what it is', () => {
  let windows = 0;
  let withCommunication = 0;
  let withoutSteps = 0;
  for (let seed = 1; seed <= 1000; seed++) {
    const profile = randomProfile(seed);
    if (seed <= 50) validateProfile(profile);
    for (const settings of [{}, { whole: true }]) {
      const analyzer = new Analyzer(profile, settings);
      const where = `seed ${seed}${settings.whole ? ' whole' : ''}`;
      const rows = budgetRows(profile, settings);
      for (const row of rows) {
        assertAddsUp(row, where);
        windows++;
        if (row.communicationExposedNs > 0) withCommunication++;
      }
      if (rows.length === 0) continue;
      assertMoments(analyzer, where);
      if (rows.some(row => row.iteration === null)) withoutSteps++;
    }
  }
  // The generator must not have stopped making what the test is about.
  assert.ok(
    windows > 5000 && withCommunication > 500 && withoutSteps > 500,
    `${windows} ${withCommunication} ${withoutSteps}`,
  );
});

/**
 * Looks at every nanosecond of every window: the slow way to say what was running. A stream works in order: what
 * started while another piece of its stream still ran, and ended after it, waited for that.
 */
function assertMoments(analyzer: Analyzer, where: string): void {
  const work = analyzer.get(gpuWork);
  const names = analyzer.profile.tables.kernels?.name as unknown as Int32Array | undefined;
  const budgets = analyzer.get(windowBudgets);
  const ends = new Map<number, number>();
  const earlierOnStream = Array.from({ length: work.length }, (_, i) =>
    Array.from({ length: i }, (_, j) => j).filter(j => work.stream[j] === work.stream[i]),
  );
  const waitsBehindAnother = (i: number, moment: number) =>
    earlierOnStream[i].every(j => work.end[j] < work.end[i]) &&
    earlierOnStream[i].some(j => work.end[j] > moment);
  for (const { window, budget } of budgets) {
    const { device, start, end } = window;
    assert.ok(start >= (ends.get(device) ?? -Infinity), `${where}: windows of a device overlap`);
    ends.set(device, end);
    const count = { compute: 0, communication: 0, copy: 0, idle: 0 };
    for (let moment = start; moment < end; moment++) {
      let state: keyof typeof count = 'idle';
      for (let i = 0; i < work.length; i++) {
        if (work.device[i] !== device || work.start[i] > moment || work.end[i] <= moment) continue;
        if (waitsBehindAnother(i, moment)) continue;
        const kind = work.kind[i];
        const isCopy = kind === WorkKind.copy || kind === WorkKind.memset;
        const isCommunication =
          kind === WorkKind.kernel && analyzer.profile.strings.text(names![work.row[i]]).startsWith('nccl');
        if (!isCopy && !isCommunication) state = 'compute';
        else if (isCommunication && state !== 'compute') state = 'communication';
        else if (isCopy && state === 'idle') state = 'copy';
      }
      count[state]++;
    }
    const { computeNs, communicationExposedNs, copyExposedNs, idleNs } = budget;
    assert.deepEqual(
      { compute: computeNs, communication: communicationExposedNs, copy: copyExposedNs, idle: idleNs },
      count,
      where,
    );
  }
}

test('work belongs to the step that launched it, on every random profile', () => {
  let attributed = 0;
  for (let seed = 1; seed <= 1000; seed++) {
    const profile = randomProfile(seed);
    if (!profile.tables.kernels) continue;
    const analyzer = new Analyzer(profile, {});
    const found = analyzer.get(stepWork);
    if (found?.steps.method !== 'marker') continue;
    const work = analyzer.get(gpuWork);
    const calls = profile.tables.apiCalls as unknown as { start: Float64Array } | undefined;
    for (let i = 0; i < work.length; i++) {
      const index = found.runOfWork[i];
      if (index < 0) continue;
      const run = found.deviceRuns[index];
      const { start, periodEnd } = found.steps.lanes[run.lane].runs[run.run];
      const moment = work.launch[i] < 0 ? work.start[i] : calls!.start[work.launch[i]];
      assert.ok(moment >= start && moment < periodEnd, `seed ${seed}: work ${i}`);
      assert.ok(
        work.start[i] >= run.gpuStart && work.end[i] <= run.gpuEnd,
        `seed ${seed}: extent of work ${i}`,
      );
      attributed++;
    }
  }
  assert.ok(attributed > 2000, `${attributed} pieces of work were attributed`);
});

test('gaps, utilization, tokens and the critical path agree with the budget on random profiles', () => {
  let paths = 0;
  for (let seed = 1; seed <= 500; seed++) {
    const analyzer = new Analyzer(randomProfile(seed), {});
    const rows = budgetRows(analyzer.profile, {});
    if (rows.length === 0) continue;
    const utilization = analyzer.get(gpuUtilization).rows;
    assert.equal(sum(utilization.map(row => row.windowNs)), sum(rows.map(row => row.wallNs)), `seed ${seed}`);
    const hidden = utilization.some(row => row.graphReplayNs > 0);
    if (!hidden) {
      assert.equal(
        sum(utilization.map(row => row.idleNs!)),
        sum(rows.map(row => row.idleNs)),
        `seed ${seed}`,
      );
    }
    const gaps = analyzer.get(idleGaps);
    if (gaps.summary!.gaps === gaps.rows.length)
      assert.equal(
        sum(gaps.rows.map(gap => gap.durationNs)),
        sum(rows.map(row => row.idleNs)),
        `seed ${seed}`,
      );
    const path = analyzer.run(criticalPath);
    if (path.status === 'ok') {
      const { rows: parts, summary } = analyzer.get(criticalPath);
      assert.equal(sum(parts.map(row => row.ns)), summary!.wallNs, `seed ${seed}: the path covers the step`);
      paths++;
    } else assert.equal(path.status, 'not-recorded', `seed ${seed}: ${JSON.stringify(path)}`);
    const tokens = analyzer.run(tokenTime);
    if (tokens.status === 'ok') {
      for (const row of analyzer.get(tokenTime).rows) {
        const parts = row.kernelNs + row.communicationNs + row.copyNs + row.hostNs + row.idleNs;
        assert.ok(Math.abs(parts - row.perTokenNs) < 1e-6 * row.perTokenNs + 1e-9, `seed ${seed}: per token`);
      }
    }
    const chosen = analyzer.get(selection);
    const listed = analyzer.get(iterations).rows.filter(row => row.selected).length;
    assert.equal(
      listed,
      chosen.steps.reduce((total, flag) => total + flag, 0),
    );
  }
  assert.ok(paths > 100, `${paths} paths`);
});
