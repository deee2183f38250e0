/** Every kind of page one would send to others: what it says first, that it fits a phone, and what axe finds. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';

const skip = lacks('browser');
const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-pages-'));
const at = (name: string) => path.join(folder, name);
const inProject = (name: string) => path.join(projectRoot, name);

let browser: Browser;
before(async () => {
  const executablePath = locate('browser');
  if (executablePath) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** Runs in the browser. `broken`: cells whose words are torn although they are short enough for one line. */
const look = `(() => {
  const bottom = selector => Math.max(0, ...[...document.querySelectorAll(selector)].map(one => one.getBoundingClientRect().bottom));
  const visible = one => one.checkVisibility();
  const lines = (node, from, to) => {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
  };
  const broken = [];
  for (const cell of [...document.querySelectorAll('td, th')].filter(visible)) {
    const [node] = cell.childNodes;
    if (!node || node.nodeType !== 3) continue;
    for (const match of node.data.matchAll(/[^\\s-]+/g))
      if (match[0].length <= 24 && /^[\\w.,/×%+]+$/.test(match[0]) && lines(node, match.index, match.index + match[0].length) > 1)
        broken.push(match[0]);
  }
  const cut = [...document.querySelectorAll('.scroll:not(.long)')].filter(visible)
    .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.getAttribute('aria-label'));
  return {
    width: document.documentElement.scrollWidth,
    headline: document.querySelector('h1').textContent,
    bars: document.querySelectorAll('.stack').length,
    firstBar: document.querySelector('.stack')?.getAttribute('aria-label') ?? '',
    actions: [...document.querySelectorAll('.actions li b')].map(one => one.textContent),
    tiles: [...document.querySelectorAll('.tiles dd')].map(one => one.textContent),
    fold: bottom('.summary'),
    folded: [...document.querySelectorAll('.appendix > details:not([open])')].length,
    commands: [...document.querySelectorAll('.command code')].map(one => one.textContent),
    broken,
    cut,
  };
})()`;

interface Seen {
  readonly width: number;
  readonly headline: string;
  readonly bars: number;
  readonly firstBar: string;
  readonly actions: readonly string[];
  readonly tiles: readonly string[];
  readonly fold: number;
  readonly folded: number;
  readonly commands: readonly string[];
  readonly broken: readonly string[];
  readonly cut: readonly string[];
}

const axe = readFileSync(inProject('node_modules/axe-core/axe.min.js'), 'utf8');

/** Wide and light, then narrow and dark, everything open the second time. */
async function seen(file: string, isLarge = false): Promise<Seen & { readonly phoneFold: number }> {
  const faults = async (page: Awaited<ReturnType<Browser['newPage']>>, where: string) => {
    await page.evaluate(axe);
    const found = await page.evaluate(
      // Rows of a table are alike.
      'axe.run({ exclude: [["tbody tr:nth-child(n+4)"]] }, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(one => one.id + ": " + one.nodes[0].html.slice(0, 160)))',
    );
    assert.deepEqual(found, [], `${path.basename(file)} ${where}`);
  };
  const open = async (width: number, colorScheme: 'light' | 'dark') => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(pathToFileURL(file).href);
    await page.locator('html[data-ready=yes]').waitFor({ state: 'attached' });
    return page;
  };
  const wide = await open(1280, 'light');
  const first = (await wide.evaluate(look)) as Seen;
  await faults(wide, 'light');
  await wide.close();
  const narrow = await open(390, 'dark');
  const unfold = () =>
    narrow.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  const phone = (await narrow.evaluate(look)) as Seen;
  // The appendix of a large page takes axe ten seconds, and is made of what small pages are made of.
  if (isLarge) await faults(narrow, 'dark');
  await unfold();
  const second = (await narrow.evaluate(look)) as Seen;
  if (!isLarge) await faults(narrow, 'dark');
  await narrow.close();
  for (const [one, width] of [
    [first, 1280],
    [second, 390],
  ] as const) {
    assert.ok(one.width <= width, `${file}: ${one.width} px wide in ${width}`);
    assert.deepEqual(one.broken, [], `${file} at ${width}: words torn`);
  }
  assert.ok(first.fold > 0 && first.fold <= 900, `${file}: the summary ends at ${first.fold}`);
  return { ...first, cut: second.cut, phoneFold: phone.fold };
}

test('the report of a capture: verdict, gain, bars, actions, and commands that name its file', {
  skip,
}, async () => {
  const file = at('report.html');
  assert.equal((await runStepscope(['report', capturePath('run-ahead'), '-o', file])).status, 0);
  const page = await seen(file, true);
  assert.ok(page.bars >= 2, 'one bar per phase');
  assert.ok(page.actions.length >= 1 && page.actions.length <= 3, page.actions.join());
  assert.ok(page.tiles.length >= 2);
  assert.ok(page.phoneFold <= 900, `on a phone the actions end at ${page.phoneFold}`);
  assert.ok(page.folded >= 5, 'appendices are folded');
  assert.ok(page.commands.length > 0);
  const name = path.basename(capturePath('run-ahead'));
  for (const command of page.commands) {
    assert.doesNotMatch(command, /\bFILE\b/);
    if (command.startsWith('stepscope')) assert.ok(command.includes(name), command);
  }
  // The parts of a bar sum to it.
  const shares = [...page.firstBar.matchAll(/ ([\d.]+)%/g)].map(([, share]) => Number(share));
  assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 100) < 0.05 * shares.length + 0.01, page.firstBar);
});

test('comparison, frameworks and experts: a short headline, and tables that fit a phone', {
  skip,
}, async () => {
  const compared = at('compare.html');
  const files = ['eager', 'graph'].map(name => capturePath(name));
  assert.equal((await runStepscope(['compare', ...files, '--html', '-o', compared])).status, 0);
  const comparison = await seen(compared);
  assert.ok(comparison.headline.length < 90, comparison.headline);
  assert.equal(comparison.bars, 2);
  assert.equal(comparison.actions.length, 3);
  assert.deepEqual(comparison.cut, []);

  const frameworks = at('frameworks.html');
  const config = inProject('docs/examples/frameworks-bundled.yaml');
  assert.equal((await runStepscope(['frameworks', config, '--html', '-o', frameworks])).status, 0);
  assert.equal((await seen(frameworks)).bars, 3);

  const experts = at('moe.html');
  const loads = at('counts.csv');
  const counts = [4, 5, 6, 7].flatMap(iteration =>
    [0, 1, 2].map(layer => [
      iteration,
      layer,
      ...Array.from({ length: 32 }, (_, e) => (e < 4 ? 36 : 4 + layer)),
    ]),
  );
  const header = ['iteration', 'layer', ...Array.from({ length: 32 }, (_, e) => e)];
  writeFileSync(loads, `${[header, ...counts].map(row => row.join(',')).join('\n')}\n`);
  assert.equal((await runStepscope(['moe', loads, '--gpus', '8', '--html', '-o', experts])).status, 0);
  const moe = await seen(experts);
  assert.ok(moe.tiles.length >= 2);
  assert.deepEqual(moe.cut, []);
});

test('a lake of two runs has a headline with figures', { skip }, async () => {
  const lake = at('lake');
  const files = ['eager', 'graph'].map(name => capturePath(name));
  assert.equal((await runStepscope(['fleet', 'map', ...files, '--out', lake])).status, 0);
  const file = at('fleet.html');
  assert.equal((await runStepscope(['fleet', 'report', lake, '-o', file])).status, 0);
  const page = await seen(file);
  assert.match(page.headline, /^2 runs of 1 configuration: 3\.74 ms to 23\.7 ms per decode step\.$/);
  assert.equal(page.bars, 2);
  assert.deepEqual(page.cut, []);
});
