// The whole test: format and lint, build (which is the type check), then every test file.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const require = createRequire(import.meta.url);

function step(title, command, args) {
  process.stdout.write(`\n${title}\n`);
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** A tool's own file: packages do not export their commands. */
const tool = (name, file) => path.join(path.dirname(require.resolve(`${name}/package.json`)), file);

const node = process.execPath;
step('format and lint', node, [tool('@biomejs/biome', 'bin/biome'), 'check', '.']);
step('build and type check', node, [tool('typescript', 'bin/tsc'), '-p', '.']);
step('build the page', node, [tool('typescript', 'bin/tsc'), '-p', 'src/web']);
step('', node, [tool('vite', 'bin/vite.js'), 'build']);
const only = process.argv.slice(2);
// By source, not by what an earlier build may have left in dist.
const files = readdirSync('test', { recursive: true })
  .filter(name => name.endsWith('.test.ts') && (only.length === 0 || only.some(part => name.includes(part))))
  .map(name => `dist/test/${name.replace(/ts$/, 'js')}`)
  .sort();
step(`tests (${files.length} files)`, node, [
  '--test',
  '--test-reporter=spec',
  // Two at a time: most wait for programs they started.
  '--test-concurrency=2',
  ...files,
]);
