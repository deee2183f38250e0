/** The page as people use it, in a real browser on real captures. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { Analyzer } from '../../src/analyze/analysis.js';
import { describePageAnswer } from '../../src/analyze/page.js';
import { openProfile } from '../../src/import/open.js';
import { capturePath, unlikeCaptures } from '../../src/testing/captures.js';
import {
  address,
  closeBrowser,
  inkOf,
  openPage,
  ready,
  serve,
  shoot,
  skip,
  until,
  windowOf,
} from './opened-page.js';

after(closeBrowser);

const capture = (name: string, file?: string) => ({ name, files: [capturePath(name, file)] });
const verdict = (page: Page) => page.locator('.verdict h1').innerText();

// A page in Chromium takes seconds: every second kind.
for (const name of unlikeCaptures.filter((_, i) => i % 2 === 0)) {
  test(`${name}: opens with its verdict and a timeline`, { skip }, async t => {
    const { url } = await serve(t, capture(name));
    const { page, trouble } = await openPage(t, url);
    const { answer } = describePageAnswer(new Analyzer(await openProfile([capturePath(name)])));
    assert.equal(await verdict(page), answer.lines[0]);
    const { colors, ink } = await inkOf(page);
    assert.ok(colors > 3, `${colors} colours`);
    assert.ok(ink > 0.005, `${ink} of the canvas is drawn on`);
    await page.locator('.panel').getByText(/./).first().waitFor();
    await shoot(page, `open-${name}`);
    assert.deepEqual(trouble, []);
  });
}

test('a PyTorch trace opens like an export, with its framework ops', { skip }, async t => {
  const { url } = await serve(t, capture('eager', 'kineto.json.gz'));
  const { page, trouble } = await openPage(t, url);
  assert.match(await verdict(page), /is launch-bound/);
  await page
    .getByRole('button', { name: /framework ops/ })
    .first()
    .waitFor();
  assert.deepEqual(trouble, []);
});

test('the strip is walked with the keyboard, and everything follows', { skip }, async t => {
  const { url } = await serve(t, capture('run-ahead'));
  const { page, trouble } = await openPage(t, url);
  assert.match(await verdict(page), /per step/);
  await page.keyboard.press('x');
  await until(page, `/prefill/i.test(document.querySelector('.verdict h1').innerText)`);
  const slowest = (await address(page)).get('steps');
  assert.equal(slowest, '7-7', 'warm-up steps are not the slowest');
  const selected = page.locator('.strip-selected');
  assert.match(await selected.innerText(), /iteration 7, prefill/);
  await page.keyboard.press('ArrowRight');
  assert.equal((await address(page)).get('steps'), '8-8');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal((await address(page)).get('steps'), '8-9');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('g');
  assert.match(await selected.innerText(), /decode/);
  await page.keyboard.press('m');
  assert.match(await selected.innerText(), /decode/);
  await page.keyboard.press('End');
  assert.equal((await address(page)).get('steps'), '20-20');
  await page.keyboard.press('Escape');
  assert.equal((await address(page)).get('steps'), null);
  await page.getByRole('button', { name: /slowest/ }).click();
  assert.equal((await address(page)).get('steps'), '7-7');
  assert.deepEqual(trouble, []);
});

test('brushing the strip selects a range of steps', { skip }, async t => {
  const { url } = await serve(t, capture('run-ahead'));
  const { page } = await openPage(t, url);
  const box = (await page.locator('.strip-bars').boundingBox())!;
  const at = (step: number) => box.x + (box.width * (step + 0.5)) / 21;
  await page.mouse.move(at(3), box.y + 20);
  await page.mouse.down();
  await page.mouse.move(at(5), box.y + 20, { steps: 4 });
  await page.mouse.up();
  assert.equal((await address(page)).get('steps'), '3-5');
});

test('keys, wheel and mouse move through the timeline', { skip }, async t => {
  const { url } = await serve(t, capture('run-ahead'));
  const { page, trouble } = await openPage(t, url);
  await page.keyboard.press('m');
  const first = await windowOf(page);
  await page.keyboard.down('w');
  await page.waitForTimeout(300);
  await page.keyboard.up('w');
  const zoomed = await windowOf(page);
  assert.ok(zoomed.to - zoomed.from < 0.7 * (first.to - first.from), 'W zooms in');
  await page.keyboard.down('d');
  await page.waitForTimeout(200);
  await page.keyboard.up('d');
  const moved = await windowOf(page);
  assert.ok(moved.from > zoomed.from, 'D moves right');
  assert.ok(Math.abs(moved.to - moved.from - (zoomed.to - zoomed.from)) <= 2, 'and keeps the zoom');
  const box = (await page.locator('.timeline-canvas').boundingBox())!;
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  const wheeled = await windowOf(page);
  assert.ok(wheeled.to - wheeled.from < moved.to - moved.from, 'Ctrl and wheel zoom in');
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 60, { steps: 5 });
  await page.mouse.up();
  const dragged = await windowOf(page);
  assert.ok(dragged.from < wheeled.from, 'dragging to the right shows what came before');
  await page.keyboard.press('0');
  const whole = await windowOf(page);
  assert.ok(whole.to - whole.from > 100 * (first.to - first.from), '0 shows everything');
  assert.deepEqual(trouble, []);
});

test('a stretch is measured with shift and the mouse', { skip }, async t => {
  const { url } = await serve(t, capture('eager'));
  const { page } = await openPage(t, url);
  await page.keyboard.press('m');
  const { from, to } = await windowOf(page);
  const box = (await page.locator('.timeline-canvas').boundingBox())!;
  const before = await inkOf(page);
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 200, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const now = await windowOf(page);
  assert.deepEqual([now.from, now.to], [from, to], 'measuring does not move the view');
  await page.waitForTimeout(100);
  assert.notDeepEqual(await inkOf(page), before);
  await shoot(page, 'measure');
});

test('searching counts, dims the rest and walks from match to match', { skip }, async t => {
  const { url } = await serve(t, capture('eager'));
  const { page, trouble } = await openPage(t, url);
  await page.keyboard.press('/');
  await page.keyboard.type('family:attention');
  const count = page.locator('.search .figure').first();
  await until(page, `/110/.test(document.querySelector('.search .figure')?.innerText ?? '')`);
  assert.match(await count.innerText(), /809 µs/);
  await page.keyboard.press('Enter');
  await page.locator('.panel').getByText('attention (cuDNN', { exact: false }).first().waitFor();
  const first = (await address(page)).get('event');
  await page.locator('.strip-bars').focus();
  await page.keyboard.press('n');
  const second = (await address(page)).get('event');
  assert.ok(first && second && first !== second);
  await shoot(page, 'search');
  await page.keyboard.press('/');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('dur>never');
  await page.getByRole('alert').getByText('not a duration').waitFor();
  // The one message is the browser's own about the answer 400.
  assert.ok(
    trouble.every(text => /400/.test(text)),
    trouble.join('\n'),
  );
});

test('a click selects an event: its details, and arrows between launch and kernel', { skip }, async t => {
  const { url } = await serve(t, capture('graph'));
  const { page, trouble } = await openPage(t, url);
  await page.keyboard.press('m');
  const box = (await page.locator('.timeline-canvas').boundingBox())!;
  const stream = (await page.getByRole('button', { name: 'stream 7' }).first().boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.6, stream.y + 10);
  await page.locator('.hover-card').getByText('graph · 1,016 nodes').waitFor();
  await page.mouse.click(box.x + box.width * 0.6, stream.y + 10);
  await page.locator('.panel').getByText('cudaGraphLaunch', { exact: false }).first().waitFor();
  await shoot(page, 'event');
  await page
    .locator('.panel')
    .getByRole('button', { name: /cudaGraphLaunch/ })
    .first()
    .click();
  await page
    .locator('.panel')
    .getByRole('button', { name: /nvjet|elementwise|kernel/ })
    .first()
    .waitFor();
  assert.deepEqual(trouble, []);
});

test('a finding shows its evidence in the timeline', { skip }, async t => {
  const { url } = await serve(t, capture('run-ahead'));
  const { page, trouble } = await openPage(t, url);
  const timeline = page.locator('.timeline');
  assert.equal(await timeline.getAttribute('data-highlights'), '0');
  const before = await inkOf(page);
  await page.locator('.card-head', { hasText: 'warm-up' }).click();
  await until(page, `document.querySelector('.timeline').dataset.highlights !== '0'`);
  assert.equal(await timeline.getAttribute('data-highlights'), '2', 'both warm-up steps are outlined');
  const { from, to } = await windowOf(page);
  assert.ok(to - from > 50e6, 'the first of them, of 106 ms, is in view');
  assert.notDeepEqual(await inkOf(page), before);
  await shoot(page, 'evidence');
  assert.deepEqual(trouble, []);
});

test('an address brings back the same view', { skip }, async t => {
  const { url } = await serve(t, capture('run-ahead'));
  const { page } = await openPage(t, url);
  await page.keyboard.press('x');
  await page.keyboard.down('w');
  await page.waitForTimeout(150);
  await page.keyboard.up('w');
  await page.getByRole('tab', { name: 'Kernels' }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('gemm');
  await page.waitForTimeout(400);
  const shared = page.url();
  const said = await verdict(page);
  // Another browser needs the key, which the address in the bar does not show.
  assert.doesNotMatch(shared, /token/);
  const { page: again, trouble } = await openPage(t, `${url}${new URL(shared).hash}`);
  await until(again, `/prefill/i.test(document.querySelector('.verdict h1').innerText)`);
  assert.equal(await verdict(again), said);
  await again.waitForTimeout(400);
  assert.equal(again.url(), shared);
  assert.equal(await again.getByRole('tab', { name: 'Kernels' }).getAttribute('aria-selected'), 'true');
  assert.equal(await again.locator('.search input').inputValue(), 'gemm');
  await again.reload();
  await ready(again);
  await again.waitForTimeout(400);
  assert.equal(again.url(), shared);
  // Nonsense in an address is passed over.
  const odd = `${url}#file=9%3Anothing&steps=99-1&window=NaN~x&panel=%3Cb%3E&event=1.2&q=%22%25`;
  const { page: wild } = await openPage(t, odd);
  assert.notEqual(await verdict(wild), '');
  assert.deepEqual(trouble, []);
});

test('two profiles move in lock step, and the difference adds up', { skip }, async t => {
  const { url } = await serve(t, capture('eager'), capture('graph'));
  const { page, trouble } = await openPage(t, url);
  await page.keyboard.press('m');
  await page.getByRole('tab', { name: 'Compare' }).click();
  await page.locator('.waterfall').first().waitFor();
  assert.equal(await page.locator('.timeline').count(), 2);
  const ticks = () =>
    page.evaluate(
      `[...document.querySelectorAll('.ruler')].map(ruler => [...ruler.children].map(tick => tick.innerText).join())`,
    );
  const [a, b] = (await ticks()) as string[];
  assert.equal(a, b, 'both count from the start of their step');
  await page.keyboard.down('a');
  await page.waitForTimeout(200);
  await page.keyboard.up('a');
  const [c, d] = (await ticks()) as string[];
  assert.equal(c, d);
  assert.notEqual(a, c);
  const terms = JSON.parse(
    await page.evaluate(`fetch('/api/compare?a=1&b=2&stepA=3&stepB=3').then(answer => answer.text())`),
  ).blocks.find((block: { kind: string }) => block.kind === 'waterfall');
  const sum = terms.terms.reduce((total: number, term: { changeNs: number }) => total + term.changeNs, 0);
  assert.equal(sum, terms.to.ns - terms.from.ns);
  assert.match(await page.locator('.panel').innerText(), /launch-bound/);
  await shoot(page, 'compare');
  assert.deepEqual(trouble, []);
});

/** Drops a file onto the page as a mouse would. */
async function drop(page: Page, name: string, bytes: Buffer, x = 300): Promise<void> {
  await page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(bytes.toString('base64'))}), letter => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], ${JSON.stringify(name)}));
    const at = { bubbles: true, cancelable: true, dataTransfer: transfer, clientX: ${x}, clientY: 400 };
    for (const kind of ['dragenter', 'dragover', 'drop'])
      document.elementFromPoint(${x}, 400).dispatchEvent(new DragEvent(kind, at));
  })()`);
}

test('a dropped file opens, on an empty page and in place of another', { skip }, async t => {
  const { url } = await serve(t);
  const { page, trouble } = await openPage(t, url, { empty: true });
  await page.locator('.drop-area').waitFor();
  await shoot(page, 'empty');
  await drop(page, 'mine.sqlite.gz', readFileSync(capturePath('gc')));
  await ready(page);
  assert.match(await verdict(page), /garbage collection/);
  assert.equal((await address(page)).get('file'), '1:mine.sqlite.gz', 'an empty start writes it too');
  await drop(page, 'other.json.gz', readFileSync(capturePath('eager', 'kineto.json.gz')));
  await until(page, `/is launch-bound/.test(document.querySelector('.verdict h1')?.innerText ?? '')`);
  assert.deepEqual(trouble, []);
});

test('a broken file shows what is wrong and what to do, and leaves what is there', { skip }, async t => {
  const { url } = await serve(t, capture('graph'));
  const { page, trouble } = await openPage(t, url);
  await drop(page, 'holiday.jpg', Buffer.from('not a profile at all'));
  const failed = page.locator('.trouble');
  await failed.waitFor();
  const text = await failed.innerText();
  assert.match(text, /holiday\.jpg is not a profile in a supported format\./);
  assert.match(text, /Supported formats/);
  await shoot(page, 'broken');
  assert.match(await verdict(page), /./, 'what was there stays');
  await failed.getByRole('button', { name: /close/i }).click();
  await failed.waitFor({ state: 'hidden' });
  assert.ok(
    trouble.every(line => /422/.test(line)),
    trouble.join('\n'),
  );
  const cut = readFileSync(capturePath('eager', 'kineto.json.gz'));
  await drop(page, 'cut.json.gz', cut.subarray(0, cut.length >> 1));
  await until(page, `/cut off or damaged/.test(document.querySelector('.verdict h1')?.innerText ?? '')`);
});

test('hostile names stay text', { skip }, async t => {
  const evil = '<img src=x onerror="window.owned=1"><script>window.owned=2</script>';
  const event = (cat: string, name: string, pid: number, ts: number, more: object) => ({
    ...{ ph: 'X', cat, name, pid, tid: 7, ts, dur: 40 },
    args: { device: 0, stream: 7, correlation: ts, ...more },
  });
  const trace = {
    deviceProperties: [{ id: 0, name: evil }],
    traceEvents: [
      { ph: 'M', name: 'process_name', pid: 50, tid: 0, ts: 0, args: { name: evil } },
      { ph: 'M', name: 'thread_name', pid: 50, tid: 7, ts: 0, args: { name: evil } },
      ...[0, 1, 2, 3].flatMap(i => [
        event('user_annotation', `${evil} ${i}`, 50, 1000 + i * 100, {}),
        event('cuda_runtime', 'cudaLaunchKernel', 50, 1010 + i * 100, { correlation: i + 1 }),
        event('kernel', `${evil}<int>`, 0, 1050 + i * 100, { correlation: i + 1 }),
      ]),
    ],
  };
  const file = path.join(tmpdir(), `stepscope-hostile-${process.pid}.json.gz`);
  writeFileSync(file, gzipSync(JSON.stringify(trace)));
  t.after(() => import('node:fs').then(fs => fs.rmSync(file)));
  const { url } = await serve(t, { name: evil, files: [file] });
  const { page, trouble } = await openPage(t, url);
  for (const tab of ['Kernels', 'Step', 'Families', 'Findings'])
    await page.getByRole('tab', { name: tab }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('onerror');
  await page.waitForTimeout(400);
  await page.keyboard.press('Enter');
  await page.locator('.panel').getByText('onerror', { exact: false }).first().waitFor();
  assert.equal(await page.evaluate('window.owned'), undefined);
  assert.equal(await page.locator('img, script:not([src])').count(), 0);
  assert.deepEqual(trouble, []);
});

test('the selection is saved as a trace, as CSV and as a picture', { skip }, async t => {
  const { url } = await serve(t, capture('eager'));
  const { page, trouble } = await openPage(t, url);
  await page.keyboard.press('m');
  const save = async (name: RegExp) => {
    await page.getByRole('button', { name: 'Save' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name }).or(page.locator('.menu').getByText(name)).first().click(),
    ]);
    return { name: download.suggestedFilename(), bytes: readFileSync((await download.path())!) };
  };
  const trace = await save(/trace/i);
  assert.ok(JSON.parse(trace.bytes.toString()).traceEvents.length > 2000);
  const csv = await save(/CSV/);
  assert.match(csv.bytes.toString(), /^group,track,start_ns,duration_ns,kind,label,name\n/);
  const png = await save(/picture|PNG/i);
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.match(png.name, /\.png$/);
  // Twice the pixels of the page's timeline, with its names.
  assert.ok(png.bytes.readUInt32BE(16) > 2 * 1000, `${png.bytes.readUInt32BE(16)} pixels wide`);
  const svg = (await save(/SVG/)).bytes.toString();
  assert.match(svg, /<title>.*launch-bound/);
  for (const text of ['idle, by cause', 'attention', '10 ms'])
    assert.ok(svg.includes(`>${text}</text>`), text);
  assert.deepEqual(trouble, []);
});

test('tracks are filtered, folded and pinned; colours light up', { skip }, async t => {
  const { url } = await serve(t, capture('gil'));
  const { page, trouble } = await openPage(t, url);
  const names = () => page.locator('.track-name .fold').allInnerTexts();
  const all = (await names()).length;
  // Names that do not fit keep a beginning and their whole end.
  const lost = `[...document.querySelectorAll('.fold .cut')].filter(({ firstChild, lastChild }) =>
    firstChild.clientWidth < 20 || lastChild.scrollWidth > lastChild.clientWidth).map(one => one.innerText)`;
  assert.deepEqual(await page.evaluate(lost), []);
  await page.getByRole('searchbox', { name: /tracks/ }).fill('gil');
  assert.ok((await names()).every(name => /gil/i.test(name)) && (await names()).length > 0);
  await page.getByRole('searchbox', { name: /tracks/ }).fill('');
  assert.equal((await names()).length, all);
  const idle = page.getByRole('button', { name: 'idle, by cause', exact: false }).first();
  await idle.click();
  assert.equal(await idle.getAttribute('aria-expanded'), 'false');
  await page.getByRole('button', { name: 'Pin idle, by cause' }).click();
  assert.match((await page.locator('.group-name').first().innerText()).trim(), /Pinned/);
  const before = await inkOf(page);
  await page.locator('.legend button', { hasText: 'attention' }).first().click();
  await page.waitForTimeout(100);
  assert.notDeepEqual(await inkOf(page), before);
  assert.deepEqual(trouble, []);
});

test('help on ?, themes on t, and both themes are drawn', { skip }, async t => {
  const { url } = await serve(t, capture('eager'));
  const { page, trouble } = await openPage(t, url, { colorScheme: 'light' });
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('zoom in').waitFor();
  await shoot(page, 'help');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const paper = () => page.evaluate(`getComputedStyle(document.body).backgroundColor`);
  const light = await paper();
  // A lane without events is paper, not the grey that stands for a colour nobody could read.
  const corner = `(() => { const c = document.querySelector('canvas.timeline-canvas, .timeline canvas, canvas:last-of-type');
    return [...c.getContext('2d').getImageData(c.width - 4, c.height - 4, 1, 1).data].join(); })()`;
  assert.notEqual(await page.evaluate(corner), '128,128,128,255');
  await page.keyboard.press('t');
  assert.notEqual(await paper(), light);
  await page.waitForTimeout(150);
  await shoot(page, 'dark');
  assert.ok((await inkOf(page)).colors > 3);
  await page.reload();
  await ready(page);
  assert.notEqual(await paper(), light, 'the choice is kept');
  assert.deepEqual(trouble, []);
});

test('axe finds nothing, in both themes, on every state', { skip }, async t => {
  const axe = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
  let isDark = false;
  const check = async (page: Page, state: string) => {
    await page.addScriptTag({ content: axe });
    // In the dark only colours differ.
    const rules = isDark
      ? "{ runOnly: ['color-contrast'] }"
      : "{ rules: { 'target-size': { enabled: true } } }";
    const found = (await page.evaluate(`axe.run(${rules}).then(({ violations }) => violations
      .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(node => node.html).join(' | ')))`)) as string[];
    assert.deepEqual(found, [], state);
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    isDark = colorScheme === 'dark';
    const options = { colorScheme, bypassCSP: true };
    const { url } = await serve(t, capture('run-ahead'));
    const { page } = await openPage(t, url, options);
    await check(page, `${colorScheme}: findings`);
    await page.keyboard.press('x');
    for (const tab of await page.getByRole('tab').allInnerTexts()) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await page.waitForTimeout(250);
      await check(page, `${colorScheme}: ${tab}`);
    }
    await page.keyboard.press('?');
    await check(page, `${colorScheme}: help`);
    const both = await serve(t, capture('eager'), capture('graph'));
    const { page: compared } = await openPage(t, both.url, options);
    await check(compared, `${colorScheme}: compare`);
    const none = await serve(t);
    const { page: empty } = await openPage(t, none.url, { ...options, empty: true });
    await empty.locator('.drop-area').waitFor();
    await check(empty, `${colorScheme}: empty`);
  }
});
