/** What a terminal, a pipe and a file are given: colours, whole words, names that keep both ends, and widths. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import type { BarsBlock, TableBlock } from '../src/analyze/block.js';
import { causeColors, workColors } from '../src/catalog/palette.js';
import { colorsOf } from '../src/cli/output.js';
import { cutAfterWord, PIPE_WIDTH, shorten, widthOf, wrap, wrapLines } from '../src/report/terminal.js';
import { text } from '../src/report/text.js';
import { capturePath } from '../src/testing/captures.js';
import { runStepscope } from './run-stepscope.js';

test('FORCE_COLOR decides, then NO_COLOR, then the terminal', () => {
  for (const [env, isTerminal, color, colorDepth] of [
    [{}, true, true, 'some'],
    [{}, false, false, 'some'],
    [{ NO_COLOR: '1' }, true, false, 'some'],
    [{ NO_COLOR: '' }, true, true, 'some'],
    [{ TERM: 'dumb' }, true, false, 'some'],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true, 'some'],
    [{ FORCE_COLOR: '' }, false, true, 'some'],
    [{ FORCE_COLOR: '0' }, true, false, 'some'],
    [{ FORCE_COLOR: '3' }, false, true, 'all'],
    [{ COLORTERM: 'truecolor' }, true, true, 'all'],
  ] as const)
    assert.deepEqual(colorsOf(env, isTerminal), { color, colorDepth }, JSON.stringify(env));
});

const bars: BarsBlock = {
  kind: 'bars',
  id: 'b',
  title: 'Step budget',
  caption: 'decode, mean of 5 steps',
  rows: [
    { label: 'compute', depth: 0, ns: 25, share: 0.25, color: workColors.compute },
    { label: 'idle', depth: 0, ns: 75, share: 0.75 },
    { label: 'launch-bound', depth: 1, ns: 75, share: 0.75, color: causeColors['launch-bound'] },
  ],
};

test('bars have the colours of the palette, idle time is hatched, and labels outlive bars', () => {
  const full = text.render([bars], { width: 100, color: true, colorDepth: 'all' });
  assert.ok(full.includes('\x1b[38;2;6;126;66m████████\x1b[39m'), full);
  assert.ok(full.includes('\x1b[38;2;216;27;42m▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒\x1b[39m'), full);
  assert.ok(text.render([bars], { width: 100, color: true }).includes('\x1b[38;5;160m▒'));
  const plain = text.render([bars], { width: 100, color: false });
  assert.ok(!plain.includes('\x1b'));
  const narrow = text.render([bars], { width: 40, color: false });
  assert.doesNotMatch(narrow, /[█▒]/);
  assert.match(narrow, /launch-bound +75 ns +75\.0%/);
  for (const line of narrow.split('\n')) assert.ok(widthOf(line) <= 40, line);
});

test('words stay whole, names keep both ends', () => {
  const sentence = 'The host issues CUDA API calls back to back while the GPU has nothing left to do.';
  const words = new Set(sentence.split(' '));
  for (const width of [20, 33, 80]) {
    for (const line of wrap(sentence, width)) {
      assert.ok(widthOf(line) <= width);
      for (const word of line.split(' ')) assert.ok(words.has(word), word);
    }
  }
  assert.equal(cutAfterWord(sentence, 30), 'The host issues CUDA API …');
  assert.equal(shorten('nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT', 21), 'nvjet_sm90_t…litK_TNT');
  assert.equal(widthOf(shorten('模型名称很长很长很长很长很长', 11)) <= 11, true);
  assert.equal(
    wrapLines('  --rules FILE   your own kernel families, as JSON\n', 40),
    '  --rules FILE   your own kernel\n                 families, as JSON\n',
  );
});

test('a table in a pipe or a file keeps to its width, --wide gives all', async () => {
  const name = `void ${'gemm_'.repeat(60)}end`;
  const table: TableBlock = {
    kind: 'table',
    id: 't',
    title: 'Kernels',
    rows: 1,
    columns: [
      { header: 'Before', kind: 'text', values: [name] },
      { header: 'After', kind: 'text', values: [name] },
      { header: 'Time', kind: 'ns', values: [1000] },
    ],
  };
  const piped = text.render([table], { width: PIPE_WIDTH, color: false });
  for (const line of piped.split('\n')) assert.ok(widthOf(line) <= PIPE_WIDTH, line);
  assert.match(piped, /void gemm_.*….*_end/);
  assert.ok(text.render([table], { width: Infinity, color: false }).includes(name));

  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-terminal-'));
  const widest = (file: string) =>
    Math.max(
      ...readFileSync(file, 'utf8')
        .split('\n')
        .filter(line => !line.startsWith('→'))
        .map(widthOf),
    );
  try {
    const [kept, wide] = ['kept.txt', 'wide.txt'].map(one => path.join(folder, one));
    const asked = ['steps', capturePath('eager'), '--sequence', '--full-names', '-f', 'table'];
    assert.equal((await runStepscope([...asked, '-o', kept])).status, 0);
    assert.equal((await runStepscope([...asked, '--wide', '-o', wide])).status, 0);
    assert.ok(widest(kept) <= PIPE_WIDTH, `${widest(kept)}`);
    assert.ok(widest(wide) > PIPE_WIDTH, `${widest(wide)}`);
    const help = await runStepscope(['compare', '--help'], 80);
    for (const line of help.out.split('\n').filter(line => !line.includes('stepscope ')))
      assert.ok(widthOf(line) <= 80, line);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
