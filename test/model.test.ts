import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NONE } from '../src/base/column.js';
import { capabilities } from '../src/catalog/capabilities.js';
import { openProfile } from '../src/import/open.js';
import { graphMode } from '../src/model/graph-mode.js';
import { mergeProfiles } from '../src/model/merge.js';
import type { Profile, Row } from '../src/model/profile.js';
import { asRows } from '../src/model/rows.js';
import { sliceProfile } from '../src/model/slice.js';
import { capturePath, unlikeCaptures } from '../src/testing/captures.js';
import { COLUMN_NS, drawProfile } from '../src/testing/drawn-profile.js';
import { bytesOfProfile } from '../src/testing/profile-bytes.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const plain = (cells: unknown) => Array.from(cells as Float64Array);
const names = (profile: Profile) => plain(profile.tables.kernels!.name).map(id => profile.strings.text(id));

const drawing = `
  nvtx  RRRRRR....
  cpu   ab........
  gpu   ..aaa..bb.
`;

test('a drawn profile links kernels to the calls that launched them', () => {
  const profile = drawProfile(drawing);
  assert.deepEqual(validateProfile(profile), []);
  assert.deepEqual(plain(profile.tables.kernels!.launch), [0, 1]);
  assert.deepEqual(names(profile), ['a', 'b']);
  assert.equal(profile.tables.copies, undefined);
});

test('a kernel whose launch was not recorded has none, and process numbers keep ranks apart', () => {
  const profile = drawProfile('cpu  a..\ngpu  .ab');
  assert.deepEqual(plain(profile.tables.kernels!.launch), [0, NONE]);
});

test('merging aligns clocks that know the time of day', () => {
  const first: Profile = { ...drawProfile(drawing), clock: 'utc', originNs: 1_000_000n };
  const second: Profile = { ...drawProfile(drawing), clock: 'utc', originNs: 1_000_005n };
  const merged = mergeProfiles([first, second]);
  assert.deepEqual(validateProfile(merged), []);
  assert.equal(merged.originNs, 1_000_000n);
  assert.deepEqual(plain(merged.tables.kernels!.start), [20, 25, 70, 75]);
  assert.deepEqual(names(merged), ['a', 'a', 'b', 'b']);
  assert.equal(merged.processes.length, 2);
  assert.equal(merged.gpus.length, 2);
  // Each kernel links to a call of its own process, though both ranks use the same ids.
  const { kernels, apiCalls } = merged.tables;
  for (const row of [0, 1, 2, 3]) {
    const launch = plain(kernels!.launch)[row];
    const caller = merged.threads[plain(apiCalls!.thread)[launch]].process;
    assert.equal(caller, merged.streams[plain(kernels!.stream)[row]].process);
  }
  assert.equal(merged.notes.length, 0);
});

test('merging says so when clocks cannot be aligned', () => {
  const merged = mergeProfiles([drawProfile(drawing), drawProfile(drawing)]);
  assert.deepEqual(
    merged.notes.map(note => note.code),
    ['clocks-not-aligned'],
  );
  assert.deepEqual(plain(merged.tables.kernels!.start), [20, 20, 70, 70]);
});

test('a slice keeps what starts, ends or runs through the window', () => {
  //         0123456789
  const profile = drawProfile('cpu  abcd......\ngpu  aaabb.cccc\ngpu2 .ddddddddd');
  const slice = sliceProfile(profile, { fromNs: 3 * COLUMN_NS, toNs: 5 * COLUMN_NS });
  assert.deepEqual(validateProfile(slice), []);
  // a ends exactly where the window begins, so it touches it; c starts after.
  assert.deepEqual(names(slice), ['a', 'd', 'b']);
  // The call c ends where the window begins and stays, so d is the second call left.
  assert.deepEqual(plain(slice.tables.kernels!.launch), [NONE, 1, NONE]);
});

test('capabilities follow from what is there, with the flag for what is not', async () => {
  const eager = capabilities(await openProfile([capturePath('eager')]));
  const of = (table: string) => eager.find(ability => ability.table === table)!;
  assert.equal(of('kernels').rows, 5080);
  assert.equal(of('metricSamples').recorded, false);
  assert.equal(of('metricSamples').hint, 'capture with --gpu-metrics-devices=0');
  const modes = await Promise.all(
    ['eager', 'graph', 'graphmode'].map(async name => graphMode(await openProfile([capturePath(name)]))),
  );
  assert.deepEqual(modes, ['none', 'nodes', 'blocks']);
});

test('every capture is valid, and the same whether decoded by one thread or several', async () => {
  for (const name of unlikeCaptures) {
    const profile = await openProfile([capturePath(name)], { workers: 0 });
    assert.deepEqual(validateProfile(profile), [], name);
    const again = await openProfile([capturePath(name)], { workers: 3 });
    assert.deepEqual(bytesOfProfile(again), bytesOfProfile(profile), name);
  }
});

test('a row of one table does not index another: the compiler refuses', () => {
  const { kernels, ranges } = drawProfile(drawing).tables;
  const kernel = 0 as Row<'kernels'>;
  assert.equal(kernels!.start[kernel], 20);
  // @ts-expect-error a kernel's row is no row of ranges
  assert.equal(ranges!.start[kernel], 0);
  for (let row = 0 as Row<'ranges'>; row < ranges!.length; row++) {
    assert.equal(ranges!.start[row], 0);
    // @ts-expect-error a loop over ranges does not read kernels
    assert.equal(kernels!.start[row], 20);
  }
  // @ts-expect-error a plain number is a row of no table
  assert.equal(kernels!.start[kernel + 1], 70);
  const work = asRows<'kernels' | 'copies'>(Int32Array.of(0));
  assert.equal(kernels!.start[work[0]], 20);
});

test('validation finds what is wrong', () => {
  const profile = drawProfile(drawing);
  const broken = (change: (table: Record<string, Float64Array>) => void) => {
    const kernels = { ...profile.tables.kernels } as unknown as Record<string, Float64Array>;
    for (const key of Object.keys(kernels)) if (key !== 'length') kernels[key] = kernels[key].slice();
    change(kernels);
    return validateProfile({ ...profile, tables: { ...profile.tables, kernels: kernels as never } });
  };
  assert.match(broken(t => (t.start[0] = 900))[0], /not sorted|ends before/);
  assert.match(broken(t => (t.end[1] = 0))[0], /ends before/);
  assert.match(broken(t => (t.stream[0] = 99))[0], /beyond/);
  assert.match(broken(t => (t.name = t.name.slice(1)))[0], /has 1 of 2/);
});
