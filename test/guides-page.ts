/** docs/guides.md, made from the statements that the tests run. */
import type { Chapter, Statement } from './guides/statement.js';

const guides: readonly (readonly [letter: string, what: string])[] = [
  ['A', 'a summary of TensorRT-LLM’s performance analysis guide'],
  ['B', 'a profiling guide for TensorRT-LLM: features, workflows, key metrics, patterns, troubleshooting'],
  ['C', 'TensorRT-LLM’s own page on performance analysis (1.2)'],
  ['D', 'a guide to profiling inference servers with Nsight Systems in containers and pods'],
  ['E', 'a practice log: two engine builds, compared by benchmark and by profile'],
];

const cell = (text: string) => text.replaceAll('|', '\\|');

/** Names of bundled files as a user would have them. */
export const shownCommand = (run: string): string =>
  `stepscope ${run}`
    .replace(/@([\w-]+)\.torch/g, '$1.json.gz')
    .replace(/@([\w-]+)\.load/g, '$1/expert-load.json')
    .replace(/@([\w-]+)/g, '$1.nsys-rep')
    .replace(/%/g, '')
    .replace(/\bout\//g, '')
    .replace(/\bURL\b/, 'localhost:8000');

function row({ guides: by, asks, run, does }: Statement): string {
  return `| ${cell(asks)} | ${by} | \`${cell(shownCommand(run))}\` | ${cell(does)} |`;
}

export function guidesPage(chapters: readonly Chapter[]): string {
  const all = chapters.flatMap(({ statements }) => statements);
  const count = (letter: string) => all.filter(({ guides: by }) => by.includes(letter)).length;
  const sections = chapters.map(
    ({ title, statements }) =>
      `## ${title}\n\n| What the guides ask | In | Command | What it does |\n|---|---|---|---|\n${statements.map(row).join('\n')}\n`,
  );
  return `# What the guides ask

Stepscope was founded on five documents about profiling LLM inference. This page lists what they ask for: ${all.length} statements, each with the command that answers it. \`test/guides.test.ts\` runs every command on this page on a machine without a GPU and checks its output; the page is written by that test.

| | Guide | Statements |
|---|---|---|
${guides.map(([letter, what]) => `| ${letter} | ${what} | ${count(letter)} |`).join('\n')}

A statement that several guides make is listed once. Captures are run as plans (\`--dry-run\`): they print what they would start. Analyses run on the captures in \`test/fixtures/captures\`, which are named here as if they were your files: \`eager.nsys-rep\`. \`localhost:8000\` is a small server in the test. How captures run for real, on a GPU: [capture.md](capture.md), [capture-remote.md](capture-remote.md) and the [evidence](evidence/capture/README.md).

${sections.join('\n')}`;
}
