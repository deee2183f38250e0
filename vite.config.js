// Builds what runs in a browser: the page of `stepscope view` into dist/web, which the server hands out, and with
// `--mode report` the flame graph of reports into dist/report, a script and a style that a page holds itself.
// With `--mode cli` the compiled command becomes few files in dist/cli: loading hundreds took half of a short call.
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

/** Files are found from the module that names them: where that was compiled to, not where it is bundled. */
const ownPlace = {
  name: 'own-place',
  transform(code, id) {
    if (!id.startsWith(at('dist/src/')) || !code.includes('import.meta.url')) return null;
    const own = JSON.stringify(`./${path.relative(at('dist/cli'), id).replaceAll(path.sep, '/')}`);
    return { code: code.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`), map: null };
  },
};

const cli = {
  outDir: at('dist/cli'),
  ssr: true,
  minify: 'oxc',
  rollupOptions: {
    input: at('dist/src/cli/main.js'),
    external: [/^[^./]/],
    output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  },
};

const modes = { report, cli };

export default defineConfig(({ mode }) => ({
  root: at('src/web'),
  base: './',
  build: { emptyOutDir: true, target: 'es2022', ...(modes[mode] ?? page) },
  plugins: mode === 'cli' ? [ownPlace] : [],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
}));
