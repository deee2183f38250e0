// Declarations of the library, in dist/types: what src/library/index.ts exports and whatever that refers to. The compiler
// also declares files that are only used inside functions; those are removed, because nobody can name them.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, 'dist/types');
const tsc = path.join(
  path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

rmSync(folder, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, '-p', path.join(root, 'tsconfig.types.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const reached = new Set();
const visit = file => {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, target] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.js['"]/g))
    visit(path.join(path.dirname(file), `${target}.d.ts`));
};
visit(path.join(folder, 'library/index.d.ts'));
for (const name of readdirSync(folder, { recursive: true })) {
  const file = path.join(folder, name);
  if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}
