/** `stepscope report`: the page is one safe file, and in a browser it looks as it should. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { Analyzer } from '../src/analyze/analysis.js';
import type { Block, FindingsBlock } from '../src/analyze/block.js';
import { metricSeries } from '../src/analyze/gpu/metric-series.js';
import { topKernels } from '../src/analyze/gpu/top-kernels.js';
import { analyses } from '../src/analyze/index.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { openProfile } from '../src/import/open.js';
import { blockToHtml } from '../src/report/html/blocks.js';
import { Cutter, levels } from '../src/report/html/limits.js';
import { type Assets, fitPage, pageOf } from '../src/report/html/page.js';
import { composeReport } from '../src/report/html/sections.js';
import { budgetStack, stepStrip } from '../src/report/html/step-charts.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { drawProfile } from '../src/testing/drawn-profile.js';
import { lacks, locate } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';

const captures = ['eager', 'graph', 'graphmode', 'client', 'membound', 'run-ahead', 'two-processes'];
const ofSteps = ['step-strip', 'budget-stack'];
/** Which charts each capture can fill, in the order of the page. */
const charts: Record<string, readonly string[]> = {
  eager: [...ofSteps, 'families-decode'],
  graph: [...ofSteps, 'families-decode'],
  graphmode: ofSteps,
  client: [],
  membound: [...ofSteps, 'families-decode', 'metrics-0-shares', 'metrics-0-clocks'],
  'run-ahead': [...ofSteps, 'families-decode', 'families-prefill', 'metrics-0-shares', 'metrics-0-clocks'],
  'two-processes': ['families-all', 'memory'],
};
/** Kept for looking at when REPORT_FOLDER names a folder. */
const folder = process.env.REPORT_FOLDER ?? mkdtempSync(path.join(tmpdir(), 'stepscope-report-'));
const inFolder = (name: string) => path.join(folder, name);

const builtForReports = (name: string) => readFileSync(path.join(projectRoot, 'dist/report', name), 'utf8');

const assets: Assets = {
  flame: { script: builtForReports('flame.js'), style: builtForReports('flame.css') },
  chartJs: readFileSync(path.join(projectRoot, 'node_modules/chart.js/dist/chart.umd.js'), 'utf8'),
  sha256: text => createHash('sha256').update(text).digest('base64'),
  madeBy: 'a test',
};

const executable = locate('browser');
const skip = lacks('browser');

let browser: Browser;
before(async () => {
  if (executable) browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  if (!process.env.REPORT_FOLDER) rmSync(folder, { recursive: true });
});

const stepscope = (...args: string[]) => runStepscope(args);

interface Opened {
  readonly page: Page;
  /** Everything that went wrong or left the page. */
  readonly trouble: string[];
}

async function open(file: string, width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const trouble: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error') trouble.push(message.text());
  });
  page.on('pageerror', error => trouble.push(error.message));
  page.on('request', request => {
    if (!request.url().startsWith('file:')) trouble.push(`request for ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  // Not by waitForFunction: the page's policy lets nobody evaluate text.
  await page.locator('html[data-ready=yes]').waitFor({ state: 'attached' });
  return { page, trouble };
}

/** Runs in the browser; text, because the compiler of the tests knows no DOM. */
const measure = `(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color !== 'transparent' && !/, 0\\)$/.test(color)) return rgb(color);
    }
    return [255, 255, 255];
  };
  const contrast = element => {
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(paper(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const blank = canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4 * 7)
      if (data[i + 3] > 200) colors.add(data[i] + ',' + data[i + 1] + ',' + data[i + 2]);
    return colors.size < 2;
  };
  const boxes = [...document.querySelectorAll('header, nav, main > section, footer')].map(element => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    return { name: element.id || element.tagName, top, bottom, left, right };
  });
  const texts = [...document.querySelectorAll('body, h1, h2, h3, h4, p, dt, dd, th, td, li, a, summary, button, .tag, .muted')]
    .filter(element => element.offsetParent && !element.closest('details:not([open]) > :not(summary)'));
  const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map(element => Number(element.tagName[1]));
  return {
    width: document.documentElement.scrollWidth,
    inner: innerWidth,
    boxes,
    charts: [...document.querySelectorAll('canvas[data-chart]')].map(canvas => canvas.dataset.chart),
    blank: [...document.querySelectorAll('canvas')].filter(one => one.checkVisibility()).filter(blank).map(canvas => canvas.dataset.chart),
    unnamed: [...document.querySelectorAll('canvas')].filter(one => one.checkVisibility()).filter(one => one.getAttribute('role') !== (one.dataset.chart ? 'img' : 'application') || !one.getAttribute('aria-label')).length,
    contrast: Math.min(...texts.map(contrast)),
    poorest: texts.filter(element => contrast(element) < 4.5).slice(0, 3).map(element => element.outerHTML.slice(0, 120)),
    levels,
    bare: [...document.querySelectorAll('table')].filter(table => !table.caption || !table.querySelector('th[scope=col]')).length,
    hacked: typeof window.hacked,
  };
})()`;

interface Measured {
  readonly width: number;
  readonly inner: number;
  readonly boxes: readonly { name: string; top: number; bottom: number; left: number; right: number }[];
  readonly charts: readonly string[];
  readonly blank: readonly string[];
  readonly unnamed: number;
  readonly contrast: number;
  readonly poorest: readonly string[];
  readonly levels: readonly number[];
  readonly bare: number;
  readonly hacked: string;
}

async function holds({ page, trouble }: Opened, where: string): Promise<Measured> {
  const found = (await page.evaluate(measure)) as Measured;
  assert.deepEqual(trouble, [], where);
  assert.ok(found.width <= found.inner, `${where}: ${found.width} px wide in ${found.inner}`);
  assert.deepEqual(found.blank, [], `${where}: charts left blank`);
  assert.equal(found.unnamed, 0, `${where}: charts without a name`);
  assert.ok(found.contrast >= 4.5, `${where}: contrast ${found.contrast} of ${found.poorest.join(' ')}`);
  assert.equal(found.bare, 0, `${where}: tables without caption or headers`);
  assert.equal(found.levels.filter(level => level === 1).length, 1, `${where}: one h1`);
  found.levels.forEach((level, i) => {
    assert.ok(i === 0 || level <= found.levels[i - 1] + 1, `${where}: heading ${i} skips a level`);
  });
  for (const [i, box] of found.boxes.entries()) {
    assert.ok(box.bottom > box.top && box.left >= 0 && box.right <= found.inner, `${where}: ${box.name}`);
    if (i > 0) assert.ok(box.top >= found.boxes[i - 1].bottom - 1, `${where}: ${box.name} overlaps`);
  }
  return found;
}

for (const name of captures) {
  test(`the report of ${name} is one file that asks for nothing`, async () => {
    const file = inFolder(`${name}.html`);
    const { status, err } = await stepscope('report', capturePath(name), '-o', file, '--force');
    assert.equal(status, 0);
    assert.match(err, /wrote .*\.html \(\d+ kB\)/);
    assert.ok(statSync(file).size < 5e6);
    const text = readFileSync(file, 'utf8');
    const markup = text.replace(/<script[^>]*>[\s\S]*?<\/script>/g, '');
    assert.doesNotMatch(markup, /\b(?:src|href|action|data|poster)\s*=\s*["']?(?!#)[^"'>\s]*[:/]/i);
    assert.doesNotMatch(markup, /@import|url\((?!#idle-)|<link|<iframe|<img|\son\w+=|\sstyle=/i);
    assert.match(text, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
    assert.equal(text.match(/Chart\.js v4/g)?.length, 1);
  });
}

test('the reports hold in a browser, narrow and wide, light and dark', { skip }, async () => {
  const shapes = captures.map((name): [string, number, 'light' | 'dark'] => [name, 1280, 'light']);
  shapes.push(['eager', 390, 'dark'], ['membound', 390, 'light'], ['membound', 1280, 'dark']);
  shapes.push(['run-ahead', 390, 'dark'], ['client', 390, 'light'], ['membound', 1600, 'light']);
  for (const [name, width, scheme] of shapes) {
    const where = `${name} ${width} ${scheme}`;
    const opened = await open(inFolder(`${name}.html`), width, scheme);
    const found = await holds(opened, where);
    assert.deepEqual(found.charts, charts[name], where);
    if (process.env.REPORT_FOLDER)
      await opened.page.screenshot({ path: inFolder(`${where.replaceAll(' ', '-')}.png`), fullPage: true });
    await opened.page.close();
  }
});

test('a comparison is a page like any other', { skip }, async () => {
  const file = inFolder('comparison.html');
  const files = ['eager', 'graph', 'moe-learned'].map(name => capturePath(name));
  assert.equal((await stepscope('compare', ...files, '--html', file)).status, 0);
  for (const [width, scheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    const opened = await open(file, width, scheme);
    const found = await holds(opened, `comparison ${width} ${scheme}`);
    assert.equal(found.charts.length, 4);
    await opened.page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    await holds(opened, `comparison ${width} ${scheme}, everything open`);
    await opened.page.close();
  }
});

test('theme, series, tables and printing work', { skip }, async () => {
  const opened = await open(inFolder('membound.html'), 1280, 'light');
  const { page } = opened;
  const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const bright = await paper();
  await page.click('[data-theme-toggle]');
  assert.notEqual(await paper(), bright);
  await holds(opened, 'dark by the button');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await paper(), bright, 'paper is white');
  assert.equal(await page.isVisible('[data-theme-toggle]'), false);
  assert.equal(await page.isVisible('canvas[data-chart=step-strip]'), true);
  await page.emulateMedia({ media: 'screen' });
  await page.click('nav a[href="#metrics"]');
  await page.locator('#metrics > details[open]').waitFor();
  const series = page.locator('figure:has([data-chart^=metrics]) [data-series]').first();
  const pressed = await series.getAttribute('aria-pressed');
  await series.focus();
  await page.keyboard.press('Enter');
  assert.notEqual(await series.getAttribute('aria-pressed'), pressed);
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  await holds(opened, 'with everything open');
  await page.mouse.move(0, 0);
  await page.locator('canvas[data-chart=step-strip]').hover({ position: { x: 300, y: 150 } });
  await holds(opened, 'with a tooltip');
  await page.close();
});

const finding: FindingsBlock = {
  kind: 'findings',
  per: 'per step',
  id: 'findings',
  title: 'Findings',
  findings: (['high', 'medium', 'low'] as const).map(severity => ({
    id: `rule-${severity}`,
    claim: `The host launches kernels one by one (${severity}).`,
    phase: 'decode',
    severity,
    costNs: 21.1e6,
    costShare: 0.89,
    gain: { nsPerStep: 18e6, throughput: 3.2, how: 'idle that graphs remove' },
    confidence: 'likely',
    evidence: [{ text: 'launch <b>bound</b>', numerator: 21.1e6, denominator: 23.7e6, unit: 'ns' }],
    advice: [
      { engine: 'any', text: 'Replay decode steps as CUDA graphs.' },
      { engine: 'vLLM', text: 'Leave out --enforce-eager.' },
    ],
    confirm: 'nsys profile --cuda-graph-trace=node -t cuda,nvtx python serve.py --a-rather-long-option=value',
  })),
  more: 2,
  unmeasured: [{ rule: 'gil', what: 'the GIL', hint: 'nsys -t python-gil' }],
};

test('every kind of block is drawn, its text as text', () => {
  const hostile = '<img src=x onerror=alert(1)>"\'&';
  const blocks: Block[] = [
    {
      kind: 'table',
      id: 't',
      title: hostile,
      rows: 1,
      columns: [{ header: hostile, kind: 'text', values: [hostile] }],
    },
    { kind: 'table', id: 't', title: hostile, rows: 0, columns: [] },
    { kind: 'not-recorded', id: 'n', title: hostile, what: hostile, hint: hostile },
    {
      kind: 'facts',
      id: 'f',
      title: hostile,
      facts: [{ label: hostile, text: hostile, hint: hostile, tone: 'bad' }],
    },
    { kind: 'statement', id: 's', title: hostile, lines: [hostile, hostile] },
    {
      kind: 'bars',
      id: 'b',
      title: hostile,
      caption: hostile,
      rows: [{ label: hostile, depth: 1, ns: 1, share: 0.5, color: hostile }],
    },
    {
      ...finding,
      title: hostile,
      findings: finding.findings.map(one => ({ ...one, claim: hostile, confirm: hostile })),
    },
  ];
  for (const block of blocks) {
    const markup = blockToHtml(block);
    assert.doesNotMatch(markup, /<img/, block.kind);
    assert.ok(markup.includes('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;'), block.kind);
  }
});

test('findings are cards with a command to copy', { skip }, async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('eager')]));
  const cutter = new Cutter(levels[0]);
  const report = composeReport(analyzer, analyses, cutter);
  const section = { id: 'findings', title: 'Findings', pieces: [{ kind: 'block', block: finding } as const] };
  const sections = [section, ...report.sections.filter(({ id }) => id !== 'findings')];
  writeFileSync(inFolder('findings.html'), pageOf({ ...report, sections }, cutter, assets));
  for (const [width, scheme] of [
    [1280, 'dark'],
    [390, 'light'],
  ] as const) {
    const opened = await open(inFolder('findings.html'), width, scheme);
    await holds(opened, `findings ${width}`);
    assert.equal(await opened.page.locator('.card').count(), 3);
    if (process.env.REPORT_FOLDER) await opened.page.screenshot({ path: inFolder(`findings-${width}.png`) });
    await opened.page.click('[data-copy] >> nth=0');
    await opened.page.getByText(/^(Copied|Selected)$/).waitFor();
    await opened.page.close();
  }
});

test('names from strangers stay names', { skip }, async () => {
  const script = '</script><script>window.hacked=1</script>';
  const image = '<img src=x onerror=window.hacked=1>';
  // A marker of vLLM whose numbers are not numbers: the page quotes it.
  const marker = `execute_context_0(${image}<!--<script>)_generation_8(${script})`;
  const long = `void ${'x'.repeat(5_000_000)}<!--`;
  const drawing = `
    cpu   abcdeabcdeabcde
    gpu   .aabbccddee.aabbccddee.aabbccddee
    nvtx  RRRRRRRRRRRSSSSSSSSSSSTTTTTTTTTTT
    a = ${image}
    b = ${script}
    c = "'\`\${window.hacked=1}&lt;\u202egnp.exe\u200f\u0007
    d = ${long}
    e = שלום <svg onload=window.hacked=1>
    R = ${marker}
    S = ${marker}
    T = ${marker}`;
  const analyzer = new Analyzer(drawProfile(drawing), { whole: true });
  const page = fitPage(cutter => composeReport(analyzer, analyses, cutter), assets);
  assert.ok(page.length < 5e6, `${page.length}`);
  const file = inFolder('hostile.html');
  writeFileSync(file, page);
  const opened = await open(file);
  const found = await holds(opened, 'hostile names');
  assert.equal(found.hacked, 'undefined');
  const text = String(await opened.page.evaluate('document.body.textContent'));
  for (const name of [image, script, marker, 'characters omitted', 'שלום'])
    assert.ok(text.includes(name), name);
  for (const mark of ['\u202e', '\u200f', '\u0007']) assert.ok(!text.includes(mark));
  await opened.page.close();
});

test('a page over its size is cut and says so', async () => {
  const file = inFolder('cut.html');
  const cut = await stepscope('report', capturePath('membound'), '-o', file, '--max-size', '0.38', '--force');
  assert.equal(cut.status, 0, cut.err);
  assert.ok(statSync(file).size <= 0.38e6);
  assert.match(readFileSync(file, 'utf8'), /Truncated to stay under 0\.38 MB: tables to \d+ rows/);
  if (executable) {
    const opened = await open(file, 390);
    await holds(opened, 'cut');
    await opened.page.close();
  }
  const least = await stepscope(
    'report',
    capturePath('membound'),
    '-o',
    file,
    '--max-size',
    '0.1',
    '--force',
  );
  assert.equal(least.status, 2);
  assert.match(least.err, /cannot be that small: the minimum is 0\.\d+ MB/);
});

test('thousands of steps become bars that fit', async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('eager')]));
  const [step] = analyzer.get(iterations).rows;
  const [budget] = analyzer.get(stepBudget).rows;
  const many = Array.from({ length: 5000 }, (_, i) => i);
  const cutter = new Cutter(levels[0]);
  const strip = stepStrip(
    many.map(i => ({ ...step, iteration: i, wallNs: i === 1234 ? 9e9 : step.wallNs })),
    cutter,
  )!;
  assert.ok(strip.data.labels!.length <= 600);
  assert.ok(strip.data.labels!.includes('1234'), 'the slowest step survives');
  const stack = budgetStack(
    many.map(i => ({ ...budget, key: `iteration:${i}@${i}/device:0`, iteration: i })),
    cutter,
  )!;
  assert.ok(stack.data.labels!.length <= 600);
  const sum = stack.data.datasets.reduce((total, { data }) => total + (data[7] as number), 0);
  assert.ok(Math.abs(sum - budget.wallNs) <= stack.data.datasets.length, 'means still add up');
  assert.equal(cutter.points, 2);
});

test('the command: Markdown, JSON, and mistakes in two lines', async () => {
  const file = inFolder('report.md');
  const md = await stepscope('report', capturePath('eager'), '--markdown', '-o', file, '--force');
  assert.equal(md.status, 0);
  const text = readFileSync(file, 'utf8');
  for (const part of [
    /Decode is launch-bound: 1,016 kernel launches, no CUDA graphs/,
    /\(`top-kernels`\)/,
    /\(`iterations`\)/,
    /\(`recorded`\)/,
  ])
    assert.match(text, part);
  const own = await stepscope('report', capturePath('eager'), '--json');
  const analyze = await stepscope('analyze', capturePath('eager'), '--json');
  assert.deepEqual(JSON.parse(own.out), JSON.parse(analyze.out));
  assert.match((await stepscope('report', '--help')).out, /examples:[\s\S]*--markdown/);
  for (const [args, message] of [
    [['report'], /No profile was given/],
    [['report', capturePath('eager'), '-o', file], /already exists[\s\S]*--force/],
    [['report', capturePath('eager'), '--max-size', 'big'], /not a size in MB/],
    [['report', capturePath('eager'), '-o', inFolder('no/such/folder.html')], /cannot be written/],
  ] as const) {
    const { status, err } = await stepscope(...args);
    assert.equal(status, 2, args.join(' '));
    assert.match(err, message);
    assert.equal(err.trim().split('\n').length, 2, err);
  }
});

test('top kernels: order, shares, quantiles and bins agree with the durations', async () => {
  for (const name of ['eager', 'membound', 'run-ahead']) {
    const { rows, summary = {} } = new Analyzer(await openProfile([capturePath(name)])).get(topKernels);
    assert.ok(rows.length > 5, name);
    rows.forEach((row, i) => {
      assert.ok(i === 0 || row.totalNs <= rows[i - 1].totalNs);
      assert.equal(
        row.histogram.reduce((sum, bin) => sum + bin.count, 0),
        row.count,
      );
      assert.ok(row.minNs <= row.medianNs && row.medianNs <= row.p95Ns && row.p95Ns <= row.maxNs, row.kernel);
      assert.ok(Math.abs(row.meanNs * row.count - row.totalNs) < 1);
      assert.equal(row.share, row.totalNs / (summary.totalNs as number));
    });
  }
  const drawn = new Analyzer(drawProfile('cpu abcdefg\ngpu .aabb.cccc.dddddddd'), { whole: true });
  assert.deepEqual(
    drawn.get(topKernels).rows.map(row => [row.kernel, row.count, row.totalNs]),
    [
      ['d', 1, 80],
      ['c', 1, 40],
      ['a', 1, 20],
      ['b', 1, 20],
    ],
  );
});

test('metric series stay inside the selected span and are thin', async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('membound')]));
  const { rows } = analyzer.get(metricSeries);
  const windows = analyzer.get(stepBudget).rows;
  assert.ok(rows.length > 5);
  for (const row of rows) {
    assert.ok(row.series.length > 1 && row.series.length <= 600);
    assert.ok(row.startNs >= windows[0].startNs && row.endNs <= windows[windows.length - 1].endNs);
    assert.ok(row.series.every((point, i) => i === 0 || point.atNs > row.series[i - 1].atNs));
    assert.ok(row.mean <= row.highest);
  }
  const sm = rows.find(row => row.metric === 'SMs active')!;
  assert.ok(Math.abs(sm.series.reduce((sum, { value }) => sum + value, 0) / sm.series.length - sm.mean) < 2);
});
