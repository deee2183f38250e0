/**
 * The page with several ranks: frame time of 8 on a large screen and of 72 drawn ones. And with large files: how long
 * until the page has settled, how much memory the server takes, how long a search and a change of the step take.
 */
import { statSync } from 'node:fs';
import * as path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { mergeProfiles } from '../src/model/merge.js';
import { DroppedFiles } from '../src/server/dropped-file.js';
import { OpenProfiles } from '../src/server/open-profiles.js';
import { startServer } from '../src/server/server.js';
import { readStaticFiles } from '../src/server/static-files.js';
import { projectRoot } from '../src/testing/captures.js';
import { drawRanks } from '../src/testing/drawn-ranks.js';
import { lacks, locate } from '../src/testing/needs.js';
import { viewProfile } from '../src/timeline/view-profile.js';
import { grown, say, type Verdict } from './inputs.js';
import { framesOf, moveThrough } from './move-through.js';
import { startView } from './started-view.js';

const SCREENS = [
  { ranks: 8, viewport: { width: 2560, height: 1300 }, deviceScaleFactor: 2 },
  { ranks: 72, viewport: { width: 1580, height: 900 }, deviceScaleFactor: 1 },
] as const;
interface Large {
  readonly kind: 'profile.sqlite.gz' | 'kineto.json.gz';
  readonly copies: number;
  readonly settledMs: number;
}
/** 259 MB and 1 GB. */
const LARGE: readonly Large[] = [
  { kind: 'profile.sqlite.gz', copies: 300, settledMs: 3000 },
  { kind: 'kineto.json.gz', copies: 65, settledMs: 5000 },
];
const ALL_REDUCE = { name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 12_000 };

export async function benchRanks(): Promise<Verdict[]> {
  const executablePath = locate('browser');
  if (!executablePath) {
    const missing = String(lacks('browser'));
    return [{ what: 'the page with ranks', wanted: 'measured', measured: missing, met: undefined }];
  }
  const verdicts: Verdict[] = [];
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    for (const { ranks, ...screen } of SCREENS) {
      const page = await browser.newPage(screen);
      const { medianMs, p95Ms } = await framesOfRanks(page, ranks);
      await page.close();
      const { width, height } = screen.viewport;
      verdicts.push({
        what: `frames of ${ranks} ranks at ${width}×${height} @${screen.deviceScaleFactor}x (median and p95)`,
        wanted: 'under 17 ms and 25 ms',
        measured: `${medianMs.toFixed(1)} ms and ${p95Ms.toFixed(1)} ms`,
        met: medianMs < 17 && p95Ms < 25,
      });
    }
    for (const large of LARGE) {
      const page = await browser.newPage({ viewport: { width: 1580, height: 900 } });
      verdicts.push(...(await openLarge(page, large)));
      await page.close();
    }
  } finally {
    await browser.close();
  }
  for (const { what, measured } of verdicts) say(`${what}: ${measured}`);
  return verdicts;
}

async function framesOfRanks(page: Page, ranks: number) {
  const { profiles: drawn } = drawRanks({
    ...{ ranks, steps: 20, layers: 30, collectives: [ALL_REDUCE, ALL_REDUCE] },
    compute: (rank, step, layer) =>
      [0, 1].map(() => [
        { name: 'nvjet_tst_64x8', ns: 20_000 + ((rank * 7 + step * 3 + layer) % 13) * 200 },
        { name: 'fmha_decode', ns: 11_000 + (rank === 5 ? 9_000 : 0) },
      ]),
  });
  const profiles = new OpenProfiles();
  await profiles.open('ranks', async () => viewProfile(mergeProfiles(drawn), {}, 'ranks'));
  const server = await startServer({
    ...{ version: 'bench', profiles, compare: null, dropped: new DroppedFiles(), host: '127.0.0.1', port: 0 },
    page: readStaticFiles(path.join(projectRoot, 'dist/web/')),
    openDropped: () => Promise.reject(new Error('Nothing is dropped here.')),
  });
  try {
    await page.goto(server.url);
    await page.locator('.timeline[data-ready=yes]').waitFor();
    await page.waitForLoadState('networkidle');
    return framesOf(await moveThrough(page));
  } finally {
    await server.stop();
  }
}

/** A fresh server on a large file that it has not seen: the clock starts with the process. */
async function openLarge(page: Page, { kind, copies, settledMs: limit }: Large): Promise<Verdict[]> {
  const file = grown('eager', kind, copies);
  const fileBytes = statSync(file).size;
  const begun = performance.now();
  const server = startView(file);
  try {
    const address = await server.address;
    const printedMs = performance.now() - begun;
    await page.goto(address);
    await page.locator('.card').first().waitFor({ timeout: 120_000 });
    const settledMs = performance.now() - begun;
    const peakBytes = server.peakBytes();
    const timed = async (address: string): Promise<number> =>
      Number(
        await page.evaluate(`(async () => { const begun = performance.now();
          await (await fetch(${JSON.stringify(address)})).json(); return performance.now() - begun; })()`),
      );
    const searchMs = await timed('/api/profiles/1/search?q=attention');
    const stepMs = await timed('/api/profiles/1/answer?steps=40-40');
    const size = `${(fileBytes / 1e6).toFixed(0)} MB`;
    const verdict = (what: string, value: number, limit: number, unit: string): Verdict => ({
      what: `${size} of ${kind.startsWith('kineto') ? 'Kineto' : 'nsys'}: ${what}`,
      wanted: `at most ${limit.toFixed(0)} ${unit}`,
      measured: `${value.toFixed(0)} ${unit}`,
      met: value <= limit,
    });
    return [
      verdict('address printed', printedMs, 1000, 'ms'),
      verdict('page settled', settledMs, limit, 'ms'),
      verdict('memory of the server', peakBytes / 1e6, fileBytes / 1e6 + 300, 'MB'),
      verdict('search', searchMs, 150, 'ms'),
      verdict('change of the step', stepMs, 200, 'ms'),
    ];
  } finally {
    server.stop();
  }
}
