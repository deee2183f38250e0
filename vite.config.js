// Builds the page of `stepscope view` into dist/web, which the npm package ships and the server hands out.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = path => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at('src/web'),
  base: './',
  build: {
    outDir: at('dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // A policy of the server allows scripts and styles from files alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
});
