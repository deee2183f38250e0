/** One story: headline, gain, first finding and what the timeline marks are one cause, in the words of what is selected. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { mergeProfiles } from '../../src/model/merge.js';
import { capturePath } from '../../src/testing/captures.js';
import { drawEngine } from '../../src/testing/drawn-engine.js';
import { drawRanks } from '../../src/testing/drawn-ranks.js';
import { address, closeBrowser, openPage, serve, shoot, skip, until, windowOf } from './opened-page.js';

after(closeBrowser);

const axe = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const timeline = (page: Page) => page.locator('.timeline').first();
const marksOf = async (page: Page) => Number(await timeline(page).getAttribute('data-marks'));

async function assertAccessible(page: Page, state: string): Promise<void> {
  await page.addScriptTag({ content: axe });
  const found = await page.evaluate(`axe.run({ rules: { 'target-size': { enabled: true } } })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`);
  assert.deepEqual(found, [], state);
}

for (const name of ['eager', 'gc', 'moe-learned'])
  test(`${name}: headline, gain, first finding and marks are one cause`, { skip }, async t => {
    const { url } = await serve(t, { name, files: [capturePath(name)] });
    const { page, trouble } = await openPage(t, url);
    const card = page.locator('.card').first();
    const claim = await card.locator('.claim').innerText();
    assert.ok((await page.locator('.verdict h1').innerText()).startsWith(claim), claim);
    const gain = await card.locator('.gain').innerText();
    assert.equal(await page.locator('.verdict-gain').innerText(), `${gain} steps/s`);
    await card.locator('.card-head').click();
    await until(page, `Number(document.querySelector('.timeline').dataset.marks) > 0`);
    assert.ok((await address(page)).get('finding'));
    // Back closes it with its marks; forward opens it again.
    await page.goBack();
    await until(page, `document.querySelector('.timeline').dataset.marks === '0'`);
    assert.equal(await page.locator('.card-body').count(), 0);
    await page.goForward();
    await until(page, `Number(document.querySelector('.timeline').dataset.marks) > 0`);
    assert.equal(await page.locator('.card-body').count(), 1);
    assert.deepEqual(trouble, []);
  });

test('words stay those of the figures until new figures are there', { skip }, async t => {
  const { url } = await serve(t, { name: 'eager', files: [capturePath('eager')] });
  const { page } = await openPage(t, url);
  const words = () => page.locator('.verdict p').first().innerText();
  const steady = await words();
  assert.match(steady, /^Steady state: .* per step/);
  let release = () => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route(/answer\?steps=/, async route => {
    await held;
    await route.continue();
  });
  await page.keyboard.press('m');
  await page.locator('.verdict[aria-busy=true]').waitFor();
  assert.equal(await words(), steady, 'the mean of all steps is not said of one');
  release();
  await until(page, `/^This step: /.test(document.querySelector('.verdict p').innerText)`);
  assert.doesNotMatch(await words(), /in this step|per step/);
});

test('a trace without steps: no steps per second, and a command with its file', { skip }, async t => {
  const kernels = ['kernel_a', 'kernel_bb', 'kernel_ccc', 'kernel_dddd'];
  const profile = drawEngine({ steps: 1, eager: 100, marker: () => '', kernels });
  const long = `runs/${'deep'.repeat(40)} trace.json`;
  const { url } = await serve(t, { name: 'plain.json', files: [long], profile });
  const { page, trouble } = await openPage(t, url);
  assert.match(await page.locator('.verdict').innerText(), /The trace is launch-bound/);
  assert.doesNotMatch(await page.locator('.verdict').innerText(), /steps\/s/);
  const notice = await page.locator('.no-steps').innerText();
  assert.match(notice, /No engine steps were found in plain\.json\./);
  assert.match(notice, /stepscope view 'runs\/(deep){40} trace\.json' --marker/);
  assert.equal(await page.getByRole('button', { name: /slowest|median|first decode/ }).count(), 0);
  // Names without a space do not widen the card: nothing in it is cut.
  await page.locator('.card-head').first().click();
  await page.locator('.card-body .command').waitFor();
  const outside = `[...document.querySelectorAll('.panel .card *')].filter(one =>
    one.getBoundingClientRect().right > one.closest('.card').getBoundingClientRect().right).length`;
  assert.equal(await page.evaluate(outside), 0);
  assert.deepEqual(trouble, []);
});

test('context switches: a track per core, and when the launching thread lost its CPU', { skip }, async t => {
  const profile = drawEngine({ before: { ns: 1e6, offCpu: 'moved' } });
  const { url } = await serve(t, { name: 'moved', files: ['moved.sqlite'], profile });
  const { page, trouble } = await openPage(t, url);
  await page.getByRole('searchbox', { name: /tracks/ }).fill('cpu');
  const names = await page.locator('.track-name .fold').evaluateAll(all => all.map(one => one.ariaLabel));
  assert.match(names.join(), / · on CPU,CPU 3,CPU 7$/);
  await page.locator('.strip-bars').focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('.event .facts').first().waitFor();
  assert.match(await page.locator('.event').innerText(), /CPU\s+\d\s+thread\s+.*after\s+.* without a CPU/s);
  assert.ok(await page.locator('.legend').getByText('launching thread on a CPU').isVisible());
  assert.deepEqual(trouble, []);
});

/** Puts two fingers on the timeline and spreads them. */
async function spreadFingers(page: Page): Promise<void> {
  const { x, y, width } = (await page.locator('.timeline-canvas').boundingBox())!;
  const touch = await page.context().newCDPSession(page);
  const at = (apart: number) => [-apart, apart].map((by, id) => ({ x: x + width / 2 + by, y: y + 40, id }));
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(20) });
  for (const apart of [30, 45, 60])
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(apart) });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

test('the banner says all on a phone; elsewhere nothing below it moves from step to step', {
  skip,
}, async t => {
  const { url } = await serve(t, { name: 'run-ahead', files: [capturePath('run-ahead')] });
  const phone = { viewport: { width: 390, height: 844 }, bypassCSP: true, hasTouch: true };
  const { page } = await openPage(t, url, phone);
  const cut = `[...document.querySelectorAll('.verdict h1, .verdict p')]
    .some(one => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 4)`;
  assert.equal(await page.evaluate(cut), false, 'nothing is cut');
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390);
  await shoot(page, 'phone');
  await assertAccessible(page, 'phone');
  // Two fingers zoom where they are, and the middle between them stays.
  await page.keyboard.press('m');
  const before = await windowOf(page);
  await spreadFingers(page);
  await page.waitForTimeout(100);
  const after = await windowOf(page);
  const middle = (of: typeof after) => (of.from + of.to) / 2;
  const part = (after.to - after.from) / (before.to - before.from);
  assert.ok(part > 0.25 && part < 0.45, `three times as large: ${part}`);
  assert.ok(Math.abs(middle(after) - middle(before)) < 0.05 * (before.to - before.from));
  assert.equal((await address(page)).get('event'), null, 'fingers that zoom do not click');
  // A clause that does not fit is left out: no text ends inside a word.
  const halves = `[...document.querySelectorAll('.verdict .clause')].filter(clause => {
    const line = clause.parentElement.getBoundingClientRect();
    return clause.getBoundingClientRect().top < line.bottom - 4 && clause.scrollWidth > clause.clientWidth;
  }).length`;
  for (const width of [1024, 1200, 1280, 1440, 1600]) {
    await page.setViewportSize({ width, height: 800 });
    const heights = new Set<number>();
    for (const key of ['Escape', 'Home', 'x', 'Shift+ArrowRight', 'm', 'End']) {
      await page.keyboard.press(key);
      await page.waitForTimeout(width === 1024 ? 150 : 60);
      heights.add((await page.locator('.work').boundingBox())!.y);
      if (width >= 1200) assert.equal(await page.evaluate(halves), 0, `${width} ${key}`);
    }
    assert.equal(heights.size, 1, `${width}: ${[...heights]}`);
  }
});

test('ranks: evidence on their rows, keys into them, and commands with all files', { skip }, async t => {
  const collectives = [{ name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 60_000 }];
  const compute = () => [[{ name: 'nvjet_tst_64x8', ns: 20_000 }]];
  const { profiles } = drawRanks({ ranks: 4, steps: 6, layers: 4, collectives, compute });
  const files = profiles.map((_, rank) => `runs/rank ${rank}.json`);
  const { url } = await serve(t, { name: '4 files', files, profile: mergeProfiles(profiles) });
  const { page, trouble } = await openPage(t, url, { bypassCSP: true });
  await page.locator('.card-head', { hasText: /communication/i }).click();
  await until(page, `Number(document.querySelector('.timeline').dataset.marks) > 0`);
  assert.equal((await address(page)).get('fold'), null, 'the rows themselves are marked');
  const command = page.locator('.command code').first();
  assert.match(await command.innerText(), /^stepscope analyze rank 0\.json … \(4 files\) --only/);
  const whole = (await command.getAttribute('title')) ?? '';
  for (const file of files) assert.ok(whole.includes(`'${file}'`), whole);
  await page.locator('.card-head', { hasText: /communication/i }).click();
  assert.equal(await marksOf(page), 0);
  // Arrow keys enter the row of a rank.
  await page.locator('.strip-bars').focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('.event h3').waitFor();
  assert.match(await page.locator('.event h3').innerText(), /compute|communication|waiting/);
  // A step of several ranks has one time, in the strip and in the banner.
  await page.keyboard.press('Escape');
  await page.keyboard.press('x');
  await until(page, `/^This step: /.test(document.querySelector('.verdict p').innerText)`);
  const told = /This step: ([\d.]+ .?s)/.exec(await page.locator('.verdict p').first().innerText())?.[1];
  assert.ok(told && (await page.locator('.strip-selected').innerText()).includes(`, ${told},`), told);
  await page.getByRole('tab', { name: 'Ranks' }).click();
  await page.locator('.heat-names').first().waitFor();
  assert.deepEqual(await page.locator('.heat-names').first().locator('li').allInnerTexts(), [
    'rank 0',
    'rank 1',
    'rank 2',
    'rank 3',
  ]);
  await assertAccessible(page, 'ranks');
  assert.deepEqual(trouble, []);
});

test('the strip and the Selection panel come back with the address', { skip }, async t => {
  const { url } = await serve(t, { name: 'run-ahead', files: [capturePath('run-ahead')] });
  const { page } = await openPage(t, url);
  const strip = (await page.locator('.strip-bars').boundingBox())!;
  await page.mouse.move(strip.x + 200, strip.y + 30);
  await page.mouse.wheel(0, -300);
  await page.keyboard.press('x');
  await page.getByRole('tab', { name: 'More' }).click();
  await page.locator('.more-list').getByText('Selection', { exact: true }).click();
  const panel = page.locator('.panel');
  await panel.locator('.choice select').first().selectOption('gpu');
  await panel.locator('.choice select').last().selectOption('name');
  await panel.locator('.lengths button:enabled').last().click();
  await panel.getByRole('button', { name: /show all/ }).waitFor();
  const shown = await address(page);
  for (const name of ['strip', 'of', 'by', 'dur']) assert.ok(shown.get(name), `${name} in ${shown}`);
  const figures = await panel.locator('.facts').innerText();
  const { page: again, trouble } = await openPage(t, `${url}${new URL(page.url()).hash}`);
  await again.locator('.panel .facts').waitFor();
  assert.equal(await again.locator('.panel .facts').innerText(), figures);
  assert.equal(await again.getByRole('button', { name: /steps of 21: show all/ }).count(), 1);
  assert.deepEqual(trouble, []);
});
