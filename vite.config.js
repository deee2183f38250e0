// Builds what runs in a browser: the page of `stepscope view` into dist/web, which the server hands out, and with
// `--mode report` the flame graph of reports into dist/report, a script and a style that a page holds itself.
// With `--mode cli` the compiled command becomes few files in dist/cli: loading hundreds took half of a short call.
import fs from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = path => fileURLToPath(new URL(path, import.meta.url));

const page = {
  outDir: at('dist/web'),
  // A policy of the server allows scripts and styles from files alone.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
};

const report = {
  outDir: at('dist/report'),
  lib: {
    entry: at('src/web/flame/report-flame.ts'),
    formats: ['iife'],
    name: 'flame',
    fileName: () => 'flame.js',
    cssFileName: 'flame',
  },
};

/** Threads load their own modules: each worker is an entry of the bundle, next to the chunk that starts it. */
const workers = [
  'dist/src/fleet/map-worker.js',
  'dist/src/import/kineto-json/threads/part-worker.js',
  'dist/src/import/nsys-sqlite/decode-worker.js',
  'dist/src/import/unpack/unpack-worker.js',
  'dist/src/threads/ahead-worker.js',
];

/** Files are found from the module that names them: where that was compiled to, not where it is bundled. */
const ownPlace = {
  name: 'own-place',
  transform(code, id) {
    if (!id.startsWith(at('dist/src/')) || !code.includes('import.meta.url')) return null;
    const own = JSON.stringify(`./${path.relative(at('dist/cli'), id).replaceAll(path.sep, '/')}`);
    const worker = /(?<=new URL\('\.\/([\w-]+-worker)\.js', )import\.meta\.url/.exec(code);
    if (worker && !workers.some(file => file.endsWith(`/${worker[1]}.js`)))
      throw new Error(`${id} starts ${worker[1]}, which vite.config.js does not list`);
    const moved = worker ? code : code.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`);
    return { code: moved, map: null };
  },
};

/** Whether a module is one of these, or is loaded with them. */
function withImports(...entries) {
  const known = new Set();
  const visit = file => {
    if (known.has(file)) return;
    known.add(file);
    for (const [, target] of fs
      .readFileSync(file, 'utf8')
      .matchAll(/^(?:import|export)\b[^;'"]*['"](\.{1,2}\/[^'"]+\.js)['"];/gm))
      visit(path.resolve(path.dirname(file), target));
  };
  return id => {
    // When it is first asked: another mode has nothing compiled to read.
    if (known.size === 0) entries.map(at).forEach(visit);
    return known.has(id);
  };
}

/**
 * Modules of Node that take milliseconds to load, and that few calls use: loaded when a function of them is first called.
 * Only functions and classes can be had this way; the build fails where something else of them is imported.
 */
const late = new Set(['child_process', 'crypto', 'v8', 'worker_threads', 'zlib'].map(name => `node:${name}`));
const lateModules = {
  name: 'late-modules',
  enforce: 'pre',
  // A worker has been started for its work, and reads values of its module; what loads the bundle uses them at once.
  resolveId: (id, importer = '') =>
    late.has(id)
      ? /-worker\.js$|\/load-bundle\.js$/.test(importer)
        ? { id, external: true }
        : `\0late ${id}`
      : null,
  async load(id) {
    const [mark, name] = id.split(' ');
    if (mark !== '\0late') return null;
    const functions = Object.entries(await import(name)).filter(([, value]) => typeof value === 'function');
    return `let loaded;
      const late = () => (loaded ??= require('${name.replace('node:', '')}'));
      ${functions
        .filter(([own]) => own !== 'default')
        .map(
          ([own]) =>
            `export function ${own}(...args) { return new.target ? new (late().${own})(...args) : late().${own}(...args); }`,
        )
        .join('\n')}`;
  },
};

/**
 * The bundle is CommonJS, which alone can be loaded with code that V8 compiled before (src/cli/load-bundle.ts). Node 20
 * cannot `require` every package: those that are modules only must be imported when they are needed.
 */
const commonJs = {
  name: 'common-js',
  generateBundle(_options, bundle) {
    for (const { imports = [], fileName } of Object.values(bundle))
      for (const name of imports.filter(name => !(name in bundle) && !isBuiltin(name)))
        if (isModuleOnly(name)) throw new Error(`${fileName} must load ${name} with await import`);
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' });
  },
};

/** Text of one byte per character is read and held faster; src/cli/load-bundle.ts takes each byte for one. */
const plainCharacters = {
  name: 'plain-characters',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      if (/String\.raw\s*`[^`]*[^`\0-\x7f]/.test(chunk.code))
        throw new Error(`${chunk.fileName} has a raw text with a character that must be escaped`);
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/** `import * as fs` of a module of Node copies all its names, in each chunk anew; in CommonJS it is one value. */
const wholeModules = {
  name: 'whole-modules',
  transform(code, id) {
    if (!id.startsWith(at('dist/src/'))) return null;
    const whole = /^import \* as (\w+) from '(node:\w+)';$/gm;
    const asked = code.replace(whole, (text, name, module) =>
      late.has(module) ? text : `const ${name} = require('${module}');`,
    );
    return asked === code ? null : { code: asked, map: null };
  },
};

/** Kept code has forgotten how to import; what loads the bundle does it then. A worker is loaded by Node itself. */
const importsOutside = {
  name: 'imports-outside',
  transform(code, id) {
    if (!id.startsWith(at('dist/src/')) || !/\bimport\((?!'\.)/.test(code)) return null;
    const places = [];
    const visit = node => {
      if (!node || typeof node !== 'object') return;
      if (node.type === 'ImportExpression' && !String(node.source.value ?? '').startsWith('.'))
        places.push(node.start);
      for (const part of Object.values(node)) visit(part);
    };
    visit(this.parse(code));
    const replaced = places
      .sort((a, b) => b - a)
      .reduce((text, at) => `${text.slice(0, at)}importOutside${text.slice(at + 'import'.length)}`, code);
    return {
      code: `const importOutside = name => (require.importModule ? require.importModule(name) : import(name));${replaced}`,
      map: null,
    };
  },
};

function isModuleOnly(name) {
  const file = createRequire(import.meta.url).resolve(name);
  if (!file.endsWith('.js')) return file.endsWith('.mjs');
  let folder = path.dirname(file);
  while (!fs.existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).type === 'module';
}

const cli = {
  outDir: at('dist/cli'),
  ssr: true,
  minify: 'oxc',
  rollupOptions: {
    input: ['dist/src/cli/load-bundle.js', 'dist/src/cli/main.js', ...workers].map(at),
    external: id => /^[^./\0]/.test(id) && !late.has(id),
    output: {
      format: 'cjs',
      entryFileNames: '[name].js',
      // By content, which src/cli/load-bundle.ts relies on.
      chunkFileNames: '[name].[hash].js',
      // Each file costs half a millisecond: what a call needs in any case is in three.
      codeSplitting: {
        groups: [
          // Loaded by Node itself, before any other.
          { name: 'load-bundle', priority: 4, test: withImports('dist/src/cli/load-bundle.js') },
          { name: 'start', priority: 3, test: withImports('dist/src/cli/main.js') },
          { name: 'dispatch', priority: 2, test: withImports('dist/src/cli/dispatch.js') },
          {
            ...{ name: 'common', priority: 1 },
            test: withImports('dist/src/cli/emit.js', 'dist/src/cli/profile-of.js'),
          },
        ],
      },
    },
  },
};

const modes = { report, cli };

export default defineConfig(({ mode }) => ({
  root: at('src/web'),
  base: './',
  build: { emptyOutDir: true, target: 'es2022', ...(modes[mode] ?? page) },
  plugins:
    mode === 'cli' ? [lateModules, ownPlace, wholeModules, importsOutside, commonJs, plainCharacters] : [],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
}));
