/** Headlines and findings of every profile at hand, beside an independent reading of the files: docs/truth.md. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSameText } from '../src/testing/golden.js';
import { lacks } from '../src/testing/needs.js';
import {
  IndependentReading,
  sectionInFile,
  sectionText,
  type TruthRow,
  truthFile,
  truthIntroduction,
  truthRow,
  truthSections,
} from './truth-page.js';

test('docs/truth.md is what is said now, and an independent reading agrees with it', {
  skip: lacks('python'),
}, async t => {
  const reading = new IndependentReading();
  t.after(() => reading.end());
  const differences: string[] = [];
  const texts: string[] = [];
  for (const { title, subjects } of truthSections()) {
    if (subjects === undefined) {
      texts.push(sectionInFile(title));
      continue;
    }
    const rows: TruthRow[] = [];
    for (const subject of subjects) {
      const row = await truthRow(subject, reading);
      rows.push(row);
      for (const { what, claimed, found } of row.differences)
        differences.push(`${subject.name}: ${what}: ${claimed}, read ${found}`);
    }
    texts.push(sectionText(title, rows));
  }
  assertSameText(truthFile, `${truthIntroduction}${texts.join('\n')}`);
  assert.deepEqual(differences, []);
});
