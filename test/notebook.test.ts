/** The notebook of the documentation, run as a reader runs it: its numbers are those of the command line. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { mustRun } from './python-setup.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const skip = lacks('notebook');
const file = path.join(projectRoot, 'docs/python.ipynb');
const home = mkdtempSync(path.join(tmpdir(), 'stepscope-notebook-'));
after(() => rmSync(home, { recursive: true, force: true }));

interface Cell {
  readonly cell_type: string;
  readonly source: string | readonly string[];
  readonly outputs?: readonly Readonly<Record<string, unknown>>[];
}
interface Notebook {
  readonly cells: readonly Cell[];
}
let ran: { notebook: Notebook; values: Record<string, unknown>; pages: readonly string[] };

const VALUES = `{"budget": {name: int(budget[name].sum()) for name in parts},
  "causes": {name: int(ns) for name, ns in causes.sum().items()},
  "families": {name: int(ns) for name, ns in by_family["sum"].items()},
  "change": [int(x) for x in change.phases.df().changeNs],
  "terms": [int(x) for x in terms.changeNs]}`;

before(() => {
  if (skip) return;
  const script = path.join(projectRoot, 'test/run-notebook.py');
  const variables = {
    PYTHONPATH: path.join(projectRoot, 'python'),
    ...{ IPYTHONDIR: home, JUPYTER_RUNTIME_DIR: home, STEPSCOPE_NODE: process.execPath },
  };
  ran = JSON.parse(mustRun(locate('notebook')!, [script, file, VALUES], home, variables));
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, `${JSON.stringify(ran.notebook, null, 1)}\n`);
});

const stored = () => JSON.parse(readFileSync(file, 'utf8')) as Notebook;
const textOf = (text: unknown): string => (Array.isArray(text) ? text.join('') : String(text));
const sources = ({ cells }: Notebook) => cells.map(({ source }) => textOf(source));

/** Numbers that outputs show; how pandas spaces and quotes them is its own. */
const numbersIn = ({ cells }: Notebook): string[][] =>
  cells.map(({ outputs = [] }) =>
    outputs.flatMap(output => {
      const shown = textOf(output.text ?? (output.data as Record<string, unknown>)['text/plain']);
      return shown.match(/-?\d[\d.]*/g) ?? [];
    }),
  );

test('its stored outputs are those of a run now', { skip }, () => {
  assert.deepEqual(sources(stored()), sources(ran.notebook));
  const numbers = numbersIn(stored());
  assert.deepEqual(numbers, numbersIn(ran.notebook));
  assert.ok(numbers.flat().length > 50);
});

test('it is stored with outputs, and without paths, names of machines, errors and pages', () => {
  const text = readFileSync(file, 'utf8');
  assert.doesNotMatch(text, /\/(home|root|work|tmp|Users)\/|iframe|"ename"|Traceback|"stderr"/);
  assert.ok(text.length < 100_000);
  for (const { cell_type, outputs } of stored().cells)
    if (cell_type === 'code') assert.ok(outputs!.length > 0);
});

test('its numbers are those of the command line', { skip }, async () => {
  const [eager, graph] = [capturePath('eager'), capturePath('graph')];
  const only = ['--only', 'step-budget', '--json'];
  const { rows } = answerIn((await runStepscope(['analyze', eager, ...only])).out).analyses['step-budget'];
  const { budget, causes, families, change, terms } = ran.values as Record<string, Record<string, number>>;
  for (const [name, ns] of Object.entries(budget))
    assert.equal(
      ns,
      rows.reduce((all: number, row: Record<string, number>) => all + row[name], 0),
      name,
    );
  const expected: Record<string, number> = {};
  for (const { idleByCause } of rows)
    for (const [cause, ns] of Object.entries<number>(idleByCause))
      expected[cause] = (expected[cause] ?? 0) + ns;
  assert.deepEqual(causes, expected);
  const sql = 'SELECT family, sum(durationNs) AS ns FROM kernels GROUP BY ALL ORDER BY 2 DESC';
  const asked = answerIn((await runStepscope(['sql', sql, eager, '--json'])).out).rows;
  assert.deepEqual(families, Object.fromEntries(asked.map(Object.values)));
  const compared = answerIn((await runStepscope(['compare', eager, graph, '--json'])).out).comparisons[0];
  assert.deepEqual(
    change,
    compared.phases.map(({ changeNs }: { changeNs: number }) => changeNs),
  );
  assert.deepEqual(
    terms,
    compared.phases.flatMap((phase: { terms: { changeNs: number }[] }) =>
      phase.terms.map(({ changeNs }) => changeNs),
    ),
  );
});

test('%stepscope shows the report in a frame that cannot reach the notebook', {
  skip: lacks('notebook', 'browser'),
}, async () => {
  assert.equal(ran.pages.length, 1);
  const outer = `<!doctype html><title>notebook</title><p id="mine">secret</p>${ran.pages[0]}`;
  writeFileSync(path.join(home, 'notebook.html'), outer);
  const browser = await chromium.launch({ executablePath: locate('browser')!, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', error => errors.push(error.message));
    page.on('console', message => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(`file://${path.join(home, 'notebook.html')}`);
    const frame = page.frameLocator('iframe');
    assert.match(await frame.locator('h1').first().innerText(), /./);
    assert.ok((await frame.locator('canvas').count()) > 0);
    const inside = page.frames()[1];
    assert.equal(
      await inside.evaluate(
        `(() => {
          try {
            return window.parent.document.getElementById('mine').textContent;
          } catch {
            return 'cannot reach';
          }
        })()`,
      ),
      'cannot reach',
    );
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
});
