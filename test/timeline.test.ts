/** The timeline's data: nothing is lost on the way from a profile to what is drawn, at any zoom. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { idleCauses } from '../src/catalog/idle-causes.js';
import { openProfile } from '../src/import/open.js';
import type { Row } from '../src/model/profile.js';
import { tableNamed } from '../src/model/rows.js';
import { capturePath, unlikeCaptures } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { areaPyramid } from '../src/timeline/area-pyramid.js';
import { layOut } from '../src/timeline/lane-layout.js';
import {
  endOfEntry,
  type LaneEvents,
  type SliceLevel,
  type SliceTile,
  slicePyramid,
  startOfEntry,
} from '../src/timeline/slice-pyramid.js';
import { sliceTileBytes, wrapArea, wrapSlices, writeSlices } from '../src/timeline/tiles.js';
import { timelineData } from '../src/timeline/timeline-data.js';
import { rowAt } from '../src/timeline/track.js';
import { viewProfile } from '../src/timeline/view-profile.js';
import { TILE_ENTRIES } from '../src/timeline/wire.js';

/** Numbers that look random and are the same every time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomLane(count: number, seed: number): LaneEvents {
  const roll = dice(seed);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const tone = new Uint8Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    // Bursts of short events, long ones between them, now and then one without length.
    at += Math.floor(roll() < 0.9 ? roll() * 300 : roll() * 2e5);
    start[i] = at;
    at += Math.floor(roll() < 0.02 ? 0 : roll() < 0.9 ? 1 + roll() * 2000 : roll() * 5e5);
    end[i] = at;
    tone[i] = Math.floor(roll() * 5);
  }
  return { length: count, start, end, label: new Int32Array(count), tone };
}

/** A whole level as the page gets it. */
function tileOf(level: SliceLevel): SliceTile {
  const bytes = new ArrayBuffer(sliceTileBytes(level.length));
  writeSlices(level, 0, level.length, bytes, 0);
  return wrapSlices(bytes, 0, level.length);
}

test('every level stands for every event: counts and covered time stay the same', () => {
  for (const seed of [1, 2, 3]) {
    const lane = randomLane(40_000, seed);
    const covered = lane.end.reduce((sum, end, i) => sum + end - lane.start[i], 0);
    const levels = slicePyramid(lane);
    assert.ok(levels.length > 4, 'there is more than one level');
    for (const level of levels.slice(1)) {
      const { bucketNs, length } = level;
      const { start, end, count, fill, event } = tileOf(level);
      let events = 0;
      let busy = 0;
      for (let i = 0; i < length; i++) {
        assert.equal(event[i], events, 'entries follow each other without a gap in events');
        events += count[i];
        busy += fill[i] * (end[i] - start[i]);
        if (i > 0) assert.ok(start[i] >= end[i - 1], 'entries never overlap');
        if (count[i] > 1) assert.ok(end[i] - start[i] < 2 * bucketNs, 'merged entries stay short');
      }
      assert.equal(events, lane.length);
      assert.ok(Math.abs(busy - covered) < 1e-4 * covered, `covered time at ${bucketNs} ns`);
    }
  }
});

test('what a frame draws depends on pixels, not on events', () => {
  const width = 1500;
  const drawn = [20_000, 200_000, 2_000_000].map(count => {
    const lane = randomLane(count, 7);
    const levels = slicePyramid(lane);
    const span = lane.end[count - 1];
    // From the whole profile down to single events: the most entries any window needs.
    let most = 0;
    for (let zoom = 1; zoom < count; zoom *= 3) {
      const nsPerPixel = span / zoom / width;
      const level = levels.findLast(({ bucketNs }) => bucketNs <= nsPerPixel)!;
      const from = span / 3;
      const to = from + nsPerPixel * width;
      let entries = 0;
      for (let i = 0; i < level.length; i++)
        if (endOfEntry(level, i) > from && startOfEntry(level, i) < to) entries++;
      most = Math.max(most, entries);
    }
    return most;
  });
  for (const entries of drawn) assert.ok(entries <= 9 * width, `${entries} entries on ${width} pixels`);
});

test('curves keep their peaks and their mean at every level', () => {
  const roll = dice(5);
  const start = Float64Array.from({ length: 30_000 }, (_, i) => i * 1000);
  const value = start.map(() => roll() * 50);
  value[17_123] = 100;
  const mean = value.reduce((sum, one) => sum + one, 0) / value.length;
  const levels = areaPyramid({ start, value });
  assert.ok(levels.length > 2);
  for (const level of levels) {
    assert.equal(Math.max(...level.most), 100);
    const held = Array.from(level.start, (at, i) => (level.start[i + 1] ?? 30e6) - at);
    const whole = held.reduce((sum, ns, i) => sum + ns * level.mean[i], 0) / 30e6;
    assert.ok(Math.abs(whole - mean) < 0.01, `mean ${whole} of ${mean}`);
  }
});

test('parents lie above their children, and what overlaps takes the next free lane', () => {
  //            0  1  2  3  4  5  6  7  8  9
  // a          [-----------------------]
  // b             [--------]
  // c             [--]
  // d                   [--------]            overlaps b without lying in it
  // e                                     [-]
  const start = [0, 1, 1, 3, 9];
  const end = [8, 4, 2, 6, 10];
  const { lanes } = layOut(Int32Array.of(0, 2, 1, 3, 4), start, row => end[row]);
  assert.deepEqual(
    lanes.map(rows => [...rows]),
    [[0, 4], [1], [2, 3]],
  );
  const deep = layOut(
    Int32Array.from({ length: 100 }, (_, i) => i),
    Array(100).fill(0),
    row => 200 - row,
  );
  assert.equal(deep.lanes.length + deep.tooDeep, 100, 'what is not drawn is counted');
});

for (const name of unlikeCaptures) {
  test(`${name}: every recorded event is on the timeline, and bytes say what lanes say`, async () => {
    const profile = await openProfile([capturePath(name)]);
    const data = timelineData(new Analyzer(profile));
    const { document, columns } = data;
    const drawn = (source: string) =>
      data.lanes.reduce(
        (sum, { lane, track }) =>
          sum +
          (lane.kind === 'slices' && lane.data.source === source && !/copies|communication/.test(track.id)
            ? lane.data.length
            : 0),
        0,
      );
    const rows = (table: 'kernels' | 'copies' | 'memsets' | 'graphLaunches' | 'apiCalls') =>
      profile.tables[table]?.length ?? 0;
    assert.equal(drawn('work'), rows('kernels') + rows('copies') + rows('memsets') + rows('graphLaunches'));
    const calls = profile.tables.apiCalls;
    assert.equal(
      drawn('apiCalls'),
      calls ? Array.from(calls.thread).filter(thread => thread >= 0).length : 0,
    );

    for (const { kind, lanes } of document.tracks)
      for (const { id, levels, overview } of lanes) {
        const lane = data.lanes[id].lane;
        for (const [number, level] of levels.entries()) {
          let seen = 0;
          let offset = level.offset;
          for (const first of level.tileStarts) {
            const length = Math.min(TILE_ENTRIES, level.length - seen);
            const wrap = kind === 'area' ? wrapArea : wrapSlices;
            const bytes = columns.bytes.read(offset, offset + (kind === 'area' ? 20 : 33) * length);
            const tile = wrap(bytes.buffer, 0, length);
            assert.equal(tile.start[0], first);
            const own = lane.levels[number];
            const starts = Array.from(tile.start, (_, i) =>
              'events' in own ? startOfEntry(own, seen + i) : own.start[seen + i],
            );
            assert.deepEqual([...tile.start], starts);
            seen += length;
            offset += Math.ceil(((kind === 'area' ? 20 : 33) * length) / 8) * 8;
          }
          assert.equal(seen, level.length);
        }
        assert.ok(overview.offset < document.overviewBytes || levels[overview.level].length === 0);
      }
    for (const { lane } of data.lanes)
      if (lane.kind === 'slices')
        for (let i = 1; i < lane.data.length; i++) {
          // Kernels that follow each other touch by less than their timestamps tell.
          const touch = lane.data.source === 'work' ? 1000 : 0;
          assert.ok(lane.data.start[i] >= lane.data.end[i - 1] - touch);
          assert.ok(lane.data.end[i] >= lane.data.end[i - 1]);
        }
  });
}

test('idle time on the timeline is the idle time of the budgets, cause by cause', async () => {
  for (const name of ['eager', 'graph', 'gc', 'gil', 'run-ahead', 'moe-learned']) {
    const profile = await openProfile([capturePath(name)]);
    const analyzer = new Analyzer(profile, { whole: true });
    const data = timelineData(analyzer);
    const lane = data.lanes.find(({ track }) => track.palette === 'cause')!.lane;
    assert.ok(lane.kind === 'slices');
    for (const row of analyzer.get(stepBudget).rows.filter(({ iteration }) => iteration !== null)) {
      const drawn: Record<string, number> = {};
      for (let i = 0; i < lane.data.length; i++) {
        const from = Math.max(lane.data.start[i], row.startNs);
        const to = Math.min(lane.data.end[i], row.endNs);
        const cause = idleCauses[lane.data.tone[i]].id;
        if (to > from) drawn[cause] = (drawn[cause] ?? 0) + to - from;
      }
      assert.equal(
        Object.values(drawn).reduce((sum, ns) => sum + ns, 0),
        row.idleNs,
        `${name}, iteration ${row.iteration}`,
      );
    }
  }
});

test('layers are bands on the GPU, inside graph replays too, and know their kernels', async () => {
  const files = ['profile.sqlite.gz', 'profile.agent.json'].map(file =>
    capturePath('agent-deepseek-v3-graph', file),
  );
  const view = viewProfile(await openProfile(files), {}, 'layers');
  const track = view.timeline().tracks.find(({ label }) => label === 'layers')!;
  const titles = (lane: number, count: number) =>
    Array.from({ length: count }, (_, i) => view.event(track.lanes[lane].id, i).title);
  // Six steps of four layers; the first has no experts, the other three a gate, experts and shared experts each.
  assert.deepEqual(
    titles(0, 24),
    Array.from({ length: 24 }, (_, i) => `layer ${i % 4}`),
  );
  assert.deepEqual(titles(1, 3), ['1.mlp.gate', '1.mlp.experts', '1.mlp.shared_experts']);
  const text = (lane: number, index: number, label: string) =>
    view.event(track.lanes[lane].id, index).facts.find(fact => fact.label === label)?.text;
  assert.deepEqual([text(0, 0, 'kernels'), text(0, 1, 'kernels')], ['70', '120']);
  assert.match(text(0, 23, 'step')!, /^15 prefill/);
  // Guessed from a pattern, layers are no bands.
  const guessed = viewProfile(await openProfile([capturePath('graph')]), {}, 'graph');
  assert.ok(!guessed.timeline().tracks.some(({ label }) => label === 'layers'));
});

test('a kernel knows its launch, a launch its kernels, and a replay its nodes', async () => {
  const view = viewProfile(await openProfile([capturePath('graph')]), {}, 'graph');
  const { tracks } = view.timeline();
  const stream = tracks.find(({ label }) => label.startsWith('stream'))!;
  const replay = view.event(stream.lanes[0].id, 0);
  assert.match(replay.title, /^graph · [\d,]+ nodes$/);
  assert.equal(replay.links[0].relation, 'launched-by');
  assert.match(replay.links[0].title, /GraphLaunch/);
  const launch = view.event(replay.links[0].lane, replay.links[0].index);
  assert.equal(launch.links.length + launch.moreLinks, Number(replay.title.replace(/\D/g, '')));
  assert.equal(launch.links[0].relation, 'launches');
  const kernel = view.event(launch.links[0].lane, launch.links[0].index);
  assert.deepEqual(
    [kernel.links[0].lane, kernel.links[0].index],
    [replay.links[0].lane, replay.links[0].index],
  );
  const facts = Object.fromEntries(kernel.facts.map(({ label, text }) => [label, text]));
  assert.match(facts.step, /decode/);
  assert.ok(facts.family && facts.duration);
});

test('idle time says which host code the GPU waited for', async () => {
  const view = viewProfile(await openProfile([capturePath('gil')]), {}, 'gil');
  const idle = view.timeline().tracks.find(({ label }) => label.startsWith('idle'))!;
  const codes = Array.from({ length: 40 }, (_, i) =>
    view.event(idle.lanes[0].id, i).facts.find(({ label }) => label === 'host code'),
  ).flatMap(fact => fact?.text ?? []);
  assert.ok(
    codes.some(text => /layer\.\*\.attn → Waiting for GIL → GIL held by thread/.test(text)),
    codes[0],
  );
});

test('searching counts what is there, by name, family, duration, track, step and phase', async () => {
  const profile = await openProfile([capturePath('eager')]);
  const view = viewProfile(profile, {}, 'eager');
  const kernels = profile.tables.kernels!;
  const names = Array.from(kernels.name, id => profile.strings.text(id));
  const lasts = (row: Row<'kernels'>) => kernels.end[row] - kernels.start[row];
  const count = (wanted: (row: Row<'kernels'>) => boolean) =>
    names.filter((_, row) => wanted(row as Row<'kernels'>)).length;
  const gemm = names.filter(text => /gemm/i.test(text)).length;
  assert.equal(view.search('/gemm/ track:stream').count, gemm);
  assert.equal(view.search('/^gemm$/ track:stream').count, 0);
  // The name of a family finds all of it, whatever its kernels are called.
  const family = view.search('family:gemm track:stream').count;
  assert.ok(family > gemm);
  assert.ok(view.search('gemm track:stream').count >= family);
  assert.equal(view.search('GEMM -track:stream -track:python').count, 0);
  assert.equal(view.search('track:stream dur>5us').count, count(row => lasts(row) > 5000) + over5(profile));
  assert.equal(
    view.search('track:stream dur<=5us').count + view.search('track:stream dur>5us').count,
    view.search('track:stream').count,
  );
  const attention = view.search('family:attention');
  assert.equal(attention.count, 22 * 5);
  assert.equal(view.search('family:attention step:12').count, 22);
  assert.equal(view.search('family:attention phase:prefill').count, 0);
  const first = view.match('family:attention', { n: 0 });
  const second = view.match('family:attention', { near: first.startNs + 1 });
  assert.equal(second.n, 1);
  assert.throws(() => view.match('family:attention', { n: 110 }), /match does not exist/);
  assert.throws(() => view.search('dur>soon'), /not a duration/);
  assert.equal(view.search('').count, 0);
  const match = view.event(first.lane, first.index);
  assert.match(match.facts.find(({ label }) => label === 'family')!.text, /attention/);
});

function over5(profile: Awaited<ReturnType<typeof openProfile>>): number {
  return (['copies', 'memsets'] as const).reduce((sum, name) => {
    const table = tableNamed(profile, name);
    return (
      sum +
      (table
        ? Array.from(table.start).filter((at, row) => table.end[row as Row<'copies' | 'memsets'>] - at > 5000)
            .length
        : 0)
    );
  }, 0);
}

test('a saved stretch opens again, with the steps and kernels it had', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-trace-'));
  try {
    for (const name of ['eager', 'graph', 'run-ahead']) {
      const profile = await openProfile([capturePath(name)]);
      const view = viewProfile(profile, {}, name);
      const { steps } = view.timeline();
      const file = path.join(folder, `${name}.json`);
      // From before the step's marker to after its last kernel.
      writeFileSync(file, [...view.trace(steps.startNs[2] - 1e5, steps.endNs[3] + 1e5)].join(''));
      const again = new Analyzer(await openProfile([file])).get(iterations).rows;
      const before = new Analyzer(profile).get(iterations).rows;
      for (const i of [2, 3]) {
        const found = again.find(row => row.iteration === before[i].iteration);
        assert.ok(found, `${name}: iteration ${before[i].iteration} is in the saved trace`);
        assert.equal(found.kernels, before[i].kernels);
        assert.equal(found.phase, before[i].phase);
        assert.equal(found.gpuBusyNs, before[i].gpuBusyNs);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('choosing steps changes the answer, and only what depends on them is computed again', async () => {
  const view = viewProfile(await openProfile([capturePath('run-ahead')]), {}, 'run-ahead');
  const { steps, palettes } = view.timeline();
  const prefill = steps.phase.findIndex(phase => palettes.phase[phase].id === 'prefill');
  assert.match(view.answer({ first: prefill, last: prefill }).lines[0], /\bprefill\b/i);
  assert.notDeepEqual(view.answer().lines, view.answer({ first: prefill, last: prefill }).lines);
  assert.throws(() => view.answer({ first: 0, last: steps.length }), /steps do not exist/);
  assert.throws(() => view.panel('nonsense'), /Unknown analysis/);
  const [block] = view.panel('step-budget', { first: prefill, last: prefill }).blocks;
  assert.match(JSON.stringify(block), /prefill/);
});

test('context switches become a track per core and one for the launching thread', () => {
  const moved = drawEngine({ before: { ns: 1e6, offCpu: 'moved' } });
  const view = viewProfile(moved, {}, 'moved');
  const { document, tracks, lanes } = timelineData(new Analyzer(moved));
  const labels = tracks.map(({ label }) => label);
  assert.deepEqual(
    labels.filter(label => /CPU \d/.test(label)),
    ['CPU 3', 'CPU 7'],
  );
  assert.equal(labels.filter(label => / · on CPU$/.test(label)).length, 1);
  assert.equal(document.groups.at(-1)?.label, 'CPU cores');
  // A core has one thread at a time, and what the thread shows is what the cores show.
  const ofTrack = (id: RegExp) => lanes.filter(({ track }) => id.test(track.id));
  const rowsOf = (id: RegExp) =>
    ofTrack(id)
      .flatMap(({ lane }) =>
        lane.kind === 'slices' ? Array.from(lane.data.start, (_, event) => rowAt(lane.data.row, event)) : [],
      )
      .sort((a, b) => a - b);
  assert.ok(rowsOf(/^cpus:/).length > 2);
  assert.deepEqual(rowsOf(/\/cpu$/), rowsOf(/^cpus:/));
  assert.ok(tracks.filter(({ group }) => group.startsWith('cpus:')).every(track => track.lanes.length === 1));
  // The second stretch begins on another core, after time without one.
  const lane = lanes.findIndex(({ track }) => / · on CPU$/.test(track.label));
  const facts = view.event(lane, 1).facts.map(({ label, text }) => `${label}: ${text}`);
  assert.ok(facts.includes('CPU: 7'), facts.join('\n'));
  assert.ok(
    facts.some(fact => /^before: .* without a CPU, then moved from CPU 3$/.test(fact)),
    facts.join('\n'),
  );
  // They are events of their own kind, counted once, and a search for a name does not find them.
  const asked = { fromNs: document.startNs, toNs: document.endNs, tracks: [], query: '' };
  const kinds = view.selection({ ...asked, of: 'cpu' });
  assert.equal(kinds.of, 'cpu');
  assert.equal(kinds.count, rowsOf(/^cpus:/).length);
  assert.equal(view.search('CPU').count, 0);
  assert.ok(view.search('track:"CPU 7"').count > 0);
});
