/** What numbers, findings and tables mean: chapters of the documents in the package, as resources. */
import { readFileSync } from 'node:fs';
import { UserError } from '../base/user-error.js';

interface Definition {
  readonly uri: string;
  readonly name: string;
  readonly text: string;
}

const LONGEST = 24_000;
const document = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

const slug = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '');

/** A chapter per heading, each without those below it. A heading of several names is found by each of them. */
function chapters(kind: string, file: string): Definition[] {
  return document(file)
    .split(/^(?=#{1,3} )/m)
    .flatMap(chapter => {
      const title = /^#+ (.*)/.exec(chapter)?.[1] ?? kind;
      const names = /^# /.test(chapter) ? [''] : title.split(', ').map(slug);
      const text =
        chapter.length > LONGEST ? `${chapter.slice(0, LONGEST)}\n… (truncated; see ${file})\n` : chapter;
      return names.map(name => ({
        uri: `stepscope://${kind}${name === '' ? '' : `/${name}`}`,
        name: title,
        text,
      }));
    });
}

/** The text of the skill that is part of the package, without its header. */
export const guideText = (): string =>
  document('skills/stepscope/SKILL.md').replace(/^---\n[\s\S]*?\n---\n+/, '');

let known: readonly Definition[] | undefined;

export function definitions(): readonly Definition[] {
  known ??= [
    { uri: 'stepscope://guide', name: 'The order of questions, with token budgets', text: guideText() },
    ...chapters('metrics', 'docs/metrics.md'),
    ...chapters('findings', 'docs/findings.md'),
    ...chapters('sql', 'docs/sql.md'),
  ];
  return known;
}

export function definitionAt(uri: string): Definition {
  const found = definitions().find(definition => definition.uri === uri);
  if (found) return found;
  throw new UserError(
    'not-found',
    `There is no resource ${JSON.stringify(uri.slice(0, 200))}.`,
    'resources/list has all.',
  );
}
