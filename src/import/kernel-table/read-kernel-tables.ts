/**
 * Kernel summaries as people keep them: what `nsys stats` printed (aligned text or CSV), or a table copied from Nsight
 * Systems into notes as Markdown. A table begins where a line names the columns Instances and Name.
 */
import { UserError } from '../../base/user-error.js';

interface KernelTable {
  /** The line before it, where that names it (`auto:`); else the file. */
  readonly title: string;
  readonly rows: readonly KernelTableRow[];
  /** Time of all kernels of the run, worked out from a row's share; absent where shares are not given. */
  readonly wholeNs?: number;
}

interface KernelTableRow {
  readonly name: string;
  readonly totalNs: number;
  readonly instances: number;
}

const LONGEST_LINE = 100_000;
const units: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 };

export function readKernelTables(text: string, file: string): KernelTable[] {
  const lines = text.split(/\r?\n/).filter(line => line.length <= LONGEST_LINE);
  const tables: KernelTable[] = [];
  for (let i = 0; i < lines.length; i++) {
    const split = splitterOf(lines[i]);
    if (!split) continue;
    const header = split(lines[i]).map(cell => cell.toLowerCase());
    const column = (pattern: RegExp) => header.findIndex(name => pattern.test(name));
    const [share, total, instances, name] = [
      /^time( \(%\))?$/,
      /^total time/,
      /^instances$/,
      /^(kernel )?name$/,
    ].map(column);
    if (total < 0 || instances < 0 || name < 0) continue;
    const inHeader = /\((ns|us|µs|ms|s)\)/.exec(header[total])?.[1] ?? 'ns';
    const rows: (KernelTableRow & { share: number })[] = [];
    const title = titleBefore(lines, i) ?? file;
    for (i++; i < lines.length; i++) {
      if (/^[\s|:+-]*$/.test(lines[i]) && /-/.test(lines[i])) continue;
      const cells = split(lines[i], header.length);
      const totalNs = durationOf(cells[total], units[inHeader]);
      const count = Number(cells[instances]?.replaceAll(',', ''));
      if (cells.length < header.length || Number.isNaN(totalNs) || !Number.isInteger(count)) break;
      const percent = share < 0 ? Number.NaN : Number.parseFloat(cells[share]);
      rows.push({
        name: cells[name].replace(/\\([\\_<>*`|[\]])/g, '$1'),
        totalNs,
        instances: count,
        share: percent / 100,
      });
    }
    i--;
    if (rows.length > 0)
      tables.push({ title, rows: rows.map(({ share: _, ...row }) => row), ...wholeOf(rows) });
  }
  if (tables.length > 0) return tables;
  throw new UserError(
    'not-a-profile',
    `${file} contains no kernel summary.`,
    'Give the output of nsys stats -r cuda_gpu_kern_sum (text or CSV), or a table copied from Nsight Systems.',
  );
}

type Split = (line: string, columns?: number) => string[];

/** How the line of a header is cut into cells, if it is one. */
function splitterOf(line: string): Split | undefined {
  if (!/\bInstances\b/.test(line) || !/\bName\b/.test(line)) return undefined;
  if (line.trimStart().startsWith('|'))
    return text =>
      text
        .trim()
        .replace(/^\||\|$/g, '')
        .split(/(?<!\\)\|/)
        .map(cell => cell.trim());
  if (line.includes(',')) return csvCells;
  // The last column is the name, which may hold anything.
  return (text, columns) => {
    const cells = text.trim().split(/\s{2,}/);
    if (columns === undefined || cells.length <= columns) return cells;
    return [...cells.slice(0, columns - 1), cells.slice(columns - 1).join('  ')];
  };
}

function csvCells(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'),
  );
}

/** `7.997 s`, `444.412 μs`, `1963669`; bare numbers have the unit of the header. */
function durationOf(text: string | undefined, headerUnit: number): number {
  const match = /^([\d,]+(?:\.\d+)?)\s*(ns|us|µs|μs|ms|s)?$/.exec(text?.trim() ?? '');
  return match
    ? Number(match[1].replaceAll(',', '')) * (match[2] ? units[match[2]] : headerUnit)
    : Number.NaN;
}

/** A word or two with a colon above the table names it. */
function titleBefore(lines: readonly string[], header: number): string | undefined {
  for (let i = header - 1; i >= Math.max(0, header - 4); i--) {
    const named = /^\s*([^|`:]{1,60}):\s*$/.exec(lines[i]);
    if (named) return named[1].trim();
  }
  return undefined;
}

/** The largest share is the one rounded least. */
function wholeOf(rows: readonly { totalNs: number; share: number }[]): { wholeNs?: number } {
  const [largest] = [...rows].sort((a, b) => b.share - a.share);
  return largest.share > 0 ? { wholeNs: largest.totalNs / largest.share } : {};
}
