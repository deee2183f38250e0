/** Colour has one meaning: phases, kernel families and idle causes can be told apart, on both papers and by most eyes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyParts } from '../src/analyze/names-and-colors.js';
import { idleCauses } from '../src/catalog/idle-causes.js';
import { families } from '../src/catalog/kernels/families.js';
import {
  causeColors,
  familyColors,
  hostColors,
  isIdleColor,
  OTHER_IDLE,
  phaseColors,
  seriesColors,
  workColors,
} from '../src/catalog/palette.js';
import { phases } from '../src/catalog/phases.js';
import { colorDistance, labDistance, withoutGreenCones } from '../src/testing/color-distance.js';
import { palettes } from '../src/timeline/palettes.js';

/** What the colours were chosen for, in CIEDE2000; earlier ones had attention and prefill 0.9 apart, GEMM and decode 2.3. */
const APART = 11.9;
/** Between palettes more, because a legend shows one of them at a time. */
const PALETTES_APART = 12.8;
const NEIGHBOURS_APART = 10.5;
const papers = { white: '#ffffff', card: '#f6f8fa', dark: '#14171a', 'dark card': '#1c2127' };
const FROM_PAPER = 10.5;

const own = {
  phase: Object.entries(phaseColors),
  work: [...Object.entries(familyColors), ...Object.entries(workColors)],
  idle: Object.entries(causeColors),
};
const named = Object.entries(own).flatMap(([palette, entries]) =>
  entries.map(([id, color]) => ({ palette, id, color, name: `${palette} ${id}` })),
);

test('the distance is that of the published pairs', () => {
  // Of the test data of Sharma, Wu and Dalal (2005): blues, grays, hues that wrap around, large and dark differences.
  for (const [one, other, published] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1],
    [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
    [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
    [[50, -0.001, 2.49], [50, 0.0009, -2.49], 4.8045],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ] as const)
    assert.ok(Math.abs(labDistance(one, other) - published) < 1e-4, `${one} ${other}`);
  assert.ok(Math.abs(colorDistance('#000000', '#ffffff') - 100) < 0.01);
  // A red and a green nearly meet for these eyes.
  const [red, green] = ['#b03030', '#5a6a20'];
  const seen = colorDistance(withoutGreenCones(red), withoutGreenCones(green));
  assert.ok(seen < colorDistance(red, green) / 2);
});

test('any two colours with a meaning differ, within a palette and across', () => {
  named.forEach((one, i) => {
    for (const other of named.slice(i + 1)) {
      const least = one.palette === other.palette ? APART : PALETTES_APART;
      const distance = colorDistance(one.color, other.color);
      assert.ok(distance >= least, `${one.name} and ${other.name}: ${distance.toFixed(1)}`);
    }
    for (const [paper, color] of Object.entries(papers)) {
      const distance = colorDistance(one.color, color);
      assert.ok(distance >= FROM_PAPER, `${one.name} on ${paper}: ${distance.toFixed(1)}`);
    }
  });
});

/** Host events have lanes of their own and are quiet: near each other, but never what a kernel or an idle cause looks like. */
const HOST_APART = 8.8;

test('events of the host look like no kernel, no idle cause and no phase', () => {
  for (const [id, color] of Object.entries(hostColors))
    for (const other of named) {
      const distance = colorDistance(color, other.color);
      assert.ok(distance >= HOST_APART, `host ${id} and ${other.name}: ${distance.toFixed(1)}`);
    }
});

/** A row of a rank is 16 pixels high and has a part every few pixels: hues must differ, not only shades. */
const RANK_PARTS_APART = 25;

test('what a rank does is seen at a glance', () => {
  palettes.rank.forEach((one, i) => {
    for (const other of palettes.rank.slice(i + 1)) {
      const distance = colorDistance(one.color, other.color);
      assert.ok(distance >= RANK_PARTS_APART, `${one.label} and ${other.label}: ${distance.toFixed(1)}`);
    }
  });
});

test('neighbours in a bar differ without green cones', () => {
  const inOrder = (list: readonly { readonly color: string; readonly label: string }[]) =>
    list.slice(1).map((look, i) => [list[i], look] as const);
  const budget = [busyParts.compute, busyParts.communication, busyParts.waiting, busyParts.copies];
  const usualCauses = idleCauses.filter(({ id }) =>
    ['launch-bound', 'synchronisation', 'host-code', 'device-wait'].includes(id),
  );
  const pairs = [
    // Phases follow each other in any order.
    ...phases.flatMap((phase, i) => phases.slice(i + 1).map(other => [phase, other] as const)),
    ...inOrder(families),
    ...inOrder(idleCauses),
    ...inOrder(budget),
    ...budget.flatMap(part => usualCauses.map(cause => [part, cause] as const)),
    ...inOrder(usualCauses),
  ];
  for (const [one, other] of pairs) {
    const distance = colorDistance(withoutGreenCones(one.color), withoutGreenCones(other.color));
    assert.ok(distance >= NEIGHBOURS_APART, `${one.label} and ${other.label}: ${distance.toFixed(1)}`);
  }
});

test('one place: the timeline, the catalogues and the bars draw from it; idle time is hatched', () => {
  assert.deepEqual(
    palettes.cause.map(({ id, color }) => [id, color]),
    own.idle,
  );
  assert.deepEqual(
    palettes.phase.map(({ id, color }) => [id, color]),
    own.phase,
  );
  const family = new Map(palettes.family.map(({ id, color }) => [id, color]));
  for (const [id, color] of Object.entries(familyColors)) assert.equal(family.get(id), color);
  for (const { palette, color, name } of named) assert.equal(isIdleColor(color), palette === 'idle', name);
  assert.equal(isIdleColor(OTHER_IDLE), true);
  assert.equal(new Set(seriesColors).size, seriesColors.length);
});
