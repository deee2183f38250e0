/** What a report needs of a lake, as sums: a few scans of it, however many ranks there are. */

import { type BrokenFile, Lake } from './lake.js';
import { type CheckedFiles, checkFiles, type LakeFile } from './lake-files.js';
import { LakeQueries, quoted as text } from './query-lake.js';

/** A device of a rank in one run and phase, over its steps. */
export interface UnitSums {
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
  readonly files: number;
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
  const partitions = lake.partitions();
  const queries = await LakeQueries.open(lake);
  const files = checkFiles(partitions.length === 0 ? [] : await filesOf(queries, partitions));
  const counted = files.counted.map(({ partition }) => partition);
  const data: LakeData = {
    folder: lake.folder,
    files,
    broken: lake.broken(),
    units: counted.length === 0 ? [] : await unitSums(queries, counted, files),
    findings: counted.length === 0 ? [] : await findingSums(queries, counted),
  };
  const ofRuns = (runs: readonly string[]) =>
    files.counted.filter(({ run }) => runs.includes(run)).map(({ partition }) => partition);
  return {
    data,
    close: () => queries.close(),
    stepsOf: (run, phase) =>
      queries.rows(
        `select rank, device, iteration, wallNs - communicationNs as ownNs from lake_steps
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

async function filesOf(queries: LakeQueries, partitions: readonly string[]): Promise<LakeFile[]> {
  const place = new Map(partitions.map(partition => [partition.split(/[\\/]/).at(-1)!, partition]));
  const rows = await queries.rows<Omit<LakeFile, 'partition'>>(
    `select run, try_cast(rank as integer) as rank, file, path, host, profiler, engine, gpu, gpus, graphs, model, config, layers,
       worldSize, ranksInFile, software, originUtcNs, startNs, endNs, selectedSteps, stepsNumbered
     from ${queries.source('files', partitions)}`,
  );
  return rows.map(row => ({ ...row, partition: place.get(`file=${row.file}`)! }));
}

async function unitSums(
  queries: LakeQueries,
  partitions: readonly string[],
  files: CheckedFiles,
): Promise<UnitSums[]> {
  // Files without a rank are told apart by their content.
  await queries.run(
    `create temp table lake_steps as select run, file, phase, iteration, device,
       coalesce(processRank, try_cast(rank as integer)) as rank,
       case when coalesce(processRank, try_cast(rank as integer)) is null then file else '' end as unranked,
       wallNs, computeNs, communicationExposedNs as communicationNs, copyExposedNs as copyNs, idleNs,
       graphReplayNs, collectiveCalls, collectiveNs, generationRequests, contextTokens
     from ${queries.source('steps', partitions)}`,
  );
  const comparable = comparableRuns(files);
  await queries.run(`create temp table comparable (run varchar)`);
  for (let from = 0; from < comparable.length; from += 1000)
    await queries.run(
      `insert into comparable values ${comparable
        .slice(from, from + 1000)
        .map(run => `(${text(run)})`)
        .join(',')}`,
    );
  return queries.rows<UnitSums>(`
    with units as (
      select run, phase, count(*) as units, max(middle) as middle from (
        select run, phase, rank, device, unranked, quantile_disc(iteration, 0.5) as middle from lake_steps group by all)
      group by all),
    steps as (
      select run, phase, iteration, count(*) as there, max(wallNs - communicationNs) as longest,
        min(collectiveNs) as least, min(collectiveCalls) as fewest, max(collectiveCalls) as most
      from lake_steps semi join comparable using (run) group by all),
    common as (
      select steps.*, iteration < middle as early from steps join units using (run, phase)
      where there = units and units > 1),
    compared as (
      select run, phase, rank, device, unranked, count(*) as commonSteps,
        count(*) filter (early) as earlySteps,
        count(*) filter (early and wallNs - communicationNs = longest) as slowestEarly,
        count(*) filter (not early and wallNs - communicationNs = longest) as slowestLate,
        count(*) filter (fewest = most) as comparedSteps,
        coalesce(sum(collectiveNs - least) filter (fewest = most), 0) as collectiveExcessNs
      from lake_steps join common using (run, phase, iteration) group by all),
    sums as (
      select run, phase, rank, device, unranked, min(file) as file, count(*) as steps, sum(wallNs) as wallNs,
        sum(computeNs) as computeNs, sum(communicationNs) as communicationNs, sum(copyNs) as copyNs, sum(idleNs) as idleNs,
        sum(graphReplayNs) as graphReplayNs, avg(generationRequests) as requests, avg(contextTokens) as tokens
      from lake_steps group by all)
    select sums.run, sums.phase, sums.rank, sums.device, file, steps, wallNs, computeNs, communicationNs, copyNs, idleNs,
      graphReplayNs, requests, tokens, commonSteps, coalesce(slowestEarly, 0) as slowestEarly, coalesce(slowestLate, 0) as slowestLate,
      coalesce(earlySteps, 0) as earlySteps, coalesce(comparedSteps, 0) as comparedSteps,
      coalesce(collectiveExcessNs, 0) as collectiveExcessNs
    from sums left join compared on sums.run = compared.run and sums.phase = compared.phase
      and sums.rank is not distinct from compared.rank and sums.device = compared.device
      and sums.unranked = compared.unranked
    order by sums.run, sums.phase, sums.rank, sums.device, file`);
}

/** Runs whose ranks can be compared step by step: files of one run, with numbers that the engine gave. */
function comparableRuns({ counted, problems }: CheckedFiles): string[] {
  const excluded = new Set(problems.filter(({ kind }) => kind === 'mixed').map(({ run }) => run));
  for (const { run, stepsNumbered } of counted) if (!stepsNumbered) excluded.add(run);
  return [...new Set(counted.map(({ run }) => run))].filter(run => !excluded.has(run));
}

const findingSums = (queries: LakeQueries, partitions: readonly string[]): Promise<FindingSums[]> =>
  queries.rows(
    `select rule, phase, run, count(distinct file) as files, avg(costNs) as costNs, avg(costShare) as costShare,
       arg_max(claim, coalesce(costNs, 0)) as claim
     from ${queries.source('findings', partitions)}
     where severity <> 'note' group by rule, phase, run order by rule, phase, run`,
  );
