/**
 * Many files: memory must not grow with their number, a second worker must pay, ten thousand ranks must be reported in
 * seconds, and another reader of the lake must find the same sums.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../src/base/units.js';
import { summaryOf } from '../src/fleet/file-summary.js';
import { Lake } from '../src/fleet/lake.js';
import { type LakeRows, type LakeTable, lakeTableNames } from '../src/fleet/lake-tables.js';
import { LakeQueries } from '../src/fleet/query-lake.js';
import { writeTables } from '../src/fleet/write-partition.js';
import { projectRoot } from '../src/testing/captures.js';
import { benchFolder, grown, say, type Verdict } from './inputs.js';
import { measureOurs, medianRuns, seconds } from './measure.js';

const FILES = [1, 16, 128];
/** Flat in the number of files: more of them need hardly more than one. */
const MOST_GROWTH = 1.25;
/** Enough that starting a thread and compiling our code there is a small part. */
const WORKER_FILES = 32;
const RANKS = 10_000;
const RANKS_PER_RUN = 100;
const STEPS = 100;

export async function benchFleet(): Promise<Verdict[]> {
  return [benchMemory(), benchWorkers(), benchReport(), await benchReaders()];
}

/** The same events, and a different hash: spaces after the end. */
function differentFiles(count: number, copies: number): string[] {
  const folder = path.join(benchFolder(), `fleet-x${copies}`);
  fs.mkdirSync(folder, { recursive: true });
  const source = grown('eager', 'kineto.json.gz', copies);
  const { size } = fs.statSync(source);
  return Array.from({ length: count }, (_, i) => {
    const file = path.join(folder, `trace_rank${i}.json`);
    if (fs.statSync(file, { throwIfNoEntry: false })?.size !== size + i) {
      fs.copyFileSync(source, file);
      fs.appendFileSync(file, ' '.repeat(i));
    }
    return file;
  });
}

function map(files: readonly string[], workers: number) {
  const lake = path.join(benchFolder(), 'fleet-lake');
  fs.rmSync(lake, { recursive: true, force: true });
  return measureOurs(['cli', 'fleet', 'map', ...files, '--out', lake, '--workers', String(workers)]);
}

function benchMemory(): Verdict {
  const files = differentFiles(Math.max(...FILES), 1);
  const size = formatBytes(fs.statSync(files[0]).size);
  const peaks = FILES.map(count => {
    const { peakBytes, seconds: took } = map(files.slice(0, count), 1);
    say(`fleet map, ${count} files of ${size}, one worker: ${seconds(took)}, ${formatBytes(peakBytes)}`);
    return peakBytes;
  });
  const growth = Math.max(...peaks) / peaks[0];
  return {
    what: `peak memory of fleet map with ${FILES.join(', ')} files of ${size}, one worker`,
    wanted: `at most ${MOST_GROWTH} times that with one file`,
    measured: `${peaks.map(formatBytes).join(', ')}: ${growth.toFixed(2)} times`,
    met: growth <= MOST_GROWTH,
  };
}

function benchWorkers(): Verdict {
  const files = differentFiles(WORKER_FILES, 4);
  const [one, two] = medianRuns(3, [() => map(files, 1), () => map(files, 2)]);
  const size = formatBytes(fs.statSync(files[0]).size);
  say(
    `${WORKER_FILES} files of ${size}: one worker ${seconds(one.seconds)}, two workers ${seconds(two.seconds)}`,
  );
  const ratio = one.seconds / two.seconds;
  return {
    what: `two workers against one, ${WORKER_FILES} files of ${size}`,
    wanted: 'at least 1.7 times as fast',
    measured: `${ratio.toFixed(2)} times`,
    met: ratio >= 1.7,
  };
}

const bigLake = () => path.join(benchFolder(), 'fleet-10000');

function benchReport(): Verdict {
  generateLake();
  const page = path.join(benchFolder(), 'fleet-10000.html');
  const [json, html] = medianRuns(3, [
    () => measureOurs(['cli', 'fleet', 'report', bigLake(), '--json']),
    () => measureOurs(['cli', 'fleet', 'report', bigLake(), '-o', page, '--force']),
  ]);
  say(`fleet report of ${RANKS} ranks: JSON ${seconds(json.seconds)}, page ${seconds(html.seconds)}`);
  const peakBytes = Math.max(json.peakBytes, html.peakBytes);
  const slowest = Math.max(json.seconds, html.seconds);
  return {
    what: `report of a lake of ${RANKS} ranks with ${STEPS} steps each`,
    wanted: 'below 5 s and 1 GB',
    measured: `${seconds(slowest)}, ${formatBytes(peakBytes)}`,
    met: slowest < 5 && peakBytes < 1e9,
  };
}

/** Runs of one configuration, a day apart; every run has a slow rank, and since run 60 a kernel needs more. */
function generateLake(): void {
  const folder = bigLake();
  const done = path.join(folder, '_complete');
  if (fs.existsSync(done)) return;
  say(`creating a lake of ${RANKS} ranks …`);
  fs.rmSync(folder, { recursive: true, force: true });
  const lake = Lake.create(folder);
  const draft = path.join(lake.own('_tmp'), 'draft');
  for (let i = 0; i < RANKS; i++) {
    const [run, rank] = [Math.floor(i / RANKS_PER_RUN), i % RANKS_PER_RUN];
    const file = i.toString(16).padStart(32, '0');
    const rows = generatedRows(run, rank);
    fs.mkdirSync(draft);
    writeTables(draft, rows);
    lake.commit(draft, {
      ...{ file, path: rows.files[0].path, bytes: 0, mtimeMs: 0, summary: summaryOf(rows) },
      partition: path.join(`run=night-${run}`, `rank=${rank}`, `file=${file}`),
    });
  }
  fs.writeFileSync(done, '');
}

function generatedRows(run: number, rank: number): LakeRows {
  const phase = 'decode';
  const own = (step: number) =>
    20_000_000 +
    (run >= 60 ? 2_000_000 : 0) +
    (rank === run % 7 ? 900_000 : 0) +
    ((step * 7919 + rank * 104_729) % 50_000);
  const WALL = 26_000_000;
  const iterations = Array.from({ length: STEPS }, (_, i) => i);
  const total = iterations.reduce((sum, step) => sum + own(step), 0);
  const communication = WALL * STEPS - total;
  const windows = STEPS;
  const kernels = Array.from({ length: 40 }, (_, i) => ({
    ...{ phase, part: `kernel:kernel_${i}`, family: i % 2 ? 'gemm' : 'attention', kernel: `kernel_${i}` },
    ...{ dtype: null, windows, ns: total / 40, count: STEPS * 60, spentNs: total / 40 },
  }));
  return {
    files: [
      {
        ...{ path: `/nightly/night-${run}/trace_rank${rank}.json`, bytes: 1e8, tool: 'generated' },
        ...{ host: `node${Math.floor(rank / 8)}`, profiler: 'kineto', profilerVersion: null, engine: 'vLLM' },
        ...{ gpu: 'NVIDIA H200', gpus: 1, driver: null, graphs: 'nodes', stepsFoundBy: 'markers' },
        ...{ stepsNumbered: true, layers: 61, model: null, config: null, labels: null },
        ...{ worldSize: RANKS_PER_RUN, ranksInFile: 1, software: '{"torch":"2.9.0"}' },
        originUtcNs: 1_790_000_000_000_000_000n + BigInt(run) * 86_400_000_000_000n,
        ...{ startNs: 0, endNs: WALL * STEPS, steps: STEPS, selectedSteps: STEPS },
      },
    ],
    steps: iterations.map(step => ({
      ...{ iteration: step, phase, device: 0, processRank: null, startNs: step * WALL, wallNs: WALL },
      ...{ computeNs: own(step), communicationExposedNs: WALL - own(step), copyExposedNs: 0, idleNs: 0 },
      ...{ communicationWaitingNs: null, communicationHiddenNs: 0, copyHiddenNs: 0, graphReplayNs: 0 },
      ...{ collectiveCalls: 122, collectiveNs: WALL - own(step), contextTokens: 0, generationRequests: 256 },
    })),
    budget: [
      { phase, part: 'compute', steps: STEPS, windows, ns: total },
      { phase, part: 'communication', steps: STEPS, windows, ns: communication },
    ],
    families: ['gemm', 'attention'].map(family => ({
      ...{ phase, family, windows, ns: total / 2, count: STEPS * 1200, spentNs: total / 2 },
    })),
    kernels: [
      ...kernels,
      {
        ...{
          phase,
          part: 'comm:ncclDevKernel',
          family: 'communication',
          kernel: 'ncclDevKernel',
          dtype: null,
        },
        ...{ windows, ns: communication, count: STEPS * 122, spentNs: communication },
      },
    ],
    collectives: iterations.map(step => ({
      ...{
        iteration: step,
        phase,
        device: 0,
        processRank: null,
        kind: 'all-reduce',
        kernel: 'ncclDevKernel',
      },
      ...{ calls: 122, ns: WALL - own(step) },
    })),
    findings: ['exposed-communication', 'fp8-available', 'unfused-elementwise'].map(rule => ({
      ...{ rule, phase, severity: 'medium', confidence: 'likely', claim: `${rule} costs time` },
      ...{ costNs: 1_000_000 + rank, costShare: 0.04, gainNs: 500_000 },
    })),
    metrics: Array.from({ length: 30 }, (_, i) => ({
      ...{ phase, metric: `metric-${i}`, unit: 'ns', value: own(i), error: 10 },
    })),
  };
}

/** Columns to add up, of every table. */
const SUMMED: { readonly [Table in LakeTable]: readonly string[] } = {
  files: ['bytes', 'gpus', 'selectedSteps'],
  steps: ['iteration', 'wallNs', 'computeNs', 'communicationExposedNs', 'collectiveNs'],
  budget: ['windows', 'ns'],
  families: ['windows', 'count'],
  kernels: ['windows', 'count'],
  collectives: ['calls', 'ns'],
  findings: ['costNs', 'gainNs'],
  metrics: ['value'],
};

/** Spark comes from PyPI and needs Java: `STEPSCOPE_SPARK_PYTHON` names a Python that has it. */
async function benchReaders(): Promise<Verdict> {
  const python = process.env.STEPSCOPE_SPARK_PYTHON ?? path.join(projectRoot, '.test-tools/bin/python');
  const verdict = { what: 'the lake read by Spark and by DuckDB', wanted: 'the same sums in every table' };
  if (spawnSync(python, ['-c', 'import pyspark'], { stdio: 'ignore' }).status !== 0)
    return { ...verdict, measured: 'not measured: no Python with pyspark', met: undefined };
  const lake = Lake.open(path.join(benchFolder(), 'fleet-lake'));
  const partitions = lake.claims().map(({ partition }) => partition);
  const queries = await LakeQueries.open(lake);
  const ours: Record<string, unknown> = {};
  for (const table of lakeTableNames) {
    const sums = SUMMED[table].map(column => `sum(${column})::double as ${column}`);
    const [row] = await queries.rows(
      `select count(*) as rows, count(distinct run) as runs, ${sums.join(', ')} from ${queries.source(table, partitions)}`,
    );
    ours[table] = row;
  }
  queries.close();
  const script = path.join(projectRoot, 'bench/spark-sums.py');
  const asked = spawnSync(python, [script, lake.folder, JSON.stringify(SUMMED)], { encoding: 'utf8' });
  if (asked.status !== 0) throw new Error(`spark-sums.py failed: ${asked.stderr.slice(-500)}`);
  const { spark, sums } = JSON.parse(asked.stdout.trim().split('\n').at(-1)!);
  const differing = lakeTableNames.filter(table => !sameRow(ours[table], sums[table]));
  say(`Spark ${spark}: ${JSON.stringify(sums.steps)}`);
  return {
    ...verdict,
    measured:
      differing.length === 0
        ? `the same in ${lakeTableNames.length} tables of ${partitions.length} partitions (Spark ${spark})`
        : `different in ${differing.join(', ')}`,
    met: differing.length === 0,
  };
}

/** Sums of fractions depend on the order of adding in their last digits. */
const same = (a: number | null, b: number | null): boolean =>
  a === b || (a !== null && b !== null && Math.abs(a - b) <= 1e-12 * Math.abs(a));

const sameRow = (ours: unknown, theirs: unknown): boolean => {
  const [a, b] = [ours, theirs] as Record<string, number | null>[];
  return (
    Object.keys(a).every(name => same(a[name], b[name])) && Object.keys(a).length === Object.keys(b).length
  );
};
