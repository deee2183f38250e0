/** Arrows point one way. This table is the documentation of who may import whom. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';
import { folderOf, sources } from './source-files.js';

const allowed: Record<string, readonly string[]> = {
  base: [],
  stats: ['base'],
  model: ['base'],
  catalog: ['base', 'model'],
  /** Files written whole, locks, temporary folders: no other folder replaces or removes what is not its own. */
  disk: ['base'],
  import: ['base', 'model', 'catalog', 'disk'],
  analyze: ['base', 'stats', 'model', 'catalog'],
  /** A run as a value, and what two of them differ by: what the verbs that judge runs stand on. */
  run: ['base', 'stats', 'model', 'catalog', 'analyze'],
  compare: ['base', 'stats', 'model', 'catalog', 'analyze', 'run'],
  moe: ['base', 'stats', 'model', 'catalog', 'analyze', 'run'],
  gate: ['base', 'stats', 'model', 'catalog', 'analyze', 'run'],
  /** Pages and plots of every result; documents and descriptions lie with the results. */
  report: ['base', 'analyze', 'run', 'compare', 'moe', 'gate'],
  timeline: ['base', 'stats', 'model', 'catalog', 'analyze'],
  /** The browser: types of blocks, and what page and server have in common. */
  web: ['base', 'catalog', 'analyze', 'timeline'],
  /** Analyses, and parts of the timeline, in a second thread. */
  threads: ['base', 'model', 'analyze', 'timeline'],
  server: [
    ...['base', 'model', 'catalog', 'analyze', 'compare', 'import', 'report', 'timeline', 'disk', 'sql'],
    'threads',
  ],
  /** Plans are pure; run/ and files named run-… are the only ones that start programs. What nsys left unfinished is imported. */
  capture: ['base', 'stats', 'model', 'catalog', 'analyze', 'disk', 'import'],
  testing: ['base', 'stats', 'model', 'catalog', 'import', 'moe'],
  redact: ['base', 'model', 'catalog', 'import'],
  /** Changes tried and judged, as files in a repository. */
  journal: ['base', 'stats', 'catalog', 'disk', 'analyze', 'run', 'gate'],
  /** Many files as a lake of tables: maps them, here or as a job, and reports from the lake. */
  fleet: ['base', 'stats', 'model', 'catalog', 'disk', 'import', 'analyze', 'run', 'gate', 'capture'],
  /** Tables for SQL, of a profile or a lake. */
  sql: ['base', 'model', 'catalog', 'disk', 'analyze', 'fleet'],
  /** Tools for agents: commands of ours in processes of their own. */
  mcp: ['base'],
  /** Running a part of a profile again: an operator alone, a kernel under Nsight Compute. */
  rerun: ['base', 'stats', 'model', 'catalog', 'analyze'],
  /** What users add, by the contracts of the folders it goes into. */
  plugins: ['base', 'catalog', 'import', 'analyze'],
  /** What others import. */
  library: ['base', 'model', 'catalog', 'import', 'analyze', 'run', 'compare', 'capture', 'plugins'],
  load: ['base', 'stats', 'model', 'catalog', 'analyze'],
};
/** Commands put everything together, but for what is for browsers and tests alone. */
allowed.cli = Object.keys(allowed).filter(folder => folder !== 'web' && folder !== 'testing');
/** These run anywhere: in the command, a worker, a browser. No files, processes or DOM. */
const pure = [
  'base',
  'stats',
  'model',
  'catalog',
  'analyze',
  'run',
  'compare',
  'gate',
  'moe',
  'rerun',
  'report',
  'timeline',
  'web',
];

test('imports between folders follow the table', () => {
  const wrong: string[] = [];
  for (const { name, imports } of sources) {
    const folder = folderOf(name);
    assert.ok(allowed[folder], `src/${folder} is not in the table`);
    for (const { from } of imports) {
      const to = folderOf(from);
      if (to !== folder && !allowed[folder].includes(to)) wrong.push(`${name} imports ${to}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('pure folders use no Node module', () => {
  const wrong = sources
    .filter(({ name }) => pure.includes(folderOf(name)) || /^src\/capture\/(?!run\b)/.test(name))
    .filter(({ targets }) => targets.some(target => target.startsWith('node:')));
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

test('importers do not see each other', () => {
  const wrong: string[] = [];
  for (const { name, imports } of sources) {
    const [, folder, format, ...rest] = name.split('/');
    if (folder !== 'import' || rest.length === 0) continue;
    for (const { from } of imports) {
      const [, to, other, ...file] = from.split('/');
      // A report is an export that nsys has yet to make: it hands over to the importer of exports.
      // A Perfetto trace of PyTorch holds what its JSON does, in other bytes.
      const handsOver =
        (format === 'nsys-rep' && other === 'nsys-sqlite') ||
        (format === 'perfetto' && other === 'kineto-json');
      if (to === 'import' && file.length > 0 && other !== format && !handsOver)
        wrong.push(`${name} imports ${from}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('no file needs itself, through however many others', () => {
  const importsOf = new Map(sources.map(({ name, imports }) => [name, imports.map(({ from }) => from)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (name: string, way: readonly string[]) => {
    if (way.includes(name)) circles.push([...way.slice(way.indexOf(name)), name].join(' → '));
    else if (!done.has(name)) {
      for (const next of importsOf.get(name) ?? []) visit(next, [...way, name]);
      done.add(name);
    }
  };
  for (const { name } of sources) visit(name, []);
  assert.deepEqual(circles, []);
});

test('ARCHITECTURE.md lists each folder once, and none that is not there', () => {
  const text = readFileSync(path.join(projectRoot, 'ARCHITECTURE.md'), 'utf8');
  const listed = [...text.matchAll(/^\| `src\/([^`]+)` \|/gm)].map(([, folder]) => folder);
  assert.deepEqual(listed, [...new Set(listed)], 'listed twice');
  const there = readdirSync(path.join(projectRoot, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => path.relative(path.join(projectRoot, 'src'), path.join(entry.parentPath, entry.name)));
  assert.deepEqual(
    listed.filter(folder => !there.includes(folder)),
    [],
    'not there',
  );
  const top = (folders: readonly string[]) => folders.filter(folder => !folder.includes('/')).sort();
  assert.deepEqual(top(listed), top(there));
  assert.deepEqual(top(Object.keys(allowed)), top(there));
});

test('ARCHITECTURE.md names files that exist', () => {
  const text = readFileSync(path.join(projectRoot, 'ARCHITECTURE.md'), 'utf8');
  const names = new Set(sources.map(({ name }) => name.replace(/^src\//, '')));
  const missing = [...text.matchAll(/`(?:src\/)?([a-z][\w/-]*\.tsx?)`/g)]
    .map(([, file]) => file)
    .filter(file => ![...names].some(name => name === file || name.endsWith(`/${file}`)))
    .filter(file => !file.startsWith('test/'));
  assert.deepEqual(missing, []);
});

test('files stay one idea long, named in kebab case, without default exports', () => {
  for (const { name, text } of sources) {
    assert.match(path.basename(name), /^[a-z0-9-]+\.tsx?$/, name);
    assert.doesNotMatch(text, /^export default/m, name);
    assert.ok(text.split('\n').length <= 420, `${name} has grown to ${text.split('\n').length} lines`);
  }
});

test('verbs are glue: half of them are shorter than 80 lines', () => {
  const verbs = sources.filter(({ name }) => /^src\/cli\/commands\/[^/]+$/.test(name));
  const lines = verbs.map(({ text }) => text.split('\n').length - 1);
  lines.sort((a, b) => a - b);
  assert.ok(lines.length > 20 && lines[Math.floor(lines.length / 2)] < 80, lines.join(', '));
});
