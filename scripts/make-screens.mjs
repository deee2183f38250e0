// The six screens in docs/, as the page is now: npm run build && node scripts/make-screens.mjs
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { mergeProfiles } from '../dist/src/model/merge.js';
import { capturePath } from '../dist/src/testing/captures.js';
import { drawRanks } from '../dist/src/testing/drawn-ranks.js';
import { locate } from '../dist/src/testing/needs.js';
import { ready, serve } from '../dist/test/e2e/opened-page.js';

const folder = fileURLToPath(new URL('../docs/screens/', import.meta.url));
const stops = [];
const browser = await chromium.launch({ executablePath: locate('browser'), args: ['--no-sandbox'] });

const capture = name => ({ name: `${name}.sqlite`, files: [capturePath(name)] });

/** Rank 5 computes longer, so that the others wait for it. */
const eightRanks = () => {
  const collectives = [{ name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 12_000 }];
  const compute = rank => [
    [
      { name: 'nvjet_tst_64x8', ns: 20_000 },
      { name: 'fmha_decode', ns: rank === 5 ? 21_000 : 11_000 + 400 * rank },
    ],
  ];
  return mergeProfiles(drawRanks({ ranks: 8, steps: 20, layers: 60, collectives, compute }).profiles);
};

async function screen(name, runs, use, size = { width: 1280, height: 740 }) {
  const { url } = await serve({ after: stop => stops.push(stop) }, ...runs);
  const page = await browser.newPage({ viewport: size, colorScheme: 'light' });
  await page.goto(url);
  await ready(page);
  await use(page);
  await page.mouse.move(2, 2);
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(1500);
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  await page.close();
}

const tab = (page, name) => page.getByRole('tab', { name, exact: true }).click();

async function dragArea(page) {
  const { x, y, width } = await page.locator('.timeline-canvas').boundingBox();
  await page.keyboard.down('Shift');
  await page.mouse.move(x + 0.2 * width, y + 60);
  await page.mouse.down();
  await page.mouse.move(x + 0.75 * width, y + 190, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
}

await screen('overview', [capture('run-ahead')], async () => {});
await screen(
  'finding',
  [capture('gc')],
  async page => {
    await page.keyboard.press('m');
    await page.locator('.card-head').first().click();
  },
  { width: 1160, height: 640 },
);
await screen('selection', [capture('run-ahead')], async page => {
  await page.keyboard.press('x');
  await page.waitForTimeout(500);
  await dragArea(page);
});
await screen('ranks', [{ name: 'ranks', files: ['rank0.json'], profile: eightRanks() }], async page => {
  await tab(page, 'Ranks');
  await page.keyboard.press('m');
  for (let i = 0; i < 18; i++) await page.keyboard.press('w');
});
await screen('host', [capture('eager')], async page => {
  await page.keyboard.press('m');
  await tab(page, 'Host');
});
await screen('compare', [capture('eager'), capture('graph')], page => page.keyboard.press('m'));

await browser.close();
for (const stop of stops) await stop();
