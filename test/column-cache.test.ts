/** Kept columns give the profile that the importer gives, to the byte, and only where nothing has changed. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { throughColumnCache } from '../src/import/column-cache.js';
import type { ImportContext } from '../src/import/importer.js';
import { importerFor } from '../src/import/index.js';
import { ProfileFile } from '../src/import/profile-file.js';
import { capturePath } from '../src/testing/captures.js';
import { bytesOfProfile } from '../src/testing/profile-bytes.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-columns-'));
const before = { cache: process.env.STEPSCOPE_CACHE, off: process.env.STEPSCOPE_NO_CACHE };
process.env.STEPSCOPE_CACHE = path.join(folder, 'cache');
delete process.env.STEPSCOPE_NO_CACHE;
after(() => {
  rmSync(folder, { recursive: true });
  if (before.cache === undefined) delete process.env.STEPSCOPE_CACHE;
  else process.env.STEPSCOPE_CACHE = before.cache;
  if (before.off !== undefined) process.env.STEPSCOPE_NO_CACHE = before.off;
});
const kept = path.join(folder, 'cache/columns');
const entries = () => readdirSync(kept).filter(name => name.endsWith('.columns'));

async function read(file: string, context: ImportContext = { cache: '1' }) {
  const opened = ProfileFile.open(file);
  let decoded = false;
  try {
    const importer = await importerFor(opened);
    const profile = await throughColumnCache(
      opened,
      importer,
      context,
      () => {
        decoded = true;
        return importer.import(opened, context);
      },
      { bytes: 0, ms: 0 },
    );
    return { decoded, profile, bytes: bytesOfProfile(profile) };
  } finally {
    opened.close();
  }
}

/** Entries are written while the question is answered. */
async function written(count: number): Promise<void> {
  for (let i = 0; i < 200 && entries().length < count; i++)
    await new Promise(resolve => setTimeout(resolve, 10));
  assert.equal(entries().length, count);
}

test('the second time is the first, to the byte; what is asked, the file and the version count', async () => {
  let count = 0;
  for (const [name, source] of [
    ['a.sqlite.gz', capturePath('membound')],
    ['b.json.gz', capturePath('graph', 'kineto.json.gz')],
  ]) {
    const file = path.join(folder, name);
    copyFileSync(source, file);
    const first = await read(file);
    assert.ok(first.decoded);
    await written(++count);
    const second = await read(file);
    assert.ok(!second.decoded);
    assert.ok(Buffer.from(second.bytes).equals(first.bytes), name);
    assert.deepEqual(
      { ...second.profile, strings: 0, tables: 0 },
      { ...first.profile, strings: 0, tables: 0 },
    );
    const tables = new Map([['kernels', ['gridX']]]) as ImportContext['tables'];
    const part = await read(file, { cache: '1', tables });
    assert.ok(part.decoded);
    await written(++count);
    assert.ok(Buffer.from((await read(file, { cache: '1', tables })).bytes).equals(part.bytes));
    assert.ok((await read(file, { cache: '2' })).decoded, 'another version');
    await written(++count);
  }
  const file = path.join(folder, 'a.sqlite.gz');
  // Touched, though its content is the same: an edit between sampled blocks would look like that.
  utimesSync(file, new Date(), new Date(Date.now() - 5000));
  assert.ok((await read(file)).decoded);
  await written(++count);
  assert.ok((await read(file, {})).decoded, 'not asked for');
  process.env.STEPSCOPE_NO_CACHE = '1';
  assert.ok((await read(file)).decoded, 'switched off');
  delete process.env.STEPSCOPE_NO_CACHE;
  assert.equal(statSync(kept).mode & 0o077, 0);
  for (const name of entries()) assert.equal(statSync(path.join(kept, name)).mode & 0o077, 0);
});

test('an entry that is damaged is made again', async () => {
  const file = path.join(folder, 'a.sqlite.gz');
  const { bytes } = await read(file);
  for (const name of entries()) {
    const entry = path.join(kept, name);
    if (name.length % 2) truncateSync(entry, 1000);
    else writeFileSync(entry, Buffer.concat([readFileSync(entry).subarray(0, 40), Buffer.alloc(500)]));
  }
  const again = await read(file);
  assert.ok(again.decoded);
  assert.ok(Buffer.from(again.bytes).equals(bytes));
});
