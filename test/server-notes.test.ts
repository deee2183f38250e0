/** Notes of several people on one profile: nobody's are lost, whoever saves last. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { NotesChange, NotesDocument } from '../src/timeline/notes.js';
import { ask, smallProfile, startSmall } from './small-server.js';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-notes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A server whose profile 2 keeps its notes beside the file, and a person who uses it. */
async function person(t: TestContext, beside?: string) {
  const { port, profiles } = await startSmall(t);
  const id = await profiles.open('noted', async () => smallProfile(), beside ? { beside } : {});
  const address = `/api/profiles/${id}/notes`;
  const read = ({ status, text }: { status: number; text: string }): NotesDocument => {
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
  const put = (body: string) => ask(port, address, { method: 'PUT', headers: { 'X-Stepscope': '1' }, body });
  return {
    see: async () => read(await ask(port, address)),
    change: async (change: Partial<NotesChange>) => read(await put(JSON.stringify(change))),
    put,
  };
}

const note = (id: string) => ({ id, text: `says ${id}`, fromNs: 1, toNs: 2 });
const ids = ({ notes }: NotesDocument) => notes.map(({ id }) => id);

test('two servers on one file: the second save keeps what the first wrote', async t => {
  const beside = path.join(folderOf(t), 'profile.sqlite');
  const [ann, bob] = [await person(t, beside), await person(t, beside)];
  await Promise.all([ann.see(), bob.see()]);
  assert.deepEqual(ids(await ann.change({ add: [note('a')] })), ['a']);
  assert.deepEqual(ids(await bob.change({ add: [note('b')] })), ['a', 'b'], 'and Bob sees hers');
  assert.deepEqual(ids(await ann.change({ remove: ['a'] })), ['b']);
  // Sent again after a lost answer: once is enough, and what was removed stays so.
  assert.deepEqual(ids(await bob.change({ add: [note('b')], remove: ['a'] })), ['b']);
  assert.deepEqual(JSON.parse(readFileSync(`${beside}.notes.json`, 'utf8')).notes, [note('b')]);
  await bob.change({ remove: ['b'] });
  assert.equal(existsSync(`${beside}.notes.json`), false);
  assert.equal(existsSync(`${beside}.notes.json.lock`), false);
});

test('two pages of one server share the notes of a profile without a file', async t => {
  const { change, see } = await person(t);
  await Promise.all(['a', 'b', 'c'].map(id => change({ add: [note(id)] })));
  assert.deepEqual(ids(await see()).sort(), ['a', 'b', 'c']);
});

test('a file without ids gets them, and one that is no notes file is not overwritten', async t => {
  const beside = path.join(folderOf(t), 'profile.sqlite');
  const { id: _, ...old } = note('x');
  writeFileSync(`${beside}.notes.json`, JSON.stringify({ notes: [old, old] }));
  const { change, put } = await person(t, beside);
  assert.deepEqual(ids(await change({ remove: ['note-0'], add: [note('y')] })), ['note-1', 'y']);
  for (const body of ['', '{"add":1}', '{"remove":[1]}', '{"add":[{"id":"","text":"a"}]}'])
    assert.equal((await put(body)).status, 400, body);
  writeFileSync(`${beside}.notes.json`, 'mine');
  assert.match((await put(JSON.stringify({ add: [note('z')] }))).text, /not a file of notes/);
  assert.equal(readFileSync(`${beside}.notes.json`, 'utf8'), 'mine');
});
