/** The source as text: who imports what from whom, and what each file exports. For tests about the house itself. */
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { projectRoot } from '../src/testing/captures.js';

export interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly name: string;
  readonly text: string;
  /** Names asked for by file; `*` where all of it is. Packages are left out. */
  readonly imports: readonly { readonly from: string; readonly names: readonly string[] }[];
  /** Whatever `from` names, packages too. */
  readonly targets: readonly string[];
  readonly exports: readonly string[];
}

const namesIn = (folder: string) =>
  readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => path.posix.join(folder, name.split(path.sep).join('/')));

const all = new Set(['src', 'test', 'bench'].flatMap(namesIn));

function resolve(file: string, target: string): string {
  const stem = path.posix.join(path.posix.dirname(file), target.replace(/\.[jt]sx?$/, ''));
  return all.has(`${stem}.ts`) ? `${stem}.ts` : `${stem}.tsx`;
}

function read(name: string): SourceFile {
  const text = readFileSync(path.join(projectRoot, name), 'utf8');
  const found = [
    ...[...text.matchAll(/^(?:import|export)\b([^;]*?)\bfrom '([^']+)'/gm)].map(([, names, from]) => ({
      from,
      names: names.includes('*')
        ? ['*']
        : [...names.matchAll(/(?:type )?(\w+)(?: as \w+)?\s*(?=[,}]|$)/g)].map(match => match[1]),
    })),
    ...[...text.matchAll(/^import '([^']+)'/gm)].map(([, from]) => ({ from, names: [] })),
    // `const { a, b } = await import('…')` asks for what it takes apart, other calls for everything.
    ...[...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, from]) => ({ from, names: ['*'] })),
  ];
  return {
    name,
    text,
    imports: found
      .filter(({ from }) => from.startsWith('.'))
      .map(({ from, names }) => ({ from: resolve(name, from), names })),
    targets: found.map(({ from }) => from),
    exports: [
      ...text.matchAll(
        /^export (?:declare |abstract |async )*(?:const enum|const|let|function\*?|class|interface|type|enum) (\w+)/gm,
      ),
    ].map(match => match[1]),
  };
}

export const allFiles: readonly SourceFile[] = [...all].map(read);
export const sources = allFiles.filter(({ name }) => name.startsWith('src/'));
/** `src/analyze/gpu/x.ts` is in `analyze`. */
export const folderOf = (name: string): string => name.split('/')[1];
