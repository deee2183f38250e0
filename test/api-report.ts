/** docs/api.md: everything that the library exports, as declared. A change of it shows in review. */
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { projectRoot } from '../src/testing/captures.js';

const types = path.join(projectRoot, 'dist/types');

/** The declaration of a name in a file of declarations, without comments; overloads one after the other. */
function declared(file: string, name: string): string {
  const text = readFileSync(file, 'utf8').replace(/\/\*\*[\s\S]*?\*\/\n?\s*/g, '');
  const found: string[] = [];
  const starts = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:function|const|class|interface|type) ${name}\\b`,
    'gm',
  );
  for (const match of text.matchAll(starts)) {
    let depth = 0;
    let end = match.index;
    for (; end < text.length; end++) {
      const letter = text[end];
      if ('{[('.includes(letter)) depth++;
      if ('}])'.includes(letter)) depth--;
      if (depth > 0) continue;
      if (letter === ';') break;
      if (
        letter === '}' &&
        /^export (?:declare )?(?:abstract )?(?:class|interface)/.test(text.slice(match.index))
      )
        break;
    }
    found.push(text.slice(match.index, end + 1));
  }
  if (found.length === 0) throw new Error(`${name} is not declared in ${file}`);
  return found.join('\n');
}

export function apiReport(): string {
  const index = path.join(types, 'library/index.d.ts');
  const entries = [
    ...readFileSync(index, 'utf8').matchAll(/export (type )?\{([^}]*)\} from '([^']+)'/g),
  ].flatMap(([, , names, from]) =>
    names
      .split(',')
      .map(name => name.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map(name => {
        const [own, exported = own] = name.split(' as ');
        const file = path.join(path.dirname(index), from.replace(/\.js$/, '.d.ts'));
        return { exported, text: declared(file, own) };
      }),
  );
  entries.sort((a, b) => (a.exported < b.exported ? -1 : 1));
  const section = ({ exported, text }: (typeof entries)[number]) =>
    `## ${exported}\n\n\`\`\`ts\n${text}\n\`\`\`\n`;
  return `# API report

Everything that \`import … from 'stepscope'\` gives, as declared. Made from the declarations by \`test/library.test.ts\`: a change of the public interface is a change of this file. Versions follow [Semantic Versioning](https://semver.org): removing or narrowing anything here needs a new major version (before 1.0: a new minor version). How to use it: [library.md](library.md).

${entries.map(section).join('\n')}`;
}
