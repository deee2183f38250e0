/** The page in Firefox: it opens, draws, follows keys and zooms; that both browsers agree on the rest is their standard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capturePath } from '../../src/testing/captures.js';
import { lacks, locate } from '../../src/testing/needs.js';
import { Firefox } from './marionette.js';
import { serve } from './opened-page.js';

test('Firefox shows the verdict and the timeline, and follows keys', { skip: lacks('firefox') }, async t => {
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
  await firefox.press('\uE003');
  await firefox.until(`location.hash === ${JSON.stringify(before)}`);
});
