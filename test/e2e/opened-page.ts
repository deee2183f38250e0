/** A real server, a real browser and the page between them, for tests that use it as a person would. */
import { existsSync, mkdirSync } from 'node:fs';
import * as path from 'node:path';
import type { TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { hasDuckDb } from '../../src/disk/open-duckdb.js';
import type { Profile } from '../../src/model/profile.js';
import { DroppedFiles } from '../../src/server/dropped-file.js';
import { OpenProfiles } from '../../src/server/open-profiles.js';
import { openViewed } from '../../src/server/open-viewed.js';
import { SelectionSql } from '../../src/server/selection-sql.js';
import { startServer } from '../../src/server/server.js';
import { readStaticFiles } from '../../src/server/static-files.js';
import { projectRoot } from '../../src/testing/captures.js';
import { lacks, locate } from '../../src/testing/needs.js';
import { viewProfile } from '../../src/timeline/view-profile.js';

const executablePath = locate('browser');
export const skip = lacks('browser');
/** Screenshots are kept where VIEW_FOLDER says. */
const folder = process.env.VIEW_FOLDER;

let browser: Promise<Browser> | undefined;
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
}

export interface Served {
  readonly url: string;
}

interface ServedRun {
  readonly name: string;
  readonly files: string[];
  /** In place of what is in the files. */
  readonly profile?: Profile;
  /** Where notes are kept. */
  readonly beside?: string;
}

/** Each list of files is one profile; two are compared. */
export async function serve(t: TestContext, ...runs: ServedRun[]): Promise<Served> {
  const profiles = new OpenProfiles();
  const ids: number[] = [];
  for (const { name, files, profile, beside } of runs) {
    const view = async () =>
      profile ? viewProfile(profile, {}, name) : { ...(await openViewed(files, {})), name };
    ids.push(await profiles.open(name, view, { files, beside }));
  }
  const server = await startServer({
    version: 'test',
    profiles,
    compare: ids.length === 2 ? [ids[0], ids[1]] : null,
    dropped: new DroppedFiles(),
    ...(hasDuckDb() ? { sql: new SelectionSql() } : {}),
    page: readStaticFiles(path.join(projectRoot, 'dist/web/')),
    host: '127.0.0.1',
    port: 0,
    openDropped: (file, name, told) => openViewed([file], {}, { name, ...told }),
  });
  t.after(() => server.stop());
  return { url: server.url };
}

export interface Opened {
  readonly page: Page;
  /** Everything that went wrong or left the page. */
  readonly trouble: string[];
}

export async function openPage(
  t: TestContext,
  url: string,
  options: BrowserContextOptions & { readonly empty?: boolean; readonly script?: string } = {},
): Promise<Opened> {
  browser ??= chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const { empty, script, ...context } = options;
  const page = await (await browser).newPage({ viewport: { width: 1580, height: 840 }, ...context });
  t.after(() => page.close());
  const trouble: string[] = [];
  page.on('console', message => {
    // Reading pixels back is what the tests do, not the page.
    if (/getImageData/.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') trouble.push(message.text());
  });
  page.on('pageerror', error => trouble.push(error.message));
  page.on('dialog', dialog => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', request => {
    if (!request.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(request.url()))
      trouble.push(`request for ${request.url()}`);
  });
  // Before any of the page's own.
  if (script) await page.addInitScript(script);
  await page.goto(url);
  if (!empty) await ready(page);
  return { page, trouble };
}

/** Waits until an expression holds. Not by waitForFunction: the page's policy lets nobody evaluate text. */
export async function until(page: Page, expression: string): Promise<void> {
  for (const end = Date.now() + 10_000; ; await page.waitForTimeout(50)) {
    if (await page.evaluate(expression)) return;
    if (Date.now() > end) throw new Error(`never came true: ${expression}`);
  }
}

/** The timeline is drawn and the verdict is there. */
export async function ready(page: Page): Promise<void> {
  await page.locator('.timeline[data-ready=yes]').first().waitFor();
  await page.locator('.verdict h1:not(:has(.skeleton-line))').waitFor();
}

export async function shoot(page: Page, name: string): Promise<void> {
  if (!folder) return;
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

/** What the address says, once it has settled. */
export async function address(page: Page): Promise<URLSearchParams> {
  // On the page's own clock: its timer for the address was set before this one and is shorter.
  await page.evaluate('new Promise(done => setTimeout(done, 300))');
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}

export async function windowOf(page: Page): Promise<{ from: number; to: number }> {
  // The address follows the view with a delay.
  for (const end = Date.now() + 10_000; ; await page.waitForTimeout(50)) {
    const [from, to] = ((await address(page)).get('window') ?? '').split('~').map(Number);
    if (to !== undefined) return { from, to };
    if (Date.now() > end) throw new Error('the address never had a window');
  }
}

/** How many different colours the timeline shows, how much of it is not paper, and a sum that tells pictures apart. */
export function inkOf(page: Page): Promise<{ colors: number; ink: number; sum: number }> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('.timeline-canvas canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    const counts = new Map();
    let sum = 0;
    for (const pixel of pixels) {
      counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
      sum = (Math.imul(sum, 31) + pixel) | 0;
    }
    const paper = Math.max(...counts.values());
    return { colors: counts.size, ink: 1 - paper / pixels.length, sum };
  })()`);
}
