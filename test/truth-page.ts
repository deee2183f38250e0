/**
 * docs/truth.md: what is said about every profile at hand, and whether an independent reading of the file agrees.
 * That reading is test/independent: Python's own sqlite3 and json, and definitions instead of our code.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { capturesFolder, projectRoot } from '../src/testing/captures.js';
import { locate } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

/** One claim, held against the file. `agrees` is null where the reading has no definition for it. */
interface Check {
  readonly what: string;
  readonly claimed?: number | boolean;
  readonly found?: number | boolean;
  readonly agrees: boolean | null;
}

interface Said {
  readonly analyses: {
    readonly findings: {
      readonly rows: readonly { readonly claim: string; readonly gainThroughput: number | null }[];
      readonly summary: { readonly verdict: string | null };
    };
  };
}

/** A row of the table: files that are opened together, under the name they have there. */
interface Subject {
  readonly name: string;
  readonly files: readonly string[];
}

interface Section {
  readonly title: string;
  /** Undefined where the folder is not on this machine: then the section stays as it is. */
  readonly subjects: readonly Subject[] | undefined;
}

const PROFILE = /\.(sqlite|json)\.gz$/;
const NO_PROFILE = /agent\.json|expert-load/;
const HEAD = '| profile | headline | first three findings (gain) | independent reading |\n|---|---|---|---|';

export const truthFile = path.join(projectRoot, 'docs/truth.md');

/** All sections, in the order of the page. */
export function truthSections(): readonly Section[] {
  const own = profilesBelow(capturesFolder);
  const engines = locate('captures');
  return [
    { title: 'Captures in this repository', subjects: own },
    {
      title: 'Captures of real engines',
      subjects: engines === undefined ? undefined : profilesBelow(engines).filter(isNew(own)),
    },
    { title: 'Profiles published by others', subjects: others('external') },
    { title: 'More profiles published by others', subjects: others('external-2') },
  ];
}

const isNew = (known: readonly Subject[]) => (subject: Subject) =>
  !known.some(({ name }) => name === subject.name);

function others(folder: 'external' | 'external-2'): readonly Subject[] | undefined {
  const root = locate(folder);
  if (root === undefined) return undefined;
  const single = profilesBelow(root);
  // Ranks of one run are read together as well.
  const ranks = [/lightllm-.*rank\d/, /b200-tp8\/bs-1-.*DECODE/].flatMap(pattern => {
    const files = single.filter(({ name }) => pattern.test(name)).flatMap(subject => subject.files);
    return files.length > 1
      ? [{ name: `${path.dirname(path.relative(root, files[0]))} (all ranks)`, files }]
      : [];
  });
  return [...single, ...ranks];
}

function profilesBelow(folder: string): Subject[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => PROFILE.test(name) && !NO_PROFILE.test(name))
    .sort()
    .map(name => ({
      name: name.replaceAll(path.sep, '/').replace(/\.gz$/, ''),
      files: [path.join(folder, name)],
    }));
}

export interface TruthRow {
  readonly line: string;
  readonly differences: readonly Check[];
}

export async function truthRow({ name, files }: Subject, reading: IndependentReading): Promise<TruthRow> {
  const { out, err, status } = await runStepscope(['analyze', ...files, '--format', 'json']);
  if (status !== 0) throw new Error(`${name}: ${err}`);
  const { rows, summary } = (answerIn(out) as Said).analyses.findings;
  const checks = await reading.checks(out, files);
  const headline = summary.verdict ?? (await headlineOfPage(files));
  const differences = checks.filter(({ agrees }) => agrees === false);
  const findings = rows
    .slice(0, 3)
    .map(({ claim, gainThroughput }) => (gainThroughput ? `${claim} (${gain(gainThroughput)})` : claim));
  return {
    line: `| ${name} | ${[headline, findings.join('<br>'), verdict(checks)].map(cell).join(' | ')} |`,
    differences,
  };
}

/** Where no finding leads, the page describes the budget instead: the paragraph under its first line. */
async function headlineOfPage(files: readonly string[]): Promise<string> {
  const { out } = await runStepscope(['analyze', ...files], 1000);
  return out
    .split('\n')
    .slice(1)
    .find(line => line.trim() !== '')!
    .trim();
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const gain = (share: number) => (share >= 1 ? `×${(share + 1).toFixed(1)}` : `+${Math.round(share * 100)}%`);

function verdict(checks: readonly Check[]): string {
  const judged = checks.filter(({ agrees }) => agrees !== null);
  const differing = judged.filter(({ agrees }) => !agrees);
  const open = checks.filter(({ agrees }) => agrees === null).map(({ what }) => what);
  const said =
    differing.length > 0
      ? `**differs**: ${differing.map(({ what, claimed, found }) => `${what} (${claimed}, read ${found})`).join('; ')}`
      : `agrees: ${judged.map(({ what }) => what).join('; ')}`;
  return open.length > 0 ? `${said}; not checked: ${open.join('; ')}` : said;
}

/** One Python for all profiles; it is asked for one after the other. */
export class IndependentReading {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'stepscope-truth-'));
  private readonly python = spawn(
    locate('python')!,
    ['-B', path.join(projectRoot, 'test/independent/claims.py')],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  private readonly answers = createInterface(this.python.stdout)[Symbol.asyncIterator]();
  private trouble = '';

  constructor() {
    this.python.stderr.on('data', chunk => void (this.trouble += String(chunk)));
  }

  async checks(analysis: string, files: readonly string[]): Promise<readonly Check[]> {
    const document = path.join(this.folder, 'analysis.json');
    writeFileSync(document, analysis);
    this.python.stdin.write(`${JSON.stringify([document, ...files])}\n`);
    const { value, done } = await this.answers.next();
    if (done) throw new Error(this.trouble);
    return JSON.parse(value) as readonly Check[];
  }

  end(): void {
    this.python.stdin.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The section as it stands in the file: kept where its profiles are not on this machine. */
export function sectionInFile(title: string): string {
  const text = existsSync(truthFile) ? readFileSync(truthFile, 'utf8') : '';
  const at = text.indexOf(`\n## ${title}\n`);
  if (at < 0) return '';
  const end = text.indexOf('\n## ', at + 1);
  return text.slice(at + 1, end < 0 ? undefined : end + 1);
}

export const sectionText = (title: string, rows: readonly TruthRow[]) =>
  `## ${title}\n\n${HEAD}\n${rows.map(({ line }) => line).join('\n')}\n`;

export const truthIntroduction = `# Is it true?

What \`stepscope analyze\` says first about every profile at hand, and whether an independent reading of the same file agrees. The reading is [test/independent](../test/independent/claims.py): Python's own \`sqlite3\` and \`json\`, and each figure from its definition (union of intervals, launches by correlation, families by a plain pattern on names), without our code. From us it takes which windows were chosen as steps, nothing else. Each row names what was checked; a figure that differs by more than the check allows fails the tests.

\`npm run truth\` writes this page again. Profiles that are not in this repository are read where they lie beside it ([CONTRIBUTING](../CONTRIBUTING.md)).

`;
