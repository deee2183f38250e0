/** What a file offers is asked for by another, under a name that means one thing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';
import { allFiles, folderOf, sources } from './source-files.js';

/** Written to docs/schemas by tests, and read by those who read our documents. */
const isPublished = (name: string) => /schemas?$/i.test(name);

/** The command itself is a script. */
const start = readFileSync(path.join(projectRoot, 'bin/stepscope'), 'utf8');
const isStarted = (name: string, exported: string) =>
  start.includes(`/${path.basename(name, '.ts')}.js`) && start.includes(`.${exported}(`);

test('every exported name has a user', () => {
  const users = new Map<string, Set<string>>();
  for (const { name, imports } of allFiles)
    for (const { from, names } of imports)
      for (const asked of names) {
        const key = `${from} ${asked}`;
        users.set(key, (users.get(key) ?? new Set()).add(name));
      }
  const unused: string[] = [];
  for (const { name, text, exports } of sources) {
    if (folderOf(name) === 'testing') continue;
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    for (const exported of exports) {
      const by = [...(users.get(`${name} ${exported}`) ?? []), ...(users.get(`${name} *`) ?? [])];
      const inSource = by.some(user => !user.startsWith('test/') && !user.startsWith('src/testing/'));
      // What a file uses itself may be exported so that a test can look at it.
      const isTested = by.length > 0 && (code.match(new RegExp(`\\b${exported}\\b`, 'g')) ?? []).length > 1;
      const isNeeded = inSource || isTested || isStarted(name, exported);
      if (!isNeeded && !(by.length > 0 && isPublished(exported))) unused.push(`${name} exports ${exported}`);
    }
  }
  assert.deepEqual(unused, []);
});

test('no name is exported by two files', () => {
  const owners = new Map<string, string[]>();
  // The page is a program of its own, and testing stands beside the rest.
  // A function of several forms has one name.
  for (const { name, exports } of sources.filter(({ name }) => !/^src\/(web|testing)\//.test(name)))
    for (const exported of new Set(exports)) owners.set(exported, [...(owners.get(exported) ?? []), name]);
  const twice = [...owners].filter(([, files]) => files.length > 1);
  assert.deepEqual(
    twice.map(entry => entry.flat().join(' ')),
    [],
  );
});
