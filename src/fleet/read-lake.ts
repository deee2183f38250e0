/** What a report needs of a lake, as sums: its records, one scan of the steps, and the parts of runs that changed. */
import type { FileSummary, UnitSummary } from './file-summary.js';
import { type BrokenFile, type ContentClaim, Lake } from './lake.js';
import { type CheckedFiles, checkFiles, type LakeFile } from './lake-files.js';
import { LakeQueries, quoted as text } from './query-lake.js';

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

/** What only a comparison of single steps shows. */
interface Compared {
  /** Steps that every device of the run recorded under the same number; null: the steps have no numbers. */
  readonly commonSteps: number | null;
  /** Of these, in which no other device needed longer apart from communication: in both halves of the capture. */
  readonly slowestEarly: number;
  readonly slowestLate: number;
  readonly earlySteps: number;
  /** Over the common steps with equally many collectives on all devices: their time above that of the quickest device. */
  readonly comparedSteps: number;
  readonly collectiveExcessNs: number;
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
    units: await compareSteps(queries, files, units),
    findings: findingsOf(files.counted, summaries),
  };
  const ofRuns = (runs: readonly string[]) =>
    files.counted.filter(({ run }) => runs.includes(run)).map(({ partition }) => partition);
  return {
    data,
    close: () => queries.close(),
    stepsOf: (run, phase) =>
      queries.rows(
        `select rank, device, iteration, ownNs from lake_steps
         where run = ${text(run)} and phase = ${text(phase)} order by iteration, rank, device`,
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
async function compareSteps(
  queries: LakeQueries,
  files: CheckedFiles,
  units: readonly UnitTotals[],
): Promise<UnitSums[]> {
  const runs = comparableRuns(files, units);
  const partitions = files.counted.filter(({ run }) => runs.has(run)).map(({ partition }) => partition);
  const compared = partitions.length === 0 ? [] : await comparedUnits(queries, partitions);
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

interface ComparedRow extends Compared {
  readonly run: string;
  readonly phase: string;
  readonly rank: number | null;
  readonly device: number;
  /** The file of a device without a rank. */
  readonly unranked: string;
}

async function comparedUnits(queries: LakeQueries, partitions: readonly string[]): Promise<ComparedRow[]> {
  await queries.run(
    `create temp table lake_steps as select run, phase, iteration, device,
       coalesce(processRank, try_cast(rank as integer)) as rank,
       case when coalesce(processRank, try_cast(rank as integer)) is null then file else '' end as unranked,
       wallNs - communicationExposedNs as ownNs, collectiveCalls, collectiveNs
     from ${queries.source('steps', partitions)}`,
  );
  return queries.rows<ComparedRow>(`
    with units as (
      select run, phase, count(*) as units, max(middle) as middle from (
        select run, phase, rank, device, unranked, quantile_disc(iteration, 0.5) as middle from lake_steps group by all)
      group by all),
    steps as (
      select run, phase, iteration, count(*) as there, max(ownNs) as longest,
        min(collectiveNs) as least, min(collectiveCalls) as fewest, max(collectiveCalls) as most
      from lake_steps group by all),
    common as (
      select steps.*, iteration < middle as early from steps join units using (run, phase)
      where there = units and units > 1)
    select run, phase, rank, device, unranked, count(*) as commonSteps,
      count(*) filter (early) as earlySteps,
      count(*) filter (early and ownNs = longest) as slowestEarly,
      count(*) filter (not early and ownNs = longest) as slowestLate,
      count(*) filter (fewest = most) as comparedSteps,
      coalesce(sum(collectiveNs - least) filter (fewest = most), 0) as collectiveExcessNs
    from lake_steps join common using (run, phase, iteration) group by all`);
}

/** Several devices, files of one run, and numbers that the engine gave. */
function comparableRuns({ counted, problems }: CheckedFiles, units: readonly UnitTotals[]): Set<string> {
  const several = new Map<string, Set<string>>();
  for (const { run, rank, device, file } of units)
    several.set(run, (several.get(run) ?? new Set()).add(`${rank ?? file}/${device}`));
  const runs = new Set([...several].filter(([, own]) => own.size > 1).map(([run]) => run));
  for (const { kind, run } of problems) if (kind === 'mixed') runs.delete(run);
  for (const { run, stepsNumbered } of counted) if (!stepsNumbered) runs.delete(run);
  return runs;
}

function findingsOf(files: readonly LakeFile[], summaries: ReadonlyMap<string, FileSummary>): FindingSums[] {
  return files.flatMap(({ run, file }) =>
    summaries
      .get(file)!
      .findings.filter(({ severity }) => severity !== 'note')
      .map(({ rule, phase, costNs, costShare, claim }) => ({ rule, phase, run, costNs, costShare, claim })),
  );
}
