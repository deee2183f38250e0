// Builds what runs in a browser: the page of `stepscope view` into dist/web, which the server hands out, and with
// `--mode report` the flame graph of reports into dist/report, a script and a style that a page holds itself.
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

export default defineConfig(({ mode }) => ({
  root: at('src/web'),
  base: './',
  build: { emptyOutDir: true, target: 'es2022', ...(mode === 'report' ? report : page) },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
}));
