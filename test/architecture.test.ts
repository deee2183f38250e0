/** Arrows point one way. This table is the documentation of who may import whom. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';

const allowed: Record<string, readonly string[]> = {
  base: [],
  stats: ['base'],
  model: ['base'],
  catalog: ['base', 'model'],
  import: ['base', 'model', 'catalog'],
  analyze: ['base', 'stats', 'model', 'catalog'],
  /** A run as a value, and what two of them differ by: what the verbs that judge runs stand on. */
  run: ['base', 'stats', 'model', 'catalog', 'analyze'],
  compare: ['base', 'stats', 'model', 'catalog', 'analyze', 'run'],
  moe: ['base', 'stats', 'model', 'catalog', 'analyze', 'run'],
  gate: ['base', 'stats', 'model', 'catalog', 'analyze', 'run'],
  /** Pages and plots of every result; documents and descriptions lie with the results. */
  report: ['base', 'analyze', 'run', 'compare', 'moe', 'gate'],
  timeline: ['base', 'model', 'catalog', 'analyze'],
  /** The browser: types of blocks, and what page and server have in common. */
  web: ['base', 'analyze', 'timeline'],
  server: ['base', 'model', 'analyze', 'compare', 'import', 'report', 'timeline'],
  /** Plans are pure; run/ and files named run-… are the only ones that start programs. */
  capture: ['base', 'stats', 'model', 'catalog', 'analyze'],
  testing: ['base', 'stats', 'model', 'catalog', 'import'],
  redact: ['base', 'model', 'catalog', 'import'],
  load: ['base', 'stats', 'model', 'analyze'],
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
  'report',
  'timeline',
  'web',
];

const source = path.join(projectRoot, 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name));

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(source, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'/gm)].map(
    m => m[1] ?? m[2],
  );
}

test('imports between folders follow the table', () => {
  const wrong: string[] = [];
  for (const file of files) {
    const folder = file.split(path.sep)[0];
    assert.ok(allowed[folder], `src/${folder} is not in the table`);
    for (const target of importsOf(file)) {
      if (!target.startsWith('.')) continue;
      const to = path.relative(source, path.resolve(source, path.dirname(file), target)).split(path.sep)[0];
      if (to !== folder && !allowed[folder].includes(to)) wrong.push(`${file} imports ${to}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('pure folders use no Node module', () => {
  const wrong = files
    .filter(file => pure.includes(file.split(path.sep)[0]) || /^capture\W(?!run\b)/.test(file))
    .filter(file => importsOf(file).some(target => target.startsWith('node:')));
  assert.deepEqual(wrong, []);
});

test('importers do not see each other', () => {
  const wrong: string[] = [];
  for (const file of files.filter(name => name.startsWith(`import${path.sep}`))) {
    const parts = file.split(path.sep);
    if (parts.length < 3) continue;
    for (const target of importsOf(file).filter(t => t.startsWith('.'))) {
      const to = path.relative(source, path.resolve(source, path.dirname(file), target)).split(path.sep);
      // A report is an export that nsys has yet to make: it hands over to the importer of exports.
      const handsOver = parts[1] === 'nsys-rep' && to[1] === 'nsys-sqlite';
      if (to[0] === 'import' && to.length > 2 && to[1] !== parts[1] && !handsOver)
        wrong.push(`${file} imports ${to.join('/')}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('files stay one idea long, named in kebab case, without default exports', () => {
  for (const file of files) {
    const text = readFileSync(path.join(source, file), 'utf8');
    assert.match(path.basename(file), /^[a-z0-9-]+\.tsx?$/, file);
    assert.doesNotMatch(text, /^export default/m, file);
    assert.ok(text.split('\n').length <= 420, `${file} has grown to ${text.split('\n').length} lines`);
  }
});

test('verbs are glue: half of them are shorter than 80 lines', () => {
  const verbs = files.filter(file => path.dirname(file) === path.join('cli', 'commands'));
  const lines = verbs.map(file => readFileSync(path.join(source, file), 'utf8').split('\n').length - 1);
  lines.sort((a, b) => a - b);
  assert.ok(lines.length > 20 && lines[Math.floor(lines.length / 2)] < 80, lines.join(', '));
});
