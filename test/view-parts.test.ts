/** Parts of the view without a page: selections in numbers, ranks, snapshots, notes, the layout of tracks. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { openProfile } from '../src/import/open.js';
import { mergeProfiles } from '../src/model/merge.js';
import type { Row } from '../src/model/profile.js';
import { capturePath } from '../src/testing/captures.js';
import { drawRanks } from '../src/testing/drawn-ranks.js';
import { layOut } from '../src/timeline/lane-layout.js';
import { mainSpan } from '../src/timeline/main-span.js';
import { makeLane } from '../src/timeline/make-lanes.js';
import { readNotes } from '../src/timeline/notes.js';
import { openSnapshot } from '../src/timeline/open-snapshot.js';
import { viewProfile } from '../src/timeline/view-profile.js';
import { cellText, depthOf, heatGrid, largestBehind } from '../src/web/ranks/heat-cells.js';
import { type LayoutWishes, layOutTracks } from '../src/web/timeline/layout.js';

const all = { fromNs: -Infinity, toNs: Infinity, tracks: [], query: '' };

test('a selection counts what is recorded, once, and its shares are of its total', async () => {
  const profile = await openProfile([capturePath('gc')]);
  const view = viewProfile(profile, {}, 'gc');
  const kernels = profile.tables.kernels!;
  const whole = view.selection({ ...all, of: 'gpu', by: 'name' });
  const { copies, memsets } = profile.tables;
  assert.equal(whole.count, kernels.length + (copies?.length ?? 0) + (memsets?.length ?? 0));
  // A range that cuts kernels: their parts inside it, against a plain sum over the table.
  const middle = (row: number) =>
    (kernels.start[row as Row<'kernels'>] + kernels.end[row as Row<'kernels'>]) / 2;
  const [fromNs, toNs] = [middle(100), middle(300)];
  const part = view.selection({ ...all, fromNs, toNs, query: 'family:gemm', by: 'name' });
  assert.ok(part.count > 0 && part.coveredNs <= part.totalNs && part.coveredNs <= toNs - fromNs);
  const shares = part.table.columns.find(({ header }) => header === 'Share (%)')!.values as ArrayLike<number>;
  assert.ok(Math.abs(Array.from(shares).reduce((sum, own) => sum + own, 0) - 1) < 1e-9);
  let inside = 0;
  const rows = view.search('family:gemm').count;
  assert.ok(rows > part.count);
  for (const { start, end } of [kernels])
    for (let row = 0 as Row<'kernels'>; row < kernels.length; row++)
      inside += Math.max(0, Math.min(end[row], toNs) - Math.max(start[row], fromNs));
  const work = view.selection({ ...all, fromNs, toNs, query: '-family:copy -family:memset', of: 'gpu' });
  assert.equal(Math.round(work.totalNs), Math.round(inside));
  assert.equal(
    work.bins.reduce((sum, { count }) => sum + count, 0),
    work.count,
  );
  // Idle time in a step is what its budget says.
  const { steps } = view.timeline();
  const idle = view.selection({ ...all, fromNs: steps.startNs[1], toNs: steps.endNs[1], of: 'idle' });
  const budget = new Analyzer(profile)
    .get(stepBudget)
    .rows.find(row => row.iteration === steps.iteration[1])!;
  assert.equal(Math.round(idle.totalNs), Math.round(budget.idleNs));
  assert.equal(view.selection({ ...all, fromNs: -2e15, toNs: -1e15 }).count, 0);
});

const ranks = () =>
  mergeProfiles(
    drawRanks({
      ...{ ranks: 4, steps: 6, layers: 3 },
      collectives: [{ name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 12_000 }],
      compute: rank => [[{ name: 'fmha_decode', ns: rank === 2 ? 40_000 : 11_000 }]],
    }).profiles,
  );

test('ranks: everyone waits for the slow one, and its own row says that it does not', () => {
  const view = viewProfile(ranks(), {}, 'ranks');
  const document = view.ranks();
  assert.deepEqual(
    document.ranks.map(({ label }) => label),
    [0, 1, 2, 3].map(rank => `rank ${rank} · GPU 0`),
  );
  const heat = document.bySteps.find(({ id }) => id === 'waiting')!;
  for (let step = 1; step < 5; step++) {
    assert.equal(heat.values[2 * 6 + step], 0);
    // 29 µs longer in each of three layers.
    assert.equal(heat.values[0 * 6 + step], 3 * 29_000);
  }
  const waits = view.waits(-Infinity, Infinity);
  assert.equal(waits.length, 18);
  const slow = document.ranks[2].device;
  assert.ok(waits.every(({ lastDevice, waiting }) => lastDevice === slow && waiting.length === 3));
  const grid = heatGrid(heat, 4, 3);
  assert.deepEqual([grid.columns, grid.per], [3, 2]);
  assert.equal(depthOf(grid, grid.most), 1);
  assert.equal(largestBehind({ ...heat, values: heat.values.map((_, i) => i) }, grid, 0, 1), 3);
  assert.equal(cellText(null), 'not recorded');
});

test('ranks are slim rows until one is unfolded; tracks stand where they were put', () => {
  const document = viewProfile(ranks(), {}, 'ranks').timeline();
  const wishes: LayoutWishes = {
    ...{ pinned: new Set(), toggled: new Set(), moved: new Map(), filter: '', rowHeight: 'normal' },
  };
  const names = (own: Partial<LayoutWishes> = {}) =>
    layOutTracks(document, { ...wishes, ...own }).rows.map(row =>
      row.kind === 'group' ? `[${row.label}]` : row.track.label,
    );
  assert.deepEqual(
    names(),
    [0, 1, 2, 3].map(rank => `rank ${rank} · GPU 0`),
  );
  const open = names({ toggled: new Set(['group:gpu:1']) });
  assert.equal(open.indexOf('steps'), 2, 'right below its row');
  assert.ok(open.findIndex(name => /^\[.* · rank 1\]$/.test(name)) > 2, 'with its process');
  assert.ok(open.indexOf('rank 2 · GPU 0') > open.length - 3);
  const toggled = new Set(['group:gpu:1']);
  const moved = new Map([['gpu:1/communication', 'gpu:1/steps']]);
  assert.equal(names({ toggled, moved })[2], 'communication');
  const height = (rowHeight: LayoutWishes['rowHeight']) =>
    layOutTracks(document, { ...wishes, toggled, rowHeight }).height;
  assert.ok(height('compact') < height('normal') && height('normal') < height('tall'));
  assert.ok(names({ filter: 'communication' }).filter(name => name === 'communication').length === 4);
});

test('a snapshot shows, finds and counts what the profile does in the same stretch', async () => {
  const view = viewProfile(await openProfile([capturePath('gc')]), {}, 'gc');
  const { steps } = view.timeline();
  const event = { lane: view.match('family:gemm step:13', { n: 0 }).lane, index: 0 };
  const { snapshot, columns } = view.snapshot({
    ...{ fromNs: steps.startNs[1], toNs: steps.endNs[2], steps: { first: 1, last: 1 }, event },
    notes: [{ id: 'e', text: 'elsewhere', fromNs: 0, toNs: 1 }],
    at: 'file=7:x&steps=1-1&with=8:y&panel=step',
  });
  const opened = openSnapshot(snapshot, columns.slice().buffer);
  assert.deepEqual(opened.document.steps.iteration, steps.iteration.slice(1, 3));
  assert.deepEqual(snapshot.notes, [], 'of elsewhere nothing comes along');
  assert.equal(snapshot.at, 'file=1%3Agc&panel=step&steps=0-0');
  const range = { ...all, fromNs: steps.startNs[1], toNs: steps.endNs[2] };
  const { table: _, ...there } = view.selection({ ...range, of: 'gpu', query: 'gemm' });
  const { table: __, ...here } = opened.selection({ ...range, of: 'gpu', query: 'gemm' });
  assert.deepEqual(here, there);
  assert.deepEqual(snapshot.answers['/api/profiles/1/answer?steps=0-0'], view.answer({ first: 1, last: 1 }));
  assert.ok(snapshot.labels.length < view.timeline().labels, 'only the names that occur');
});

test('steps saved as a trace open again as whole steps with the same verdict', async t => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-trace-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['gc', 'graph']) {
    const view = viewProfile(await openProfile([capturePath(name)]), {}, name);
    const { steps } = view.timeline();
    const first = steps.state.indexOf('steady');
    const last = steps.state.lastIndexOf('steady');
    const file = path.join(folder, `${name}.json`);
    writeFileSync(file, [...view.trace(steps.startNs[first], steps.endNs[last])].join(''));
    const again = viewProfile(await openProfile([file]), {}, name);
    const steady = again.timeline().steps.state.filter(state => state === 'steady').length;
    assert.equal(steady, last - first + 1);
    // The figures without the profiler are estimated from what the profiler costs, and a trace has another.
    const cause = (own: typeof view) => own.answer().lines[0].replace(/[:(].*/, '');
    assert.equal(cause(again), cause(view));
  }
});

test('kernels that touch share a lane; far away islands are not the whole profile', () => {
  const start = [0, 950, 2000, 2100];
  const end = [1000, 2000, 2900, 2300];
  const lanes = (touchNs: number) =>
    layOut(Int32Array.from([0, 1, 2, 3]), start, row => end[row], touchNs).lanes.map(lane => [...lane]);
  assert.deepEqual(lanes(0), [
    [0, 2],
    [1, 3],
  ]);
  assert.deepEqual(lanes(100), [[0, 1, 2], [3]], 'one that lies inside another does not touch it');
  const length = 1000;
  const lane = makeLane({
    ...{ source: 'work', length, row: new Int32Array(length), label: new Int32Array(length) },
    tone: new Uint8Array(length),
    start: Float64Array.from({ length }, (_, i) => (i === 0 ? 0 : 1e12 + i * 100)),
    end: Float64Array.from({ length }, (_, i) => (i === 0 ? 50 : 1e12 + i * 100 + 80)),
  });
  const whole = { startNs: 0, endNs: 2e12 };
  assert.deepEqual(mainSpan([{ lane }], whole), { startNs: 1e12 + 100, endNs: 1e12 + 99_980 });
  assert.deepEqual(mainSpan([], whole), whole);
});

test('notes are read as notes or not at all', () => {
  const note = { id: 'n', text: 'late', fromNs: 1, toNs: 2, event: { lane: 3, index: 4 } };
  assert.deepEqual(readNotes(JSON.stringify({ notes: [{ ...note, more: 'x' }] })), [note]);
  for (const wrong of [
    '',
    '[]',
    '{"notes":1}',
    '{"notes":[{"text":1}]}',
    '{"notes":[{"text":"a","fromNs":2,"toNs":1}]}',
  ])
    assert.throws(() => readNotes(wrong), /not notes/);
});
