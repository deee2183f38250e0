/** The flame graph of the host as people use it: in the page of `view`, and alone in a report. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { capturePath } from '../../src/testing/captures.js';
import { runStepscope } from '../run-stepscope.js';
import { closeBrowser, openPage, serve, shoot, skip, until } from './opened-page.js';

after(closeBrowser);

const file = capturePath('agent-llama-graph', 'kineto.json.gz');
const said = (page: Page) => page.locator('.flame-said').innerText();
const press = (page: Page, name: string) =>
  page.locator('.flame-controls').getByRole('button', { name, exact: true }).click();

/** Colors that the graph shows. */
const colorsOf = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector('.flame canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);

/** The same in both places. */
async function useGraph(page: Page): Promise<void> {
  const canvas = page.locator('.flame canvas');
  await canvas.waitFor();
  await until(page, `document.querySelector('.flame canvas').width > 0`);
  assert.match(await said(page), /^[\d.]+ [mµ]s per step of GPU idle time\. Callers on top/);
  assert.ok((await colorsOf(page)) > 5);

  await page.getByRole('searchbox', { name: 'Search functions' }).fill('aten::linear');
  assert.match(await said(page), /“aten::linear” and what it calls: .* per step, \d+\.\d% of all\./);
  await page.getByRole('searchbox', { name: 'Search functions' }).press('Escape');
  assert.match(await said(page), /Callers on top/);

  // The largest function below the root, by keyboard and by mouse.
  await canvas.focus();
  for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  const spoken = await page.locator('.flame [aria-live=polite]').innerText();
  assert.match(spoken, /Total: .* per step, \d+\.\d% of all\. Self: .*Calls: [\d.]+ per step/);
  const name = spoken.split('. ')[0];
  assert.ok(await page.locator('.flame-tip').getByText(name, { exact: true }).isVisible());
  await page.keyboard.press('Enter');
  assert.ok((await said(page)).startsWith(`${name}: `));
  assert.match(await page.locator('.flame-path').innerText(), /all host code/);
  await page.keyboard.press('Escape');
  assert.match(await said(page), /of GPU idle time/);
  assert.ok(await page.locator('.flame-path').isHidden());
  await canvas.click({ position: { x: 20, y: 30 } });
  assert.ok((await said(page)).startsWith(`${name}: `));
  await page.locator('.flame-path').getByRole('button', { name: 'all host code' }).click();
  assert.match(await said(page), /of GPU idle time/);

  await press(page, 'Inverted');
  assert.match(await said(page), /its callers below/);
  await press(page, 'Host time');
  assert.match(await said(page), /of host time/);
  await press(page, 'Sandwich');
  assert.match(await said(page), /Callers above the framed function/);
  const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(width) <= 0, 'nothing sticks out');
}

const axe = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(`axe.run('.flame').then(({ violations }) => violations
    .map(({ id, nodes }) => id + ': ' + nodes[0].html))`);
  assert.deepEqual(found, []);
}

test('the flame graph of the page: search, zoom, back, sandwich, enlarged', { skip }, async t => {
  const { url } = await serve(t, { name: 'llama', files: [file] });
  const { page, trouble } = await openPage(t, url);
  await page.getByRole('tab', { name: 'Host', exact: true }).click();
  await useGraph(page);
  await assertAccessible(page);
  await shoot(page, 'flame');
  await page.getByRole('button', { name: 'Enlarge' }).click();
  await until(page, `document.querySelector('.flame canvas').clientWidth > innerWidth - 120`);
  await page.locator('.flame canvas').focus();
  while (/framed|callers/.test(await said(page))) await page.keyboard.press('Escape');
  assert.ok(await page.locator('dialog.flame-dialog').isVisible(), 'Escape goes back first');
  await page.getByRole('button', { name: 'Close' }).click();
  await until(page, `document.querySelector('.panel .flame canvas').clientWidth < innerWidth / 2`);
  assert.deepEqual(trouble, []);
});

test('the flame graph of a dragged area, from the address and back to the steps', { skip }, async t => {
  const { url } = await serve(t, { name: 'llama', files: [file] });
  const { page, trouble } = await openPage(t, `${url}#panel=host&area=2000000~4000000`);
  await page.locator('.flame canvas').waitFor();
  assert.match(await said(page), /^[\d.]+ [mµ]s of (GPU idle|host) time\. Callers on top/);
  assert.ok(await page.getByText('the selected 2.00 ms').isVisible());
  const ofArea = parseFloat(await said(page));
  assert.ok(ofArea <= 2, `${ofArea} ms of 2 ms`);
  await page.evaluate(`location.hash = location.hash.replace(/&?area=[^&]*/, '')`);
  await until(page, `/per step/.test(document.querySelector('.flame-said').innerText)`);
  assert.deepEqual(trouble, []);
});

test('the flame graph of a report: one file, narrow and dark', { skip }, async t => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-flame-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const report = path.join(folder, 'report.html');
  assert.equal((await runStepscope(['report', file, '-o', report])).status, 0);
  const { href } = pathToFileURL(report);
  const { page, trouble } = await openPage(t, href, {
    empty: true,
    colorScheme: 'dark',
    viewport: { width: 390, height: 800 },
  });
  // It is folded until a link leads to it.
  await page.click('nav a[href="#host"]');
  await useGraph(page);
  await assertAccessible(page);
  assert.deepEqual(trouble, [`request for ${href}`], 'the page itself, and nothing else');
});
