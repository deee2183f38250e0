/** Getting around as people know it from other timelines, and from a selection to its numbers: in one page each. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { hasDuckDb } from '../../src/disk/open-duckdb.js';
import { capturePath } from '../../src/testing/captures.js';
import { address, closeBrowser, openPage, serve, shoot, skip, until, windowOf } from './opened-page.js';

after(closeBrowser);

const runAhead = { name: 'run-ahead', files: [capturePath('run-ahead')] };
const spanOf = async (page: Page) => {
  const { from, to } = await windowOf(page);
  return to - from;
};
const topOfStrip = async (page: Page) => (await page.locator('.strip').boundingBox())!.y;

test('an answer that comes late keeps the words of its own question', { skip }, async t => {
  const { url } = await serve(t, runAhead);
  // Answers about no step come when the test says so and cannot be called off; those about a step do not come at all.
  const script = `{
    const ask = window.fetch;
    const late = new Promise(resolve => (window.answerNow = resolve));
    window.fetch = async (path, { signal, ...init } = {}) => {
      if (!/\\/(answer|panels\\/findings)/.test(path)) return ask(path, { signal, ...init });
      if (/steps=/.test(path)) return new Promise(() => {});
      await late;
      return ask(path, init);
    };
  }`;
  const { page, trouble } = await openPage(t, url, { empty: true, script });
  await page.locator('.timeline[data-ready=yes]').waitFor();
  await page.waitForTimeout(300);
  assert.equal(await page.locator('.verdict .skeleton-line').count(), 1, 'nothing is answered yet');
  await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(300);
  await page.evaluate('window.answerNow()');
  await page.locator('.verdict.stale').waitFor();
  assert.match((await address(page)).get('steps') ?? '', /^\d+-\d+$/, 'a step is selected');
  assert.match(await page.locator('.verdict p').first().innerText(), /^Steady state: /);
  await page.locator('.panel .card').first().waitFor();
  const told = `${await page.locator('.verdict').innerText()} ${await page.locator('.panel').innerText()}`;
  assert.doesNotMatch(told, /this step/i);
  assert.deepEqual(trouble, []);
});

test('wheel, keys, history, events, search and findings: the way there and back', { skip }, async t => {
  const { url } = await serve(t, runAhead);
  const { page, trouble } = await openPage(t, url);

  // The banner is as high for every step.
  const top = await topOfStrip(page);
  const tops: number[] = [];
  await page.keyboard.press('Home');
  for (let i = 0; i < 4; i++) {
    await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(60);
    tops.push(await topOfStrip(page));
  }
  assert.deepEqual(
    tops,
    tops.map(() => top),
  );
  await page.keyboard.press('x');
  await until(page, `/^This step: /.test(document.querySelector('.verdict p').innerText)`);
  assert.doesNotMatch(await page.locator('.verdict').innerText(), /every step|per step/);

  // The wheel zooms where the mouse is; W too.
  const box = (await page.locator('.timeline-canvas').boundingBox())!;
  const before = await windowOf(page);
  const at = before.from + (before.to - before.from) * (400 / box.width);
  await page.mouse.move(box.x + 400, box.y + 100);
  await page.mouse.wheel(0, -600);
  const zoomed = await windowOf(page);
  assert.ok(zoomed.to - zoomed.from < 0.3 * (before.to - before.from));
  assert.ok(Math.abs(zoomed.from + (zoomed.to - zoomed.from) * (400 / box.width) - at) < 50);
  await page.waitForTimeout(1000);
  await page.keyboard.press('w');
  const nearer = await windowOf(page);
  assert.ok(Math.abs(nearer.from + (nearer.to - nearer.from) * (400 / box.width) - at) < 100);

  // Backspace and the browser's Back undo.
  await page.keyboard.press('Backspace');
  await until(page, `location.hash.includes('window=${zoomed.from}')`);
  await page.goBack();
  await until(page, `location.hash.includes('window=${before.from}')`);

  // Events by keyboard: into a lane, along it, to the launch and back.
  await page.getByRole('searchbox', { name: /tracks/ }).fill('stream 7');
  await page.locator('.strip-bars').focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('.event h3').waitFor();
  await page.keyboard.press('ArrowDown');
  await until(page, `/nvjet|kernel|copy/i.test(document.querySelector('.event h3')?.innerText ?? '')`);
  const first = (await address(page)).get('event')!;
  await page.keyboard.press(']');
  const second = (await address(page)).get('event')!;
  assert.deepEqual(
    second.split('.').map(Number),
    first.split('.').map((part, i) => Number(part) + Number(i === 2)),
  );
  const facts = await page.locator('.event .facts').first().innerText();
  assert.match(facts, /^launched by\s+cuda\w+ \([\d.]+ [nµm]s\) on .*\s+queued\s/);
  assert.match(await page.locator('.company').innerText(), /slowest of \d+, median [\d.]+ µs/);
  await page.getByRole('searchbox', { name: /tracks/ }).fill('');
  await page.locator('.strip-bars').focus();
  await page.keyboard.press('.');
  await until(page, `/^cuda/.test(document.querySelector('.event h3')?.innerText ?? '')`);
  await page.keyboard.press('.');
  assert.equal((await address(page)).get('event'), second);
  await page.keyboard.press('f');
  assert.ok((await spanOf(page)) < 100_000, 'f fits the event');
  await page.keyboard.press('Escape');

  // Searches: a regular expression, a wrong one, a family by its name, a filter that does not exist.
  const search = async (text: string) => {
    await page.locator('#search').fill(text);
    await page.waitForTimeout(250);
    await until(page, `!document.querySelector('.search .stale')`);
    return page.locator('.search').innerText();
  };
  assert.match(await search('/^nvjet_.*TNT$/'), /^[\d,]+ ·/m);
  assert.match(await search('/nvjet(/'), /is not a regular expression/);
  assert.match(await search('color:red'), /"color:" is not a filter\. Filters: name, family/);
  const byName = /([\d,]+) ·/.exec(await search('attention'))?.[1];
  assert.equal(byName, /([\d,]+) ·/.exec(await search('family:attention'))?.[1]);

  // A finding opens at its evidence without a veil; closing brings view and search back.
  const kept = await windowOf(page);
  const card = page.locator('.card-head').first();
  await page.getByRole('tab', { name: 'Findings' }).click();
  await card.click();
  await until(page, `location.hash.includes('finding=')`);
  assert.equal(await page.locator('#search').inputValue(), '');
  assert.notEqual((await windowOf(page)).from, kept.from);
  await card.click();
  assert.equal(await page.locator('#search').inputValue(), 'family:attention');
  assert.deepEqual(await windowOf(page), kept);
  await page.locator('#search').fill('');

  // The strip: wheel zooms, and all is brought back.
  const strip = (await page.locator('.strip-bars').boundingBox())!;
  await page.mouse.move(strip.x + 200, strip.y + 30);
  await page.mouse.wheel(0, -300);
  await page.getByRole('button', { name: /steps of 21: show all/ }).click();
  assert.match(await page.locator('.strip-legend').innerText(), /prefill 0 – 1\.87 ms.*decode 0 – 930 µs/s);

  // A bare address resets.
  await page.evaluate(`location.hash = '#file='`);
  await until(page, `!location.hash.includes('steps=')`);
  // The only messages are the browser's own about searches that were refused.
  assert.ok(
    trouble.every(text => /400/.test(text)),
    trouble.join('\n'),
  );
});

test('an area becomes numbers; tracks are laid out as wished; the address holds it all', {
  skip,
}, async t => {
  const { url } = await serve(t, runAhead);
  const { page, trouble } = await openPage(t, url);
  await page.keyboard.press('x');
  await page.waitForTimeout(300);
  const box = (await page.locator('.timeline-canvas').boundingBox())!;
  const drag = async (from: [number, number], to: [number, number]) => {
    await page.mouse.move(box.x + from[0], box.y + from[1]);
    await page.mouse.down();
    await page.mouse.move(box.x + to[0], box.y + to[1], { steps: 4 });
    await page.mouse.up();
  };
  await page.keyboard.down('Shift');
  await drag([100, 60], [800, 190]);
  await page.keyboard.up('Shift');
  const panel = page.locator('.panel');
  await panel.locator('.facts').waitFor();
  const figures = await panel.locator('.facts').innerText();
  const count = Number(/events\s+([\d,]+)/.exec(figures)?.[1]);
  assert.match(figures, /covered\s+.*% of the time/);
  const cells = async (column: number) =>
    (await panel.locator(`table tbody tr td:nth-child(${column})`).allInnerTexts()).map(Number);
  assert.equal(
    (await cells(2)).reduce((sum, own) => sum + own, 0),
    count,
    'every event is in one family',
  );
  assert.ok(Math.abs((await cells(4)).reduce((sum, own) => sum + own, 0) - 100) < 1);
  await panel.locator('.choice select').first().selectOption('idle');
  await panel.getByText('launch-bound').first().waitFor();
  const swatch = panel.locator('tbody tr', { hasText: 'launch-bound' }).locator('.swatch').first();
  assert.match(
    (await swatch.getAttribute('style')) ?? '',
    /repeating-linear-gradient/,
    'idle time is hatched',
  );
  await panel.locator('.choice select').first().selectOption('gpu');
  if (hasDuckDb()) {
    // The same events, asked in SQL.
    await panel.getByText('Ask in SQL').click();
    const question = panel.getByRole('textbox', { name: 'SQL over the selection' });
    // The sample is about the kind of events that is shown.
    await until(
      page,
      `/^SELECT name, [^]* WHERE kind = 'gpu'/.test(document.querySelector('.sql textarea').value)`,
    );
    await question.fill("SELECT 'all', count(*) AS events FROM selection WHERE kind = 'gpu'");
    await question.press('Control+Enter');
    assert.equal(await panel.locator('.sql tbody td').first().innerText(), String(count));
    await question.fill('SELECT nobody FROM selection');
    await panel.getByRole('button', { name: 'Ask', exact: true }).click();
    await panel
      .locator('.sql')
      .getByText(/"nobody" not found/)
      .waitFor();
    assert.match(trouble.pop() ?? '', /status of 400/, 'and that is all the browser says');
    // The whole profile is a click away.
    await panel.getByText('Tables of the whole profile').click();
    await panel.locator('.sql-tables').getByRole('button', { name: 'copies', exact: true }).click();
    await panel.getByRole('button', { name: 'Ask', exact: true }).click();
    await until(page, `/bytes/i.test(document.querySelector('.sql thead')?.innerText ?? '')`);
    await panel.getByText('Ask in SQL').click();
  }
  await panel.locator('.choice select').last().selectOption('name');
  await until(page, `document.querySelector('.panel table th button')?.innerText === 'Kernel'`);
  await shoot(page, 'selection');
  // A bar of the chart leaves its events.
  const bar = panel.locator('.lengths button:enabled').last();
  const inBar = Number(/: ([\d,]+) event/.exec((await bar.getAttribute('aria-label')) ?? '')?.[1]);
  await bar.click();
  await until(
    page,
    `/^events\\s+${inBar}\\b/.test(document.querySelector('.panel .facts')?.innerText ?? '')`,
  );
  await panel.getByRole('button', { name: /show all/ }).click();
  // A row leads to its longest event.
  const whole = await windowOf(page);
  await panel.locator('table tbody th button').first().click();
  await until(page, `!location.hash.includes('window=${whole.from}')`);

  // Folding a group, moving a track, row height: all in the address, and back in a new page.
  await page.getByRole('button', { name: 'Row height: normal' }).click();
  await page.getByRole('button', { name: /^process 574/ }).click();
  const name = page.getByRole('button', { name: 'layers', exact: true });
  await name.focus();
  await page.keyboard.press('Alt+ArrowUp');
  const names = () =>
    page
      .locator('.track-name .fold')
      .evaluateAll(all => all.map(one => (one as { ariaLabel: string }).ariaLabel));
  assert.deepEqual((await names()).slice(0, 3), ['steps', 'layers', 'idle, by cause']);
  const shown = await address(page);
  assert.equal(shown.get('rows'), 'tall');
  assert.equal(shown.get('fold'), 'group:process:0');
  assert.ok(shown.get('area') && shown.get('on') && shown.get('before') === 'gpu:0/layers|gpu:0/idle');
  const { page: again } = await openPage(t, `${url}${new URL(page.url()).hash}`);
  await again.waitForTimeout(400);
  assert.equal(new URL(again.url()).hash, new URL(page.url()).hash);
  assert.equal(
    await again.getByRole('button', { name: /^process 574/ }).getAttribute('aria-expanded'),
    'false',
  );
  assert.deepEqual(trouble, []);
});
