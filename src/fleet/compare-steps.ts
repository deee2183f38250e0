/**
 * The devices of a run step by step. A step is the same on all of them if the engine numbers its steps; otherwise if all
 * recorded equally many, and those at the same place began within half a step of each other, on clocks that show the
 * time of day. Where neither holds, nothing is claimed.
 */

import { quoted as text } from '../disk/open-duckdb.js';
import type { LakeFile } from './lake-files.js';
import type { LakeQueries } from './query-lake.js';

/** What only a comparison of single steps shows. */
export interface Compared {
  /** Steps that every device of the run recorded; null: it cannot be told which are the same. */
  readonly commonSteps: number | null;
  /** Of these, in which no other device needed longer apart from communication: in both halves of the capture. */
  readonly slowestEarly: number;
  readonly slowestLate: number;
  readonly earlySteps: number;
  /** Over the common steps with equally many collectives on all devices: their time above that of the quickest device. */
  readonly comparedSteps: number;
  readonly collectiveExcessNs: number;
}

interface ComparedRow extends Compared {
  readonly run: string;
  readonly phase: string;
  readonly rank: number | null;
  readonly device: number;
  /** The file of a device without a rank. */
  readonly unranked: string;
}

/** Leaves the compared steps in the table `lake_steps`. */
export async function comparedUnits(
  queries: LakeQueries,
  files: readonly LakeFile[],
): Promise<ComparedRow[]> {
  const unnumbered = new Set(files.filter(file => !file.stepsNumbered).map(({ run }) => run));
  const untimed = new Set(files.filter(file => file.originUtcNs === null).map(({ run }) => run));
  const numbered = files.filter(({ run }) => !unnumbered.has(run));
  const byPlace = files.filter(({ run }) => unnumbered.has(run) && !untimed.has(run));
  if (numbered.length + byPlace.length === 0) return [];
  await queries.run(
    `create temp table lake_steps (run varchar, phase varchar, step bigint, device integer, rank integer,
       unranked varchar, ownNs double, collectiveCalls integer, collectiveNs double)`,
  );
  if (numbered.length > 0)
    await queries.run(
      `insert into lake_steps select run, phase, iteration, ${STEP} from ${steps(queries, numbered)}`,
    );
  if (byPlace.length > 0) await addStepsByPlace(queries, byPlace);
  return queries.rows<ComparedRow>(COMPARED);
}

const RANK = 'coalesce(processRank, try_cast(rank as integer))';
const UNRANKED = `case when ${RANK} is null then file else '' end`;
const STEP = `device, ${RANK} as rank, ${UNRANKED} as unranked, wallNs - communicationExposedNs as ownNs,
  collectiveCalls, collectiveNs`;

const steps = (queries: LakeQueries, files: readonly LakeFile[]) =>
  queries.source(
    'steps',
    files.map(({ partition }) => partition),
  );

/** Half a step: further apart, the place does not tell which step it is. */
const MOST_APART = 0.5;

async function addStepsByPlace(queries: LakeQueries, files: readonly LakeFile[]): Promise<void> {
  const first = new Map<string, bigint>();
  for (const { run, originUtcNs } of files)
    if (originUtcNs! < (first.get(run) ?? originUtcNs! + 1n)) first.set(run, originUtcNs!);
  const origins = files.map(
    ({ run, file, originUtcNs }) => `(${text(file)}, ${Number(originUtcNs! - first.get(run)!)})`,
  );
  await queries.run('create temp table origins (file varchar, base double)');
  await queries.run(`insert into origins values ${origins.join(',')}`);
  await queries.run(
    `create temp table placed as select run, phase, row_number() over (
         partition by run, ${RANK}, device, ${UNRANKED} order by base + startNs) as step,
       ${STEP}, base + startNs as startedNs, wallNs
     from ${steps(queries, files)} join origins using (file)`,
  );
  await queries.run(
    `insert into lake_steps select run, phase, step, device, rank, unranked, ownNs, collectiveCalls, collectiveNs
     from placed semi join (
       with units as (
         select run, count(*) as units from (select distinct run, rank, device, unranked from placed) group by run),
       walls as (select run, median(wallNs) as wallNs from placed group by run),
       places as (select run, step, count(*) as there, max(startedNs) - min(startedNs) as apart from placed group by run, step)
       select run from places join units using (run) join walls using (run) group by run
       having bool_and(there = units and apart <= ${MOST_APART} * wallNs)) as aligned using (run)`,
  );
}

const COMPARED = `
  with units as (
    select run, phase, count(*) as units, max(middle) as middle from (
      select run, phase, rank, device, unranked, quantile_disc(step, 0.5) as middle from lake_steps group by all)
    group by all),
  steps as (
    select run, phase, step, count(*) as there, max(ownNs) as longest,
      min(collectiveNs) as least, min(collectiveCalls) as fewest, max(collectiveCalls) as most
    from lake_steps group by all),
  common as (
    select steps.*, step < middle as early from steps join units using (run, phase)
    where there = units and units > 1)
  select run, phase, rank, device, unranked, count(*) as commonSteps,
    count(*) filter (early) as earlySteps,
    count(*) filter (early and ownNs = longest) as slowestEarly,
    count(*) filter (not early and ownNs = longest) as slowestLate,
    count(*) filter (fewest = most) as comparedSteps,
    coalesce(sum(collectiveNs - least) filter (fewest = most), 0) as collectiveExcessNs
  from lake_steps join common using (run, phase, step) group by all`;
