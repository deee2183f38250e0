/** Handing a view on: a page without a server, a command, notes; and several ranks, which have most to show. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { mergeProfiles } from '../../src/model/merge.js';
import { drawRanks } from '../../src/testing/drawn-ranks.js';
import { closeBrowser, inkOf, openPage, ready, serve, shoot, skip, until } from './opened-page.js';

after(closeBrowser);

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-share-'));
after(() => rmSync(folder, { recursive: true }));

/** Rank 5 computes longer, so that the others wait for it. */
const eightRanks = () =>
  mergeProfiles(
    drawRanks({
      ...{ ranks: 8, steps: 6, layers: 4 },
      collectives: [{ name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 12_000 }],
      compute: rank => [
        [
          { name: 'nvjet_tst_64x8', ns: 20_000 },
          { name: 'fmha_decode', ns: rank === 5 ? 40_000 : 11_000 },
        ],
      ],
    }).profiles,
  );

test('ranks are rows, a cell selects, notes are kept, and the view is one file', { skip }, async t => {
  const beside = path.join(folder, 'ranks.json');
  const { url } = await serve(t, {
    name: '8 files',
    files: ['rank0.json', 'rank 1.json'],
    profile: eightRanks(),
    beside,
  });
  const { page, trouble } = await openPage(t, url, { permissions: ['clipboard-read', 'clipboard-write'] });

  // One slim row per rank; a click unfolds it with its process right below.
  const names = () =>
    page
      .locator('.track-names .fold')
      .evaluateAll(all => all.map(one => (one as { ariaLabel: string }).ariaLabel));
  assert.deepEqual((await names()).slice(0, 2), ['rank 0 · GPU 0', 'rank 1 · GPU 0']);
  await page.getByRole('tab', { name: 'Ranks' }).click();
  const heat = page.locator('.rank-heat').first();
  await heat.focus();
  for (const key of ['ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
  assert.match((await heat.getAttribute('aria-valuetext')) ?? '', /^rank 1 · GPU 0, iteration \d+: /);
  await page.keyboard.press('Enter');
  await until(page, `location.hash.includes('steps=1-1') && location.hash.includes('fold=group')`);
  const unfolded = await names();
  assert.equal(unfolded.indexOf('rank 0 · GPU 0') + 1, unfolded.indexOf('rank 1 · GPU 0'));
  assert.ok(unfolded.includes('steps') && unfolded.some(name => /CUDA API/.test(name)));
  await shoot(page, 'ranks');

  // A note on the step, in a file beside the profile.
  await page.getByRole('tab', { name: 'More' }).click();
  await page.locator('.more-list').getByText('Notes', { exact: true }).click();
  await page.getByRole('textbox', { name: 'New note' }).fill('the router is late here');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.locator('.note-item').getByText('the router is late here').waitFor();
  const written = JSON.parse(readFileSync(`${beside}.notes.json`, 'utf8'));
  assert.equal(written.notes[0].text, 'the router is late here');

  // The command, and the page.
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByText('Copy command').click();
  const command = await page.evaluate('navigator.clipboard.readText()');
  assert.match(
    String(command),
    /^stepscope view rank0\.json 'rank 1\.json' --at 'steps=1-1&.*panel=notes.*'$/,
  );
  await page.getByRole('button', { name: 'Share' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.menu-box a', { hasText: 'Page' }).click(),
  ]);
  const saved = path.join(folder, 'view.html');
  await download.saveAs(saved);
  const settled = `document.querySelector('.verdict')?.getAttribute('aria-busy') !== 'true'`;
  await until(page, settled);
  const verdict = await page.locator('.verdict h1').innerText();

  const { page: alone, trouble: aloneTrouble } = await openPage(t, pathToFileURL(saved).href, {
    offline: true,
  });
  await ready(alone);
  // The words are those of the step only where the figures are, too.
  await until(alone, `/^This step: /.test(document.querySelector('.verdict p').innerText)`);
  assert.equal(await alone.locator('.verdict h1').innerText(), verdict);
  assert.ok((await inkOf(alone)).colors > 3);
  await alone.locator('.note-item').getByText('the router is late here').waitFor();
  await alone.locator('#search').fill('family:gemm');
  await until(alone, `/^[\\d,]+ ·/m.test(document.querySelector('.search .figure')?.innerText ?? '')`);
  // Any event is known as it was: its launch, and the way there.
  await alone.locator('#search').press('Enter');
  await alone.locator('.event .facts').first().waitFor();
  assert.match(await alone.locator('.event .facts').first().innerText(), /^launched by\s+cuda.*\s+queued\s/);
  await alone.locator('.links button').first().click();
  await until(alone, `/^cuda/.test(document.querySelector('.event h3')?.innerText ?? '')`);
  await alone.getByRole('tab', { name: 'Selection' }).click();
  await alone.locator('.panel .facts').waitFor();
  await alone.getByRole('tab', { name: 'Ranks' }).click();
  await alone.locator('.rank-heat').first().waitFor();
  await alone.getByRole('tab', { name: 'Step', exact: true }).click();
  await alone.locator('.panel .bars').first().waitFor();
  await shoot(alone, 'saved');
  assert.deepEqual(trouble, []);
  assert.deepEqual(
    aloneTrouble,
    [`request for ${pathToFileURL(saved).href}`],
    'the page itself, and nothing else',
  );
});
