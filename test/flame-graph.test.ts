/** The flame graph without a page: its document, the trees made from it, boxes, search; compared with call trees and budgets. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { deviceTimelines } from '../src/analyze/gpu/device-timeline.js';
import { type FlameDocument, flameDocument } from '../src/analyze/host-code/flame-document.js';
import { hostProfile } from '../src/analyze/host-code/host-profile.js';
import { hostCauses } from '../src/analyze/host-code/idle-code.js';
import { selection } from '../src/analyze/inference/selection.js';
import { windowBudgets } from '../src/analyze/inference/step-budget.js';
import { nameOfFrame } from '../src/catalog/host-names.js';
import { fileInPackage, packageOfFile } from '../src/catalog/python-files.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import {
  boxAt,
  fittingText,
  matchedNs,
  matchingNames,
  nextBox,
  sandwichBoxes,
  treeBoxes,
} from '../src/web/flame/flame-layout.js';
import {
  callersTree,
  type FlameNode,
  nodeAlong,
  sandwichOf,
  timesByName,
  topDownTree,
  visit,
} from '../src/web/flame/flame-tree.js';

/** `main > step > sample: 30`: a way of calls and the time at its end. */
function drawn(ways: Readonly<Record<string, number>>): FlameDocument {
  const names: string[] = [];
  const nodes = new Map<string, number>([['', 0]]);
  const [parent, name, selfNs] = [[-1], [-1], [0]];
  for (const [way, ns] of Object.entries(ways)) {
    let at = '';
    for (const text of way.split(' > ')) {
      const above = nodes.get(at)!;
      at = `${at} > ${text}`;
      if (nodes.has(at)) continue;
      if (!names.includes(text)) names.push(text);
      nodes.set(at, parent.push(above) - 1);
      name.push(names.indexOf(text));
      selfNs.push(0);
    }
    selfNs[nodes.get(at)!] += ns;
  }
  const weight = { windows: 1, selfNs, calls: selfNs.map((_, i) => (i === 0 ? 0 : 1)), hint: null };
  return {
    steps: 1,
    groups: [{ id: 'g', label: 'vllm', color: '#56b4e9' }],
    names: names.map(text => ({ text, file: `vllm/${text}.py:1`, group: 0 })),
    parent,
    name,
    weights: { idle: weight, time: weight },
  };
}

const document = drawn({
  main: 5,
  'main > step > sample': 30,
  'main > step > launch': 25,
  'main > log > sample': 10,
  'main > log > log > sample': 20,
  'gc > launch': 10,
});
const nameOf = (name: number) => (name < 0 ? 'all' : document.names[name].text);
const idOf = (text: string) => document.names.findIndex(name => name.text === text);

/** `step 55 (sample 30, launch 25)`. */
function written({ name, totalNs, children }: FlameNode): string {
  const below = children.length > 0 ? ` (${children.map(written).join(', ')})` : '';
  return `${nameOf(name)} ${totalNs}${below}`;
}

const root = topDownTree(document, 'idle');

test('top-down, inverted and sandwich', () => {
  assert.equal(
    written(root),
    'all 100 (main 90 (step 55 (sample 30, launch 25), log 30 (log 20 (sample 20), sample 10)), gc 10 (launch 10))',
  );
  assert.equal(
    written(callersTree(root)),
    'all 100 (sample 60 (step 30 (main 30), log 30 (log 20 (main 20), main 10)), launch 35 (step 25 (main 25), gc 10), main 5)',
  );
  const launch = sandwichOf(root, idOf('launch'));
  assert.equal(written(launch.callers), 'launch 35 (step 25 (main 25), gc 10)');
  assert.equal(written(launch.callees), 'launch 35');
  const log = sandwichOf(root, idOf('log'));
  assert.equal(written(log.callees), 'log 30 (log 20 (sample 20), sample 10)', 'recursion counts once');
  assert.equal(written(log.callers), 'log 30 (main 30)');
});

test('each function wherever it is called: recursion counts once', () => {
  const times = [...timesByName(root)].map(([name, own]) => `${nameOf(name)} ${own.selfNs}/${own.totalNs}`);
  assert.deepEqual(times, ['sample 60/60', 'launch 35/35', 'main 5/90', 'step 0/55', 'log 0/30', 'gc 0/10']);
});

test('boxes: in proportion, zoomed, and none narrower than a pixel', () => {
  const place = (box: { node: FlameNode; x: number; width: number; row: number }) =>
    `${nameOf(box.node.name)} ${box.row}: ${Math.round(box.x)}+${Math.round(box.width)}`;
  assert.deepEqual(treeBoxes(root, 200).slice(0, 5).map(place), [
    'all 0: 0+200',
    'main 1: 0+180',
    'step 2: 0+110',
    'sample 3: 0+60',
    'launch 3: 60+50',
  ]);
  const log = nodeAlong(root, [idOf('main'), idOf('log')]);
  assert.deepEqual(treeBoxes(log, 300).map(place), [
    'all 0: 0+300',
    'main 1: 0+300',
    'log 2: 0+300',
    'log 3: 0+200',
    'sample 4: 0+200',
    'sample 3: 200+100',
  ]);
  assert.deepEqual(sandwichBoxes(sandwichOf(root, idOf('launch')), 70).map(place), [
    'launch 0: 0+70',
    'step -1: 0+50',
    'main -2: 0+50',
    'gc -1: 50+20',
  ]);
  const thousands = drawn(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, i + 1])));
  const boxes = treeBoxes(topDownTree(thousands, 'idle'), 500);
  assert.ok(boxes.length <= 501 && boxes.every(({ width }) => width >= 1), `${boxes.length} boxes`);
  assert.equal(nodeAlong(root, [idOf('main'), idOf('gc')]).name, idOf('main'), 'as far as the way exists');
});

test('pointer and arrow keys find boxes', () => {
  const boxes = treeBoxes(root, 200);
  const at = (x: number, row: number) => nameOf(boxAt(boxes, x, row)?.node.name ?? -1);
  assert.equal(at(65, 3), 'launch');
  assert.equal(boxAt(boxes, 199, 3), undefined);
  const walk = ['down', 'down', 'right', 'down', 'up', 'left', 'down', 'right', 'up'] as const;
  let box = boxes[0];
  const seen = walk.map(direction => {
    box = nextBox(boxes, box, direction) ?? box;
    return nameOf(box.node.name);
  });
  assert.deepEqual(seen, ['main', 'step', 'log', 'log', 'log', 'step', 'sample', 'launch', 'step']);
});

test('a search states the share of what it finds, once', () => {
  const share = (query: string) => matchedNs(root, matchingNames(document, query)!);
  assert.equal(share('LOG'), 30, 'a match inside a match counts once');
  assert.equal(share('launch'), 35);
  assert.equal(share('vllm'), 100, 'packages are found');
  assert.equal(share('vllm/gc'), 10, 'files are found');
  assert.equal(share('nothing'), 0);
  assert.equal(matchingNames(document, '  '), null);
});

test('names are shortened to their box', () => {
  const width = (text: string) => text.length;
  assert.equal(fittingText('aten::linear', 12, width), 'aten::linear');
  assert.equal(fittingText('aten::linear', 8, width), 'aten::l…');
  assert.equal(fittingText('aten::linear', 2, width), '');
});

test('Python files are named from their package on', () => {
  const cases = [
    ['vllm/v1/engine/core.py', 'vllm/v1/engine/core.py', 'vllm'],
    ['/usr/lib/python3.12/site-packages/torch/_ops.py', 'torch/_ops.py', 'torch'],
    ['/usr/lib/python3.12/logging/__init__.py', 'logging/__init__.py', 'logging'],
    ['/sgl-workspace/sglang/python/sglang/srt/scheduler.py', 'sglang/srt/scheduler.py', 'sglang'],
    ['/home/somebody/serve.py', 'serve.py', 'serve.py'],
    ['threading.py', 'threading.py', 'threading.py'],
    [
      '/tmp/torchinductor_root/i6/ci6zyajcdrwvk6svxam7d7hm7qn4wglkrorzpqcfgu3tmc554mzj.py',
      'ci6zyajcdrwvk6svxam7d7hm7qn4wglkrorzpqcfgu3tmc554mzj.py',
      'torch.compile',
    ],
  ];
  for (const [file, inPackage, name] of cases) {
    assert.equal(fileInPackage(file), inPackage);
    assert.equal(packageOfFile(inPackage), name);
  }
  assert.equal(nameOfFrame('vllm/v1/engine/core.py(479): step')?.file, 'vllm/v1/engine/core.py:479');
});

const real = [
  path.join(projectRoot, 'test/fixtures/stacks/lock-held.sqlite.gz'),
  capturePath('eager', 'kineto.json.gz'),
  capturePath('gil'),
  capturePath('agent-llama-graph', 'kineto.json.gz'),
  capturePath('two-processes'),
];

test('every view sums to the host-caused idle time of the budget, to the nanosecond', async () => {
  for (const file of real) {
    const analyzer = new Analyzer(await openProfile([file]));
    const budget = analyzer
      .get(windowBudgets)
      .flatMap(({ budget: { idleByCause } }) => hostCauses.map(cause => idleByCause[cause] ?? 0))
      .reduce((sum, ns) => sum + ns, 0);
    for (const most of [undefined, 12]) {
      const flame = flameDocument(analyzer, most);
      const tree = topDownTree(flame, 'idle');
      assert.equal(tree.totalNs, budget, file);
      assert.equal(callersTree(tree).totalNs, budget, file);
      for (const [name, times] of timesByName(tree)) {
        const { callers, callees } = sandwichOf(tree, name);
        assert.deepEqual([callers.totalNs, callees.totalNs], [times.totalNs, times.totalNs], file);
        assert.ok(times.totalNs <= budget, `${file}: more than everything`);
      }
      visit(tree, ({ selfNs, totalNs, children }) =>
        assert.equal(
          children.reduce((sum, child) => sum + child.totalNs, selfNs),
          totalNs,
        ),
      );
      if (most) assert.ok(flame.parent.length <= 4 * most, `${file}: ${flame.parent.length} nodes`);
    }
  }
});

test('the graph of a stretch of time: two halves are the whole, and none is longer than its time', async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('eager', 'kineto.json.gz')]));
  const { windows } = analyzer.lookingAt({ whole: true }).get(selection);
  const [start, last] = [windows[0].start, windows.at(-1)!.end];
  // Cut while the GPU works: what a gap is due to is judged as a whole.
  const { busy } = analyzer.get(deviceTimelines)[0];
  const half = busy.length >> 1;
  const middle = Math.round((busy.start[half] + busy.end[half]) / 2);
  const sums = (fromNs: number, toNs: number) => {
    const flame = flameDocument(analyzer.lookingAt({ during: { fromNs, toNs } }));
    assert.equal(flame.steps, 0, 'a total, not a mean of steps');
    return (['idle', 'time'] as const).map(weight => topDownTree(flame, weight).totalNs);
  };
  const [idle, time] = sums(start, last);
  const [before, after] = [sums(start, middle), sums(middle, last)];
  assert.deepEqual([before[0] + after[0], before[1] + after[1]], [idle, time]);
  assert.ok(before[0] > 0 && before[0] <= middle - start && before[1] <= middle - start);
  assert.deepEqual(sums(last + 1e6, last + 2e6), [0, 0], 'nothing behind the end');
});

test('the trees are those of `stepscope host`, for both weights', async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('eager', 'kineto.json.gz')]));
  const flame = flameDocument(analyzer);
  interface Plain {
    readonly totalNs: number;
    readonly selfNs: number;
    readonly count: number;
    readonly children: readonly Plain[];
  }
  const sizes = (node: Plain): unknown => [
    node.totalNs,
    node.selfNs,
    node.count,
    node.children.map(sizes).map(String).sort(),
  ];
  const plain = (node: FlameNode): Plain => ({
    ...node,
    count: node.calls,
    children: node.children.map(plain),
  });
  for (const weight of ['idle', 'time'] as const) {
    const topDown = topDownTree(flame, weight);
    assert.ok(topDown.totalNs > 0);
    for (const inverted of [false, true]) {
      const { tree } = hostProfile(analyzer, { weight, inverted, leastShare: 0 });
      assert.deepEqual(sizes(plain(inverted ? callersTree(topDown) : topDown)), sizes(tree), weight);
    }
  }
});
