/**
 * The contract of a summary report. Names, columns, order and rounding are those of `nsys stats` and `nsys analyze`
 * 2025.3.1, so that numbers can be checked against NVIDIA's line by line.
 */
import type { Profile } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import { notRecorded } from '../analysis.js';
import type { Block, TableBlock, TableColumn } from '../block.js';
import type { WantedTables } from '../wanted-tables.js';
import { withPriority } from './column-priority.js';

export interface ReportOptions {
  /** Which of a kernel's names to use: full (default), `base` or `mangled`. */
  readonly kernelName: 'full' | 'base' | 'mangled';
  /** Prefix kernel names with the innermost NVTX range around their launch. */
  readonly nvtxName: boolean;
  /** Numeric settings of rules: rows, gap, threshold, chunks. */
  readonly numbers: Readonly<Record<string, number>>;
}

export interface StatsReport {
  readonly id: string;
  readonly title: string;
  /** Names older releases used. */
  readonly aliases: readonly string[];
  /** Options after the colon, such as `base` or `gap=10`. */
  readonly options: readonly string[];
  /** Tables it reads, and which of their optional columns; the importer may leave out the rest. */
  readonly reads: WantedTables;
  /** What it cannot do without: of each group at least one table must have been recorded. */
  readonly needs: readonly (readonly TableName[])[];
  /** Whether those tables hold what it is about, where several reports share one. */
  recorded?(profile: Profile): boolean;
  compute(profile: Profile, options: ReportOptions): readonly TableColumn[];
  readonly advice?: string;
}

export const launchShapeColumns = ['gridX', 'gridY', 'gridZ', 'blockX', 'blockY', 'blockZ'] as const;
export const rangeColumns = ['endThread', 'sourceRow'] as const;

/** Everything a report will touch, its options considered. */
export function tablesRead(report: StatsReport, options: ReportOptions): WantedTables {
  const wanted: { [Name in TableName]?: readonly string[] } = { ...report.reads };
  if (options.kernelName === 'base') wanted.kernels = [...(wanted.kernels ?? []), 'shortName'];
  if (options.kernelName === 'mangled') wanted.kernels = [...(wanted.kernels ?? []), 'mangledName'];
  if (options.nvtxName) {
    wanted.apiCalls ??= [];
    wanted.ranges ??= rangeColumns;
  }
  return wanted;
}

export const kernelNameOptions = ['nvtx-name', 'base', 'mangled'] as const;

export const defaultOptions: ReportOptions = { kernelName: 'full', nvtxName: false, numbers: {} };

function missingFor(report: StatsReport, profile: Profile): readonly TableName[] | undefined {
  const missing = report.needs.find(group => !group.some(table => profile.tables[table]));
  return missing ?? (report.recorded?.(profile) === false ? report.needs[0] : undefined);
}

export const isRecorded = (report: StatsReport, profile: Profile): boolean =>
  missingFor(report, profile) === undefined;

export function runReport(report: StatsReport, profile: Profile, options: ReportOptions): Block {
  const missing = missingFor(report, profile);
  if (missing) {
    const { what, hint, damaged } = notRecorded(profile, missing);
    return { kind: 'not-recorded', id: report.id, title: report.title, what, hint, damaged };
  }
  const columns = report.compute(profile, options).map(withPriority);
  const block: TableBlock = {
    kind: 'table',
    id: report.id,
    title: report.title,
    rows: columns[0]?.values.length ?? 0,
    columns,
    ...(report.advice ? { advice: report.advice } : {}),
  };
  return block;
}
