/** The page in Firefox: it opens, draws, and follows keys, mouse and address; that browsers agree on the rest is their standard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capturePath } from '../../src/testing/captures.js';
import { lacks, locate } from '../../src/testing/needs.js';
import { Firefox } from './marionette.js';
import { serve } from './opened-page.js';

const SHIFT = '\uE008';
const BACKSPACE = '\uE003';
const ENTER = '\uE007';
const ESCAPE = '\uE00C';

test('Firefox: verdict, timeline, keys, search, selection, findings and Back, and no complaint', {
  skip: lacks('firefox'),
}, async t => {
  const { url } = await serve(t, { name: 'eager', files: [capturePath('eager')] });
  const firefox = await Firefox.start(locate('firefox')!);
  t.after(() => firefox.stop());
  await firefox.open(url);
  await firefox.until(`document.querySelector('.timeline[data-ready=yes]') !== null`);
  await firefox.until(`/launch-bound/.test(document.querySelector('.verdict h1')?.innerText ?? '')`);
  const colors = `(() => {
    const canvas = document.querySelector('.timeline-canvas canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`;
  assert.ok(Number(await firefox.evaluate(colors)) > 5);
  await firefox.press('m');
  await firefox.until(`/steps=\\d+-\\d+/.test(location.hash)`);
  await firefox.until(`/^This step: /.test(document.querySelector('.verdict p').innerText)`);
  const before = await firefox.evaluate('location.hash');
  for (let i = 0; i < 3; i++) await firefox.press('w');
  await firefox.until(`location.hash.includes('window=') && location.hash !== ${JSON.stringify(before)}`);
  // Backspace goes back to the view before.
  await firefox.press(BACKSPACE);
  await firefox.until(`location.hash === ${JSON.stringify(before)}`);

  // A search, and its first match in the event panel.
  await firefox.press('/');
  await firefox.type('family:attention');
  await firefox.until(`/^110 ·/.test(document.querySelector('.search .figure')?.innerText ?? '')`);
  await firefox.press(ENTER);
  await firefox.until(`/^launched by/.test(document.querySelector('.event .facts')?.innerText ?? '')`);
  await firefox.press(ESCAPE);
  await firefox.evaluate(`document.querySelector('.strip-bars').focus()`);
  for (let i = 0; i < 3; i++) await firefox.press(ESCAPE);
  await firefox.until(`!/[#&](q|event)=/.test(location.hash)`);

  // An area becomes numbers whose parts sum to the whole.
  const [x, y] = (await firefox.evaluate(`(() => {
    const { x, y } = document.querySelector('.timeline-canvas').getBoundingClientRect();
    return [x, y];
  })()`)) as [number, number];
  await firefox.drag([x + 60, y + 30], [x + 400, y + 190], SHIFT);
  await firefox.until(`/^events\\s/.test(document.querySelector('.panel .facts')?.innerText ?? '')`);
  const [count, sum] = (await firefox.evaluate(`[
    Number(/events\\s+([\\d,]+)/.exec(document.querySelector('.panel .facts').innerText)[1].replaceAll(',', '')),
    [...document.querySelectorAll('.panel table tbody tr td:nth-child(2)')]
      .reduce((sum, cell) => sum + Number(cell.innerText.replaceAll(',', '')), 0),
  ]`)) as [number, number];
  assert.ok(count > 0);
  assert.equal(sum, count);

  // A finding marks its evidence, and Back takes it away again.
  await firefox.evaluate(
    `[...document.querySelectorAll('[role=tab]')].find(tab => tab.innerText === 'Findings').click()`,
  );
  await firefox.until(`document.querySelector('.card-head') !== null`);
  await firefox.evaluate(`new Promise(done => setTimeout(done, 1000))`);
  await firefox.evaluate(`document.querySelector('.card-head').click()`);
  await firefox.until(`Number(document.querySelector('.timeline').dataset.marks) > 0`);
  await firefox.until(`location.hash.includes('finding=')`);
  await firefox.evaluate('history.back()');
  await firefox.until(`document.querySelector('.timeline').dataset.marks === '0'`);

  // Dark, and still drawn.
  await firefox.press('t');
  await firefox.until(
    `document.documentElement.dataset.theme === 'dark' || document.documentElement.dataset.theme === 'light'`,
  );
  assert.ok(Number(await firefox.evaluate(colors)) > 5);
  await firefox.evaluate(`console.error('heard')`);
  await firefox.evaluate(`new Promise(done => setTimeout(done, 300))`);
  assert.deepEqual(firefox.complaints(), ['console.error: "heard"'], 'what is asked to be said, and no more');
});
