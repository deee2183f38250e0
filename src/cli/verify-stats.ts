/**
 * `stats --verify`: the user's own nsys prints the same reports of the same export, and both are held beside each other
 * row by row. nsys gets a copy, so nothing is written beside the user's file.
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Block } from '../analyze/block.js';
import { analyzeRules, type ChosenReport } from '../analyze/stats/index.js';
import { runReport, type StatsReport } from '../analyze/stats/report.js';
import { parseCsv } from '../base/parse-csv.js';
import { plural } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { makeTemporaryFolder, removeTemporaryFolder } from '../disk/temporary-folder.js';
import { importersOf } from '../import/index.js';
import { findNsys, type Nsys } from '../import/nsys-rep/find-nsys.js';
import { nsysSqlite } from '../import/nsys-sqlite/nsys-sqlite.js';
import { ProfileFile } from '../import/profile-file.js';
import type { Profile } from '../model/profile.js';
import { renderCsv } from '../report/csv.js';
import type { Result } from './emit.js';

/** Before, reports had other names, and some other rows. */
const FIRST_WITH_THESE_NAMES = 2023;
const MOST_BYTES = 2 ** 30;

const isOlder = ({ version }: Nsys) => Number(version.split('.')[0]) < FIRST_WITH_THESE_NAMES;

/** Names without underscores were those of 2022. Its sum over kernels had a row per grid, as another report has now. */
function olderName({ id, aliases }: StatsReport): string | undefined {
  if (id === 'cuda_gpu_kern_gb_sum') return 'gpukernsum';
  return id === 'cuda_gpu_kern_sum' ? undefined : aliases.find(alias => !alias.includes('_'));
}

/** NVTX names without the colon of the default domain, kinds of copies in short. */
const inOlderWords = (csv: string) =>
  csv
    .replace(/\[CUDA memcpy (\w)\w*-to-(\w)\w*\]/g, '[CUDA memcpy $1to$2]')
    .replace(/,("?):(?=[^\n]*$)/gm, ',$1');

interface Verdict {
  readonly report: string;
  readonly verdict: 'equal' | 'differs' | 'not compared';
  /** Rows that both print. */
  readonly rows: number;
  readonly remark: string;
}

interface Verification {
  readonly nsys: Nsys;
  readonly verdicts: readonly Verdict[];
}

export async function verifyStats(
  given: readonly string[],
  chosen: readonly ChosenReport[],
  profile: Profile,
  onProgress: (done: number) => void,
): Promise<Verification> {
  const [nsys] = await findNsys();
  if (nsys === undefined)
    throw new UserError(
      'needs-nsys',
      '--verify needs nsys, which was not found on this machine.',
      'Install Nsight Systems, or set NSYS=/path/to/nsys.',
    );
  const folder = makeTemporaryFolder('stepscope-verify-');
  try {
    const copy = await copyOf(given, path.join(folder, 'copy.sqlite'));
    const verdicts: Verdict[] = [];
    for (const one of chosen) {
      onProgress(verdicts.length / chosen.length);
      const ours = oursOf(one, profile);
      const theirs = await theirsOf(nsys, one, copy);
      verdicts.push(verdictOn(one.request, isOlder(nsys) ? inOlderWords(ours) : ours, theirs));
    }
    return { nsys, verdicts };
  } finally {
    removeTemporaryFolder(folder);
  }
}

/** The export as it is, unpacked where it is packed. */
async function copyOf(given: readonly string[], target: string): Promise<string> {
  const refusal = new UserError(
    'usage',
    '--verify compares one Nsight Systems export at a time.',
    'Give one .sqlite file; create it with: nsys export --type sqlite REPORT.nsys-rep',
  );
  if (given.length !== 1) throw refusal;
  const file = ProfileFile.open(given[0]);
  try {
    if (!(await importersOf(file)).includes(nsysSqlite)) throw refusal;
    const fd = fs.openSync(target, 'wx', 0o600);
    try {
      for await (const chunk of file.chunks()) fs.writeSync(fd, chunk);
    } finally {
      fs.closeSync(fd);
    }
  } finally {
    file.close();
  }
  return target;
}

function oursOf({ report, options }: ChosenReport, profile: Profile): string {
  const block = runReport(report, profile, options);
  return block.kind === 'table' ? renderCsv(block) : '';
}

/** What nsys prints, or why it does not. */
function theirsOf(
  nsys: Nsys,
  { report, request }: ChosenReport,
  file: string,
): Promise<{ csv: string } | { missing: string }> {
  if (analyzeRules.includes(report)) return Promise.resolve({ missing: 'a rule of nsys analyze' });
  const name = isOlder(nsys) ? olderName(report) : report.id;
  if (name === undefined) return Promise.resolve({ missing: 'this nsys does not have the report' });
  const asked = [name, ...request.split(':').slice(1)].join(':');
  return new Promise(resolve => {
    execFile(
      nsys.path,
      ['stats', '-q', '-f', 'csv', '-r', asked, file],
      { maxBuffer: MOST_BYTES },
      (error, stdout, stderr) => {
        const failed = /^(?:ERROR|Processing .*failed)[^\n]*/m.exec(`${stderr}\n${stdout}`)?.[0];
        if (failed || error) resolve({ missing: `nsys says: ${failed ?? error?.message.split('\n')[0]}` });
        else resolve({ csv: stdout });
      },
    );
  });
}

export function verdictOn(
  report: string,
  ours: string,
  theirs: { csv: string } | { missing: string },
): Verdict {
  if ('missing' in theirs) return { report, verdict: 'not compared', rows: 0, remark: theirs.missing };
  const a = tableOf(ours);
  const b = tableOf(theirs.csv);
  if (a.rows.length === 0 && b.rows.length === 0)
    return { report, verdict: 'equal', rows: 0, remark: 'no rows on either side' };
  const shared = a.header.filter(name => b.header.includes(name));
  const apart = [...a.header, ...b.header].filter(name => !shared.includes(name));
  const oneSided = [...a.rows, ...b.rows].length > 0 && (a.header.length === 0 || b.header.length === 0);
  const left = projected(a, oneSided ? a.header : shared);
  const right = projected(b, oneSided ? b.header : shared);
  const { onlyOurs, onlyTheirs, rounded } = pairedByRounding(without(left, right), without(right, left));
  const rows = left.length - onlyOurs.length;
  const columns = [
    rounded > 0 ? `${plural(rounded, 'row')} rounded differently in the last digit` : '',
    apart.length > 0 && !oneSided ? `only one side has: ${apart.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('; ');
  if (onlyOurs.length + onlyTheirs.length === 0) return { report, verdict: 'equal', rows, remark: columns };
  const readable = (row: string) => row.replaceAll(CELL_END, ', ');
  const example =
    onlyTheirs[0] === undefined ? `ours ${readable(onlyOurs[0])}` : `nsys ${readable(onlyTheirs[0])}`;
  const counts = `${plural(onlyOurs.length, 'row')} only in stepscope, ${onlyTheirs.length} only in nsys, e.g. ${example}`;
  return { report, verdict: 'differs', rows, remark: [counts, columns].filter(Boolean).join('; ') };
}

interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Releases spell some headers and the empty cell differently. */
function tableOf(csv: string): Table {
  const [header = [], ...rows] = parseCsv(csv);
  const spelled = (name: string) =>
    name
      .trim()
      .replace('Time(%)', 'Time (%)')
      .replace('MBps', 'MB/s')
      .replace('Migration size', 'Migration Size');
  return {
    header: header.map(spelled),
    rows: rows.map(row => row.map(cell => (cell === 'None' ? '' : cell))),
  };
}

const projected = ({ header, rows }: Table, columns: readonly string[]): string[] => {
  const places = columns.map(name => header.indexOf(name));
  return rows.map(row => places.map(place => row[place] ?? '').join(CELL_END));
};

/** Ends a cell where rows are compared as texts. */
const CELL_END = '\0';
/** Beyond this many rows nobody looks for pairs. */
const MOST_PAIRED = 1000;

/** Takes out pairs that are equal but for the last digit of a mean: releases of SQLite round ties differently. */
function pairedByRounding(ours: readonly string[], theirs: readonly string[]) {
  const onlyTheirs = [...theirs];
  const onlyOurs =
    ours.length > MOST_PAIRED || theirs.length > MOST_PAIRED
      ? ours
      : ours.filter(row => {
          const pair = onlyTheirs.findIndex(other => differsByRounding(row, other));
          if (pair >= 0) onlyTheirs.splice(pair, 1);
          return pair < 0;
        });
  return { onlyOurs, onlyTheirs, rounded: ours.length - onlyOurs.length };
}

function differsByRounding(a: string, b: string): boolean {
  const cells = b.split(CELL_END);
  return a.split(CELL_END).every((cell, i) => {
    if (cell === cells[i]) return true;
    const isMean = /^-?\d+\.\d$/;
    return isMean.test(cell) && isMean.test(cells[i]) && Math.abs(Number(cell) - Number(cells[i])) < 0.11;
  });
}

/** Those of the first list that the second does not have, as often as they are there. Order does not count. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const row of other) left.set(row, (left.get(row) ?? 0) + 1);
  return list.filter(row => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

export function verificationResult({ nsys, verdicts }: Verification): Result {
  const table: Block = {
    kind: 'table',
    id: 'verify',
    title: `Compared with nsys ${nsys.version}`,
    rows: verdicts.length,
    columns: [
      { header: 'Report', kind: 'text', values: verdicts.map(({ report }) => report) },
      { header: 'Verdict', kind: 'text', values: verdicts.map(({ verdict }) => verdict) },
      { header: 'Equal rows', kind: 'count', values: verdicts.map(({ rows }) => rows) },
      { header: 'Remark', kind: 'text', values: verdicts.map(({ remark }) => remark) },
    ],
    ...(isOlder(nsys)
      ? {
          advice:
            'Before 2023, some nsys reports had different rows and names. Stepscope follows nsys 2025.3.',
        }
      : {}),
  };
  return {
    blocks: () => [table],
    document: () => ({ schema: 'stepscope-stats-verify/1', nsys: nsys.version, reports: verdicts }),
  };
}
