/**
 * Opening a large profile in a real browser: from the command to a page that shows everything and asks for nothing more,
 * the memory of the server until then, and how long the page takes to answer a search and another step afterwards.
 */
import { statSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';
import { formatBytes } from '../src/base/units.js';
import { grown, say, type Verdict } from './inputs.js';
import { startView } from './started-view.js';

const ROUNDS = 3;
const SETTLED_S = 3;
const MEMORY_BEYOND_FILE = 300e6;
const SEARCH_MS = 150;
const STEP_MS = 200;
/** A page that has asked for nothing during this time is at rest. */
const REST_MS = 400;
const SEARCHES = ['gemm', 'dur>20us', '/elementwise/', 'attention'];
const STEPS = 8;

interface Opened {
  readonly settledMs: number;
  readonly peakBytes: number;
  /** Time the server's CPU needed until the page was settled: less depends on what else the machine does. */
  readonly cpuMs: number;
  readonly searchMs: number;
  readonly stepMs: number;
}

export async function benchOpening(executablePath: string): Promise<Verdict[]> {
  const file = grown('eager', 'profile.sqlite.gz', 300);
  const { size } = statSync(file);
  const runs: Opened[] = [];
  for (let round = 0; round < ROUNDS; round++) runs.push(await open(file, executablePath));
  const middle = (of: (run: Opened) => number) => medianOf(runs.map(of));
  const settledS = middle(run => run.settledMs) / 1000;
  const peakBytes = Math.max(...runs.map(run => run.peakBytes));
  const ofFile = `of ${formatBytes(size)}`;
  say(
    `${formatBytes(size)}: settled after ${runs.map(run => `${(run.settledMs / 1000).toFixed(2)} s`).join(', ')}; CPU time of the server ${(middle(run => run.cpuMs) / 1000).toFixed(2)} s`,
  );
  const inMs = (what: string, ms: number, limit: number): Verdict => ({
    what: `${what} ${ofFile}`,
    wanted: `under ${limit} ms`,
    measured: `${ms.toFixed(0)} ms`,
    met: ms < limit,
  });
  return [
    {
      what: `from stepscope view to a settled page ${ofFile}`,
      wanted: `at most ${SETTLED_S} s`,
      measured: `${settledS.toFixed(2)} s`,
      met: settledS <= SETTLED_S,
    },
    {
      what: `peak memory of the server for a page ${ofFile}`,
      wanted: `at most ${formatBytes(size + MEMORY_BEYOND_FILE)}: the file and ${formatBytes(MEMORY_BEYOND_FILE)}`,
      measured: formatBytes(peakBytes),
      met: peakBytes <= size + MEMORY_BEYOND_FILE,
    },
    inMs(
      'search, from the question to what is drawn,',
      middle(run => run.searchMs),
      SEARCH_MS,
    ),
    inMs(
      'another step, from the key to a settled page,',
      middle(run => run.stepMs),
      STEP_MS,
    ),
  ];
}

const medianOf = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** The browser is running already, as a user's is; the clock starts with the command. Nothing is kept from other runs. */
async function open(file: string, executablePath: string): Promise<Opened> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1580, height: 840 } });
  const traffic = trafficOf(page);
  const begun = performance.now();
  const server = startView(file);
  try {
    await page.goto(await server.address);
    const settledMs = (await settled(page, traffic)) - begun;
    const cpuMs = server.cpuMs();
    const searchMs = medianOf(await searches(page));
    const stepMs = medianOf(await stepChanges(page, traffic));
    return { settledMs, cpuMs, searchMs, stepMs, peakBytes: server.peakBytes() };
  } finally {
    await browser.close();
    server.stop();
  }
}

interface Traffic {
  readonly waiting: Set<unknown>;
  lastMs: number;
}

function trafficOf(page: Page): Traffic {
  const traffic: Traffic = { waiting: new Set(), lastMs: performance.now() };
  page.on('request', request => traffic.waiting.add(request));
  const done = (request: unknown) => {
    traffic.waiting.delete(request);
    traffic.lastMs = performance.now();
  };
  page.on('requestfinished', done);
  page.on('requestfailed', done);
  return traffic;
}

/** The timeline is drawn, no part of the page shows that it is waiting, and progress is over. */
const IS_COMPLETE = `document.querySelector('.timeline[data-ready=yes]') !== null
  && document.querySelector('[aria-busy=true], progress, .skeleton, .skeleton-line, .stale') === null`;

/** Asked in every frame. The page's policy forbids what waitForFunction does. */
const untilTrue = (page: Page, condition: string): Promise<void> =>
  page.evaluate(`new Promise(resolve => {
    const look = () => (${condition}) ? resolve() : requestAnimationFrame(look);
    look();
  })`);

/** The moment since which the page is complete and asks for nothing more. */
async function settled(page: Page, traffic: Traffic): Promise<number> {
  for (;;) {
    await untilTrue(page, IS_COMPLETE);
    const completeMs = performance.now();
    const restedMs = () => performance.now() - Math.max(completeMs, traffic.lastMs);
    while (traffic.waiting.size > 0 || restedMs() < REST_MS) await page.waitForTimeout(20);
    // What came last may have been drawn over what was complete.
    if (await page.evaluate(IS_COMPLETE)) return Math.max(completeMs, traffic.lastMs);
  }
}

/** Typing has come to rest; each is asked for the first time. */
async function searches(page: Page): Promise<number[]> {
  const times: number[] = [];
  const box = page.locator('#search');
  for (const text of SEARCHES) {
    const asked = page.waitForRequest(request => request.url().includes('/search?q='));
    await box.fill(text);
    await asked;
    const begun = performance.now();
    await untilTrue(page, "document.querySelector('.search-answer:not(.stale)') !== null");
    times.push(performance.now() - begun);
    await box.fill('');
    await page.waitForTimeout(REST_MS);
  }
  return times;
}

/** The pause after which a page asks about the step where the keys came to rest is part of it. */
async function stepChanges(page: Page, traffic: Traffic): Promise<number[]> {
  const times: number[] = [];
  await page.locator('body').click({ position: { x: 1, y: 1 } });
  for (let step = 0; step <= STEPS; step++) {
    const asked = page.waitForRequest(request => request.url().includes('/answer?steps='));
    const begun = performance.now();
    await page.keyboard.press('ArrowRight');
    await asked;
    times.push((await settled(page, traffic)) - begun);
  }
  // The first one also selects: what it shows for the first time is not a change.
  return times.slice(1);
}
