/** The page's thinking without a page: addresses, evidence, steps as bars, keys, rows of tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableBlock } from '../src/analyze/block.js';
import type { Finding } from '../src/analyze/findings/finding.js';
import { barsOf, nameQuery, placeOfRow } from '../src/analyze/row-places.js';
import { parseQuery } from '../src/timeline/search/query.js';
import type { StepsDocument, TimelineDocument } from '../src/timeline/wire.js';
import { type Address, formatAddress, parseAddress } from '../src/web/address.js';
import { alignedStep } from '../src/web/align-steps.js';
import { evidencePlaces } from '../src/web/evidence-places.js';
import { actionOf, keyGroups } from '../src/web/keys.js';
import { cellsOf, rowsShown, tableCsv } from '../src/web/panels/table-order.js';
import { afterName, inSelection, selectionName } from '../src/web/selection-words.js';
import { firstDecode, medianStep, slowestStep } from '../src/web/strip/choose-step.js';
import { spokenSpan } from '../src/web/strip/step-words.js';
import {
  barAt,
  labelStride,
  outliers,
  placeOfTime,
  stepsOfBars,
  stripLayout,
  stripScale,
  zoomSteps,
} from '../src/web/strip/strip-layout.js';
import { FittingText } from '../src/web/timeline/fitting-text.js';
import { parseColor } from '../src/web/timeline/raster.js';

const PREFILL = 0;
const DECODE = 1;
const phases = [
  { id: 'prefill', label: 'prefill', color: '#d95f02' },
  { id: 'decode', label: 'decode', color: '#1f78b4' },
];

/** `p` and `d` are steps of a phase with their times; those in capitals are not steady. */
function steps(drawn: string, times: readonly number[], from = 0): StepsDocument {
  const kinds = [...drawn];
  let at = 0;
  const startNs = times.map(time => (at += time) - time);
  return {
    length: kinds.length,
    iteration: kinds.map((_, i) => from + i),
    phase: kinds.map(kind => (kind.toLowerCase() === 'p' ? PREFILL : DECODE)),
    startNs,
    endNs: startNs.map((start, i) => start + times[i]),
    wallNs: [...times],
    busyNs: times.map(time => time / 2),
    kernels: kinds.map(() => 10),
    batch: kinds.map(() => ''),
    state: kinds.map(kind => (kind === kind.toLowerCase() ? 'steady' : 'warm-up')),
    foundBy: 'marker',
    confidence: 'certain',
  };
}

const documentOf = (own: StepsDocument) =>
  ({
    steps: own,
    tracks: [],
    palettes: { phase: phases, family: [], cause: [], host: [] },
  }) as unknown as TimelineDocument;

test('an address brings back what was written into it', () => {
  const all: Address = {
    file: { id: 3, name: 'a & b #1 =: 100%.sqlite.gz' },
    compare: { id: 12, name: 'später/2.json' },
    steps: { first: 4, last: 9 },
    window: { fromNs: -12, toNs: 8_234_567_890_123 },
    panel: 'top-kernels',
    query: 'dur>50us name:"foo<int, 3>" -family:gemm',
    event: { pane: 1, lane: 7, index: 123456 },
    pinned: ['gpu:0/stream:7', 'a&b,c'],
    toggled: ['group:gpu:0', 'thread:3/frames'],
    moved: [['gpu:0/stream:9', 'gpu:0/stream:7']],
    trackFilter: 'stream',
    lit: ['family:gemm', 'cause:gil'],
    measure: { fromNs: 5, toNs: 90 },
    area: { fromNs: -3, toNs: 12_345, tracks: ['gpu:0/stream:7'] },
    rowHeight: 'compact',
    strip: { first: 0, last: 99 },
    of: 'gpu',
    by: 'family',
    durations: { fromNs: 1000, toNs: 2000 },
    finding: 'launch-overhead/decode',
  };
  assert.deepEqual(parseAddress(formatAddress(all)), all);
  assert.deepEqual(parseAddress(`#${formatAddress(all)}`), all);
  assert.deepEqual(parseAddress(formatAddress({})), {});
});

test('what cannot be read in an address is left out, the rest is kept', () => {
  const hostile = [
    '%',
    '%E0%A4%A',
    '#&&&===',
    'steps=9-4',
    'steps=-1-4',
    'steps=1-2-3',
    'steps=1e9-2e9',
    'steps=a-b',
    'window=5~5',
    'window=9~1',
    'window=NaN~Infinity',
    'window=1~99999999999999999999',
    'panel=<script>',
    'panel=__proto__',
    'panel=../../x',
    'event=0.1',
    'event=2.1.1',
    'event=0.-1.1',
    'event=0.1.1.1',
    'file=:x',
    'file=1:',
    'file=1',
    `file=1:${'x'.repeat(501)}`,
    'with=-1:x',
    'pin=',
    'unknown=1',
    '__proto__=1&constructor=2',
  ];
  for (const text of hostile) assert.deepEqual(parseAddress(text), {}, text);
  assert.deepEqual(parseAddress(`steps=2-1&panel=layers&${hostile.join('&')}`).panel, 'layers');
  assert.equal(parseAddress(`q=${'x'.repeat(9999)}`).query?.length, 500);
  assert.equal(parseAddress(Array.from({ length: 999 }, (_, i) => `pin=${i}`).join('&')).pinned?.length, 100);
});

const finding = (evidence: Finding['evidence'], phase: Finding['phase'] = null): Finding => ({
  id: 'x',
  claim: 'x',
  phase,
  severity: 'low',
  costNs: null,
  costShare: null,
  gain: null,
  confidence: 'certain',
  evidence,
  advice: [],
  confirm: '',
});

test('evidence is shown where it says, else in the steps it names, else by a search, else in its phase', () => {
  const document = documentOf(steps('Ppddd', [50, 20, 10, 10, 10], 7));
  const places = (evidence: Finding['evidence'], phase: Finding['phase'] = null) =>
    evidencePlaces(finding(evidence, phase), document);

  assert.deepEqual(places([{ text: 'a gap', window: { startNs: 3, endNs: 9 } }]), {
    highlights: [{ fromNs: 3, toNs: 9, label: 'a gap' }],
    query: null,
    view: { fromNs: 3, toNs: 9, label: 'a gap' },
  });
  assert.deepEqual(
    places([{ text: 'slow', rows: ['iteration:9@2', 'iteration:10@3/device:0'] }]).highlights.map(
      place => place.fromNs,
    ),
    [70, 80],
  );
  assert.equal(places([{ text: 'k', rows: ['kernel:void f<"a">()'] }]).query, 'name:"void f<\\"a\\">()"');
  assert.equal(places([{ text: 'f', rows: ['family:gemm'] }]).query, 'family:gemm');
  assert.equal(
    places([{ text: 'c', rows: ['phase:decode/call:cudaLaunchKernel'] }]).query,
    'name:"cudaLaunchKernel"',
  );
  const byPhase = places([{ text: 'nowhere', rows: ['device:0'] }], 'prefill');
  const step = { fromNs: 50, toNs: 70, label: 'iteration 8, prefill' };
  assert.deepEqual(byPhase, { highlights: [step], query: null, view: step });
  assert.deepEqual(places([{ text: 'nowhere' }]), { highlights: [], query: null, view: null });
  // A rule about gaps marks them, in the chosen step of its phase or in the typical one.
  const launches = { ...finding([{ text: 'many' }], 'decode'), id: 'launch-overhead' };
  const { query, highlights, view } = evidencePlaces(launches, document, 4);
  assert.deepEqual([query, highlights, view?.fromNs], ['cause:launch-bound', [], 90]);
  assert.equal(evidencePlaces(launches, document, 0).view?.label, 'iteration 10, decode');
  // Another profile's rows, or rows of nobody.
  for (const key of ['iteration:9@99', 'iteration:1@2', 'iteration:x@2', 'iteration:9@-1'])
    assert.deepEqual(places([{ text: '', rows: [key] }]).highlights, [], key);
});

test('a search for a name finds that name', () => {
  for (const name of [
    'plain',
    'void f<int, (bool)1>(char const*)',
    'say "hi"',
    'back\\slash',
    'x'.repeat(2000),
  ]) {
    const [condition, ...rest] = parseQuery(nameQuery(name));
    assert.deepEqual(rest, []);
    assert.ok(condition.kind === 'name' && name.toLowerCase().startsWith(condition.text), name);
  }
});

test('rows lead to their stretch of time, kernels and families to a search', () => {
  assert.deepEqual(placeOfRow({ key: 'a', startNs: 3, endNs: 9 }), { startNs: 3, endNs: 9 });
  assert.deepEqual(placeOfRow({ key: 'a', startNs: 3, durationNs: 2 }), { startNs: 3, endNs: 5 });
  assert.deepEqual(placeOfRow({ key: 'kernel:k', kernel: 'k', name: 'k<1>' }), { query: 'name:"k<1>"' });
  assert.deepEqual(placeOfRow({ key: 'family:kv-cache' }), { query: 'family:kv-cache' });
  assert.equal(placeOfRow({ key: 'phase:decode', startNs: null, endNs: 4 }), null);
  const series = Array.from({ length: 600 }, (_, i) => ({ atNs: i, value: i === 300 ? 9 : 1 }));
  const { bars } = barsOf('Over time', [{ series }, { series: [] }], 'series', 'value');
  assert.ok(bars[0].length <= 48 && bars[0].includes(9), 'a peak stays');
  assert.deepEqual(bars[1], []);
});

test('a step is found again in another profile by number and phase, else by place in its phase', () => {
  const a = steps('pddpd', [9, 1, 1, 9, 1], 10);
  assert.equal(alignedStep(a, steps('pddpd', [9, 1, 1, 9, 1], 10), 3), 3);
  assert.equal(alignedStep(a, steps('ddp', [1, 1, 9], 50), 3), 2);
  assert.equal(alignedStep(a, steps('ddp', [1, 1, 9], 50), 2), 1);
  assert.equal(alignedStep(a, steps('dd', [1, 1], 50), 0), -1);
});

test('many steps share bars that show the slowest of them', () => {
  const few = stripLayout(steps('ddd', [1, 2, 3]), 1200);
  assert.deepEqual([few.perBar, few.slowest.length, few.pitch], [1, 3, 96]);
  const times = Array.from({ length: 50_000 }, (_, i) => (i === 31_234 ? 900 : 10));
  const many = steps('d'.repeat(50_000), times);
  const layout = stripLayout(many, 1000);
  assert.ok(layout.pitch >= 2 && layout.slowest.length * layout.pitch <= 1000.001);
  assert.ok(layout.slowest.includes(31_234), 'the one stall is a bar');
  const bar = layout.slowest.indexOf(31_234);
  assert.equal(barAt(layout, (bar + 0.5) * layout.pitch), bar);
  assert.equal(barAt(layout, 5000), -1);
  const behind = stepsOfBars(layout, bar, bar);
  assert.ok(behind.first <= 31_234 && behind.last >= 31_234);
  assert.equal(behind.last - behind.first + 1, layout.perBar);
  const end = stepsOfBars(layout, layout.slowest.length - 1, 0);
  assert.deepEqual(end, { first: 0, last: 49_999 });
  assert.deepEqual(stripLayout(steps('', []), 500).slowest, []);
});

test('each phase has its scale, and a long warm-up does not flatten the steps after it', () => {
  const scale = stripScale([steps('Ddd', [1000, 10, 12])]).get(DECODE)!;
  assert.ok(scale.topNs >= 12 && scale.topNs < 20);
  assert.equal(scale.cut, 1);
  const both = stripScale([steps('pdd', [400, 10, 12]), steps('d', [40])]);
  assert.deepEqual(
    [...both.values()],
    [
      { topNs: 400, cut: 0 },
      { topNs: 40, cut: 0 },
    ],
  );
  assert.equal(labelStride(2, 30), 20);
  assert.equal(labelStride(96, 30), 1);
});

test('thousands of steps are zoomed into, and the unusual ones are known', () => {
  const times = Array.from({ length: 4000 }, (_, i) => (i === 2345 ? 30 : 10 + (i % 2)));
  const many = steps('d'.repeat(4000), times);
  assert.deepEqual([...outliers(many)], [2345]);
  assert.deepEqual([...outliers(steps('dddd', [1, 1, 1, 9]))], [], 'too few to say what is usual');
  const near = zoomSteps({ first: 0, last: 3999 }, 4000, 0.5, 0.1);
  assert.deepEqual(near, { first: 1800, last: 2199 });
  assert.deepEqual(zoomSteps(near, 4000, 0.5, 100), { first: 0, last: 3999 });
  const layout = stripLayout(many, 800, near);
  assert.deepEqual([layout.perBar, layout.slowest[0], layout.slowest.length], [1, 1800, 400]);
  assert.deepEqual(stepsOfBars(layout, 2, 3), { first: 1802, last: 1803 });
  const middle = (many.startNs[1801] + many.endNs[1801]) / 2;
  assert.equal(placeOfTime(many, layout, middle), 1.5 * layout.pitch);
  assert.deepEqual([placeOfTime(many, layout, -5), placeOfTime(many, layout, 1e12)], [0, 800]);
});

test('searches: regular expressions, families by name, and filters that do not exist are named', () => {
  const [regular, rest] = parseQuery('/gemm [a-z]+_\\d/ -family:norm');
  assert.ok(regular.kind === 'pattern' && regular.pattern.test('GEMM ab_3'));
  assert.deepEqual(rest, { kind: 'family', text: 'norm', not: true });
  assert.throws(() => parseQuery('/gemm(/'), /is not a regular expression: Unterminated group/);
  assert.throws(() => parseQuery('kernel:gemm'), { message: '"kernel:" is not a filter.' });
  assert.throws(() => parseQuery('family:gem-m'), /is not a kernel family/);
  for (const name of ['aten::copy_', 'std::max<int>', 'a/b', '12:30'])
    assert.deepEqual(parseQuery(name), [{ kind: 'name', text: name, not: false }]);
});

test('texts are cut in the middle, to the width of the letters that are drawn', () => {
  const fitting = new FittingText(text =>
    [...text].reduce((sum, letter) => sum + (letter === 'i' ? 3 : 7), 0),
  );
  assert.equal(fitting.shortened('nvjet_sm90_tst_64x8_TNT', 200), 'nvjet_sm90_tst_64x8_TNT');
  const cut = fitting.shortened('nvjet_sm90_tst_64x8_TNT', 120);
  assert.match(cut, /^nvjet_sm9.*….*NT$/);
  assert.ok(fitting.width(cut) <= 120);
  assert.equal(fitting.shortened('iiiiiiiiii', 29), 'iiiiiii…');
  assert.equal(fitting.shortened('nvjet', 15), '');
});

test('words fit what is selected', () => {
  const document = documentOf(steps('pppdd', [1, 1, 1, 1, 1]));
  assert.equal(selectionName(document, null), 'Steady state');
  assert.equal(selectionName(document, { first: 0, last: 2 }), 'These 3 prefill steps');
  assert.equal(selectionName(document, { first: 2, last: 3 }), 'These 2 steps');
  assert.equal(selectionName(document, { first: 1, last: 1 }), 'This step');
  const one = inSelection({ first: 1, last: 1 });
  assert.equal(
    one('waits 40% of every step (3 ms per decode step)'),
    'waits 40% of this step (3 ms in this step)',
  );
  assert.equal(
    one('The profiler adds 2 ms to a step of 9 ms'),
    'The profiler adds 2 ms to this step of 9 ms',
  );
  assert.equal(inSelection(null)('3 ms per step'), '3 ms per step');
  // `This step: 9 ms`, not `This step: 9 ms in this step`.
  assert.equal(afterName({ first: 1, last: 1 })('9 ms per step, 2 kernels'), '9 ms, 2 kernels');
  assert.equal(afterName(null)('9 ms per step, 2 kernels'), '9 ms per step, 2 kernels');
});

test('slowest, median and first decode leave the warm-up aside', () => {
  const own = steps('PpDdddd', [900, 80, 70, 12, 10, 11, 13]);
  assert.equal(slowestStep(own), 1);
  assert.equal(medianStep(own, null), 5);
  assert.equal(medianStep(own, 1), 1);
  assert.equal(firstDecode(own, phases), 3);
  const none = steps('', []);
  assert.deepEqual([slowestStep(none), medianStep(none, null), firstDecode(none, phases)], [-1, -1, -1]);
});

test('steps are spoken', () => {
  const document = documentOf(steps('pd', [14.6e6, 2e6], 12));
  assert.equal(spokenSpan(document, { first: 0, last: 0 }), 'iteration 12, prefill, 14.6 ms, step 1 of 2');
  assert.equal(spokenSpan(document, { first: 0, last: 1 }), 'iterations 12 to 13, 2 steps, 16.6 ms');
});

test('every key in the help does what it says, and no two say the same', () => {
  const press = (key: string, shiftKey = false, ctrlKey = false) =>
    actionOf({ key, shiftKey, ctrlKey, metaKey: false, altKey: false });
  const bound = keyGroups.flatMap(group => group.bindings).filter(binding => binding.action);
  for (const { keys = [], shift = false, action } of bound)
    for (const key of keys) assert.equal(press(key, shift), action, key);
  assert.equal(new Set(bound.map(binding => binding.action)).size, bound.length);
  assert.equal(press('?', true), 'help');
  assert.equal(press('N', true), 'previous-match');
  assert.equal(press('X', true), null);
  assert.equal(press('m', false, true), null, 'chords are the browser’s');
});

const block: TableBlock = {
  kind: 'table',
  id: 't',
  title: 'T',
  rows: 4,
  columns: [
    { header: 'Name', kind: 'text', values: ['b', 'a', null, '=HYPERLINK("x")'] },
    // As JSON brings it: null where there was no number.
    { header: 'Total', kind: 'ns', values: [3000, null, 1000, 2000] as unknown as number[] },
  ],
};

test('tables sort by any column, put what is missing last, and filter by what is shown', () => {
  const columns = block.columns.map(cellsOf);
  const order = (column: number, direction: 'ascending' | 'descending') =>
    rowsShown(block, columns, '', { column, direction });
  assert.deepEqual(rowsShown(block, columns, '', null), [0, 1, 2, 3]);
  assert.deepEqual(order(1, 'descending'), [0, 3, 2, 1]);
  assert.deepEqual(order(1, 'ascending'), [2, 3, 0, 1]);
  assert.deepEqual(order(0, 'descending').at(-1), 2);
  assert.deepEqual(rowsShown(block, columns, '3.00 µs', null), [0]);
  assert.equal(columns[1].text(1), '');
});

test('a copied table has plain numbers and no formulas', () => {
  const columns = block.columns.map(cellsOf);
  assert.equal(tableCsv(columns, [0, 1, 3]), `Name,Total\nb,3000\na,\n"'=HYPERLINK(""x"")",2000\n`);
});

test('a colour of three digits is the one of six', () => {
  assert.deepEqual(parseColor('#fff'), parseColor('#ffffff'));
  assert.deepEqual(parseColor('#1f4e79'), [31, 78, 121]);
});
