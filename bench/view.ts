/**
 * The page in a real browser: time until a profile of two million events is on screen, frame time while navigating all
 * of it, memory of the page; and the same for a profile ten times smaller, to show that frame time depends on what is
 * on the screen.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { chromium } from 'playwright-core';
import { openProfile } from '../src/import/open.js';
import { tableNames } from '../src/model/schema.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { viewProfile } from '../src/timeline/view-profile.js';
import { grown, say, type Verdict } from './inputs.js';
import { framesOf, moveThrough } from './move-through.js';
import { benchOpening } from './view-open.js';

const SIZES = [12, 125] as const;
const ROUNDS = 3;

interface Seen {
  readonly paintMs: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly memoryBytes: number;
}

export async function benchView(): Promise<Verdict[]> {
  const executablePath = locate('browser');
  if (!executablePath) {
    const missing = String(lacks('browser'));
    say(missing);
    return [{ what: 'the page', wanted: 'measured', measured: missing, met: undefined }];
  }
  const seen: (Seen & { readonly events: number })[] = [];
  for (const size of SIZES) {
    const file = grown('eager', 'profile.sqlite.gz', size);
    const { events, timelineMs } = await timelineOf(file);
    const runs: Seen[] = [];
    for (let round = 0; round < ROUNDS; round++) runs.push(await look(file, executablePath));
    const middle = (of: (run: Seen) => number) => runs.map(of).sort((a, b) => a - b)[ROUNDS >> 1];
    const result = {
      events,
      paintMs: middle(run => run.paintMs),
      medianMs: middle(run => run.medianMs),
      p95Ms: middle(run => run.p95Ms),
      memoryBytes: Math.max(...runs.map(run => run.memoryBytes)),
    };
    say(`${events} events: timeline built in ${timelineMs.toFixed(0)} ms while opening`);
    say(
      `  on screen ${result.paintMs.toFixed(0)} ms after that, frames ${result.medianMs.toFixed(1)} ms (median), ${result.p95Ms.toFixed(1)} ms (p95), page ${(result.memoryBytes / 1e6).toFixed(0)} MB`,
    );
    seen.push(result);
  }
  const [small, large] = seen;
  const verdict = (what: string, value: number, limit: number, unit: string): Verdict => ({
    what: `${what}, ${(large.events / 1e6).toFixed(1)} million events`,
    wanted: `under ${limit} ${unit}`,
    measured: `${value.toFixed(unit === 'ms' && value < 100 ? 1 : 0)} ${unit}`,
    met: value < limit,
  });
  return [
    verdict('first meaningful paint after the server has opened it', large.paintMs, 1500, 'ms'),
    verdict('median frame while panning and zooming', large.medianMs, 17, 'ms'),
    verdict('95 of 100 frames', large.p95Ms, 25, 'ms'),
    verdict('memory of the page', large.memoryBytes / 1e6, 600, 'MB'),
    {
      what: 'frames of ten times as many events (median and p95)',
      wanted: 'no longer than 1.25 times those of the smaller profile',
      measured: `${(large.medianMs / small.medianMs).toFixed(2)} and ${(large.p95Ms / small.p95Ms).toFixed(2)} times`,
      met: large.medianMs <= 1.25 * small.medianMs && large.p95Ms <= 1.25 * small.p95Ms,
    },
    ...(await benchOpening(executablePath)),
  ];
}

/** One profile, one fresh browser; the clock starts when the server reports that the profile is open. */
async function look(file: string, executablePath: string): Promise<Seen> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1580, height: 840 } });
  const server = spawn(
    process.execPath,
    [path.join(projectRoot, 'bin/stepscope'), 'view', file, '--no-open', '--json'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const { url } = (JSON.parse(String(line)) as { data: { url: string } }).data;
    const begun = performance.now();
    await page.goto(url);
    await page.locator('.timeline[data-ready=yes]').waitFor();
    const paintMs = performance.now() - begun;
    // Background loading after the first paint is not part of navigation.
    await page.waitForLoadState('networkidle');
    return {
      paintMs,
      ...framesOf(await moveThrough(page)),
      memoryBytes: largestRenderer(),
    };
  } finally {
    await browser.close();
    server.kill();
  }
}

/** Number of events of a file, and the time to build its timeline after reading: a part of opening it. */
async function timelineOf(file: string): Promise<{ events: number; timelineMs: number }> {
  const profile = await openProfile([file]);
  const begun = performance.now();
  viewProfile(profile, {}, '').timeline();
  const timelineMs = performance.now() - begun;
  return {
    events: tableNames.reduce((sum, name) => sum + (profile.tables[name]?.length ?? 0), 0),
    timelineMs,
  };
}

/** Resident memory of the largest renderer process. */
function largestRenderer(): number {
  let most = 0;
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) continue;
      const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
      most = Math.max(most, Number(resident?.[1] ?? 0) * 1024);
    } catch {
      // The process has ended.
    }
  }
  return most;
}
