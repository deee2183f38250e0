/** What a report needs of a lake, as sums: its records, one scan of the steps, and the parts of runs that changed. */

import { quoted as text } from '../disk/open-duckdb.js';
import { type Compared, comparedUnits } from './compare-steps.js';
import type { FileSummary, UnitSummary } from './file-summary.js';
import { type BrokenFile, type ContentClaim, Lake } from './lake.js';
import { type CheckedFiles, checkFiles, type LakeFile } from './lake-files.js';
import { LakeQueries } from './query-lake.js';

/** A device of a rank in one run and phase, over its steps. */
export interface UnitSums extends Compared {
  readonly run: string;
  readonly phase: string;
  /** null: nothing gives it. */
  readonly rank: number | null;
  readonly device: number;
  /** One of its files. */
  readonly file: string;
  readonly steps: number;
  readonly wallNs: number;
  readonly computeNs: number;
  readonly communicationNs: number;
  readonly copyNs: number;
  readonly idleNs: number;
  /** Part of computeNs: graph replays recorded as blocks, which hide communication. */
  readonly graphReplayNs: number;
  /** Requests that decode, and prompt tokens, per step; null: not recorded. */
  readonly requests: number | null;
  readonly tokens: number | null;
}

interface FindingSums {
  readonly rule: string;
  readonly phase: string | null;
  readonly run: string;
  readonly costNs: number | null;
  readonly costShare: number | null;
  readonly claim: string;
}

export interface PartSums {
  readonly run: string;
  readonly part: string;
  readonly family: string | null;
  readonly kernel: string | null;
  readonly ns: number;
  readonly count: number;
}

export interface LakeData {
  readonly folder: string;
  readonly files: CheckedFiles;
  readonly broken: readonly BrokenFile[];
  readonly units: readonly UnitSums[];
  readonly findings: readonly FindingSums[];
}

export interface OpenLake {
  readonly data: LakeData;
  /** Parts of the steps of some runs in a phase, and over how many windows. */
  partsOf(
    runs: readonly string[],
    phase: string,
  ): Promise<{ parts: PartSums[]; windows: Map<string, number> }>;
  /** Time apart from communication, per step and device of a run. */
  stepsOf(run: string, phase: string): Promise<StepRow[]>;
  close(): void;
}

export interface StepRow {
  readonly rank: number | null;
  readonly device: number;
  readonly iteration: number;
  readonly ownNs: number;
}

export async function openLake(folder: string): Promise<OpenLake> {
  const lake = Lake.open(folder);
  const queries = await LakeQueries.open(lake);
  const claims = lake.claims().sort((a, b) => (a.file < b.file ? -1 : 1));
  const summaries = new Map(claims.map(claim => [claim.file, claim.summary]));
  const files = checkFiles(claims.map(lakeFile));
  const units = unitsOf(files.counted, summaries);
  const data: LakeData = {
    folder: lake.folder,
    files,
    broken: lake.broken(),
    units: await withComparedSteps(queries, files, units),
    findings: findingsOf(files.counted, summaries),
  };
  const ofRuns = (runs: readonly string[]) =>
    files.counted.filter(({ run }) => runs.includes(run)).map(({ partition }) => partition);
  return {
    data,
    close: () => queries.close(),
    stepsOf: (run, phase) =>
      queries.rows(
        `select rank, device, step as iteration, ownNs from lake_steps
         where run = ${text(run)} and phase = ${text(phase)} order by step, rank, device`,
      ),
    async partsOf(runs, phase) {
      const kernels = queries.source('kernels', ofRuns(runs));
      const parts = await queries.rows<PartSums>(
        `select run, part, any_value(family) as family, any_value(kernel) as kernel, sum(ns) as ns, sum(count) as count
         from ${kernels} where phase = ${text(phase)} group by run, part order by run, part`,
      );
      const windows = await queries.rows<{ run: string; windows: number }>(
        `select run, sum(windows) as windows from (
           select run, rank, file, any_value(windows) as windows from ${kernels}
           where phase = ${text(phase)} group by run, rank, file) group by run`,
      );
      return { parts, windows: new Map(windows.map(row => [row.run, row.windows])) };
    },
  };
}

/** `run=…/rank=…/file=…` */
const PLACE = /^run=([^/\\]+)[/\\]rank=([^/\\]+)[/\\]file=/;

function lakeFile({ partition, file, summary: { facts } }: ContentClaim): LakeFile {
  const [, run, rank] = PLACE.exec(partition)!;
  return {
    ...{ ...facts, partition, file, run, rank: /^\d+$/.test(rank) ? Number(rank) : null },
    profiler: facts.profiler as LakeFile['profiler'],
    originUtcNs: facts.originUtcNs === null ? null : BigInt(facts.originUtcNs),
  };
}

type UnitTotals = Omit<UnitSums, keyof Compared>;

/** Files of one rank are one device; without a rank each file has its own. */
const unitKey = (run: string, phase: string, rank: number | null, device: number, file: string): string =>
  `${run}|${phase}|${rank ?? file}|${device}`;

function unitsOf(files: readonly LakeFile[], summaries: ReadonlyMap<string, FileSummary>): UnitTotals[] {
  const found = new Map<string, { unit: UnitTotals; requestSteps: number; tokenSteps: number }>();
  for (const { run, rank: ofFile, file } of files)
    for (const { processRank, requestSteps, tokenSteps, ...own } of summaries.get(file)!.units) {
      const rank = processRank ?? ofFile;
      const key = unitKey(run, own.phase, rank, own.device, file);
      const known = found.get(key);
      found.set(key, {
        unit: known ? sumOfUnits(known.unit, own) : { ...own, run, rank, file },
        requestSteps: requestSteps + (known?.requestSteps ?? 0),
        tokenSteps: tokenSteps + (known?.tokenSteps ?? 0),
      });
    }
  return [...found.values()].map(({ unit, requestSteps, tokenSteps }) => ({
    ...unit,
    requests: requestSteps > 0 ? unit.requests! / requestSteps : null,
    tokens: tokenSteps > 0 ? unit.tokens! / tokenSteps : null,
  }));
}

function sumOfUnits(
  unit: UnitTotals,
  more: Omit<UnitSummary, 'processRank' | 'requestSteps' | 'tokenSteps'>,
): UnitTotals {
  const { phase, device, ...amounts } = more;
  const sums = Object.entries(amounts).map(([name, amount]) => [
    name,
    (unit[name as 'wallNs'] ?? 0) + amount,
  ]);
  return { ...unit, phase, device, ...Object.fromEntries(sums) };
}

/** Adds what only single steps show, for runs whose devices can be compared step by step. */
async function withComparedSteps(
  queries: LakeQueries,
  files: CheckedFiles,
  units: readonly UnitTotals[],
): Promise<UnitSums[]> {
  const compared = await comparedUnits(queries, comparableFiles(files, units));
  const byUnit = new Map(
    compared.map(row => [unitKey(row.run, row.phase, row.rank, row.device, row.unranked), row]),
  );
  return units.map(unit => {
    const own = byUnit.get(unitKey(unit.run, unit.phase, unit.rank, unit.device, unit.file));
    return {
      ...unit,
      commonSteps: own?.commonSteps ?? null,
      slowestEarly: own?.slowestEarly ?? 0,
      slowestLate: own?.slowestLate ?? 0,
      earlySteps: own?.earlySteps ?? 0,
      comparedSteps: own?.comparedSteps ?? 0,
      collectiveExcessNs: own?.collectiveExcessNs ?? 0,
    };
  });
}

/** Of runs with several devices whose files are of one run. */
function comparableFiles({ counted, problems }: CheckedFiles, units: readonly UnitTotals[]): LakeFile[] {
  const several = new Map<string, Set<string>>();
  for (const { run, rank, device, file } of units)
    several.set(run, (several.get(run) ?? new Set()).add(`${rank ?? file}/${device}`));
  const mixed = new Set(problems.filter(({ kind }) => kind === 'mixed').map(({ run }) => run));
  return counted.filter(({ run }) => (several.get(run)?.size ?? 0) > 1 && !mixed.has(run));
}

function findingsOf(files: readonly LakeFile[], summaries: ReadonlyMap<string, FileSummary>): FindingSums[] {
  return files.flatMap(({ run, file }) =>
    summaries
      .get(file)!
      .findings.filter(({ severity }) => severity !== 'note')
      .map(({ rule, phase, costNs, costShare, claim }) => ({ rule, phase, run, costNs, costShare, claim })),
  );
}
