/** How much of the host-caused idle time each profile at hand names: docs/host-names.md. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSameText } from '../src/testing/golden.js';
import {
  hostNamesFile,
  type NamesRow,
  namesIntroduction,
  namesRow,
  namesSection,
  namesSectionInFile,
  namesSections,
} from './host-names-page.js';

const LEAST = 0.8;
/** Ranges around other code (layers, where the idle time lies between them; kernels), and samples without symbols. */
const NAMES_ELSEWHERE = [
  'agent-gpt-oss-eager/profile.sqlite',
  'unified/profile.sqlite',
  'nsys/t4-3.17.sqlite',
];

test('docs/host-names.md is what is named now: at least 80% wherever a file has names, else how to get them', async () => {
  const texts: string[] = [];
  const all: NamesRow[] = [];
  for (const { title, files } of namesSections()) {
    if (files === undefined) {
      texts.push(namesSectionInFile(title));
      continue;
    }
    const rows: NamesRow[] = [];
    for (const { name, file } of files) {
      const row = await namesRow(name, file);
      if (row) rows.push(row);
    }
    texts.push(namesSection(title, rows));
    all.push(...rows);
  }
  for (const { line } of all) console.log(line);
  assertSameText(hostNamesFile, `${namesIntroduction}${texts.join('\n')}`);
  const unnamed = all.filter(({ named, placed }) => named + placed < LEAST);
  const names = (rows: readonly NamesRow[]) => rows.map(({ name }) => name);
  const here = new Set(names(all));
  assert.deepEqual(
    names(unnamed.filter(({ sources }) => sources.length > 0)),
    NAMES_ELSEWHERE.filter(name => here.has(name)),
  );
  // Where a file cannot name it, the page says which flag would.
  assert.deepEqual(names(unnamed.filter(({ hint }) => hint === undefined)), []);
});
