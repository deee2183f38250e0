/**
 * Reports no bundled capture has rows for, on exports drawn row by row: equal to what the nsys that is installed prints
 * for the same file. The one of Debian and Ubuntu is of 2022, whose headers and names of reports were others.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import type { Database } from 'sql.js';
import { chooseReport, defaultReports, statsReports, worthPrinting } from '../src/analyze/stats/index.js';
import { defaultOptions, runReport } from '../src/analyze/stats/report.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { findNsys } from '../src/import/nsys-rep/find-nsys.js';
import { openProfile } from '../src/import/open.js';
import { renderCsv } from '../src/report/csv.js';
import { lacks } from '../src/testing/needs.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { insert, makeDatabase } from './small-exports.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-drawn-'));
after(() => rmSync(folder, { recursive: true }));

const PROCESS = 2 ** 48 + 77 * 2 ** 24;
const THREAD = PROCESS + 78;
const PAGE = 0x7f0000000000;
const words = [
  'omp_task',
  'omp_parallel',
  'acc_copyin',
  'a.c',
  'main+0x40',
  'vkSubmit_v1000',
  'draw',
  'worker',
];
words.push('vkCreate', 'MPI_Send', 'MPI_Bcast', 'MPI_Wait', 'MPI_Init');
const id = (word: string) => words.indexOf(word) + 1;

function draw(database: Database): void {
  database.run(`
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE EXPORT_META_DATA (name TEXT NOT NULL, value TEXT);
    CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
    CREATE TABLE OPENMP_EVENT_KIND_TASK (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
    CREATE TABLE OPENMP_EVENT_KIND_PARALLEL (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_DATA (start INTEGER, end INTEGER, nameId INTEGER, globalTid INTEGER,
      eventKind INTEGER, lineNo INTEGER, srcFile INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, virtualAddress INTEGER);
    CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER, CpuInstruction INTEGER);
    CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER,
      address INTEGER, numberOfPageFaults INTEGER);
    CREATE TABLE VULKAN_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
      nameId INTEGER, contextId INTEGER);
    CREATE TABLE VULKAN_DEBUG_API (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, textId INTEGER);
    CREATE TABLE D3D11_PIX_DEBUG_API (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, textId INTEGER);
    CREATE TABLE D3D12_PIX_DEBUG_API (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, textId INTEGER);
    CREATE TABLE VULKAN_WORKLOAD (start INTEGER, end INTEGER, textId INTEGER);
    CREATE TABLE DX12_WORKLOAD (start INTEGER, end INTEGER, textId INTEGER);
    CREATE TABLE KHR_DEBUG_EVENTS (eventClass INTEGER, globalTid INTEGER, textId INTEGER, start INTEGER, end INTEGER, id INTEGER);
    CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, size INTEGER);
    CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, size INTEGER);
    CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER);
    CREATE TABLE MPI_OTHER_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER);
  `);
  const rows = (count: number, row: (i: number) => (number | string | null)[]) =>
    Array.from({ length: count }, (_, i) => row(i));
  insert(
    database,
    'StringIds',
    rows(words.length, i => [i + 1, words[i]]),
  );
  insert(database, 'EXPORT_META_DATA', [['EXPORT_SCHEMA_VERSION', '2.9.0']]);
  insert(database, 'ThreadNames', [[id('worker'), 20, THREAD]]);
  const task = id('omp_task');
  insert(
    database,
    'OPENMP_EVENT_KIND_TASK',
    rows(5, i => [i * 1000, i * 1000 + 100 + i * 7, 1, THREAD, task]),
  );
  insert(
    database,
    'OPENMP_EVENT_KIND_PARALLEL',
    rows(3, i => [i * 1000, i * 1000 + 300 + i * 11, 1, THREAD, i === 2 ? task : id('omp_parallel')]),
  );
  insert(
    database,
    'CUPTI_ACTIVITY_KIND_OPENACC_DATA',
    rows(4, i => [
      i * 1000,
      i * 1000 + 50 + i,
      id('acc_copyin'),
      THREAD,
      1,
      12 + (i % 2),
      i < 3 ? id('a.c') : null,
    ]),
  );
  insert(
    database,
    'CUPTI_ACTIVITY_KIND_MEMCPY',
    rows(14, i => [
      i * 1000,
      i * 1000 + 700 + i * i,
      0,
      1,
      7,
      i + 1,
      PROCESS,
      4096 * (i + 1),
      i % 2 ? 11 : 12,
      PAGE + 4096 * (i % 12),
    ]),
  );
  insert(
    database,
    'CUDA_UM_CPU_PAGE_FAULT_EVENTS',
    rows(5, i => [i * 100, PROCESS, PAGE + 4096 * (i % 4), i ? id('main+0x40') : id('vkCreate')]),
  );
  insert(
    database,
    'CUDA_UM_GPU_PAGE_FAULT_EVENTS',
    rows(3, i => [i * 100, i * 100 + 9, PROCESS, 0, PAGE + 4096 * 6 * i, 3 + i]),
  );
  insert(
    database,
    'VULKAN_API',
    rows(5, i => [
      i * 10,
      i * 10 + 3 + i,
      i < 4 ? 53 : 54,
      THREAD,
      i + 1,
      i % 2 ? id('vkSubmit_v1000') : id('vkCreate'),
      1,
    ]),
  );
  for (const table of ['VULKAN_DEBUG_API', 'D3D11_PIX_DEBUG_API', 'D3D12_PIX_DEBUG_API'])
    insert(database, table, [
      [10, 12, THREAD, 1, id('draw')],
      [30, 31, THREAD, 1, null],
      [40, 41, THREAD, 2, id('draw')],
      [90, 91, THREAD, 2, null],
      [95, 96, THREAD, 3, id('draw')],
      [97, 98, THREAD + 1, 3, null],
    ]);
  for (const table of ['VULKAN_WORKLOAD', 'DX12_WORKLOAD'])
    insert(database, table, [
      [10, 20, id('draw')],
      [30, 45, id('draw')],
      [50, 60, null],
      [60, 60, id('vkCreate')],
    ]);
  insert(database, 'KHR_DEBUG_EVENTS', [
    [62, THREAD, id('draw'), 10, 30, 1],
    [62, THREAD, null, 10, 20, 42],
    [63, THREAD, id('draw'), 15, 40, 3],
    [62, THREAD, id('draw'), 50, 60, 1],
  ]);
  insert(
    database,
    'MPI_P2P_EVENTS',
    rows(3, i => [i * 50, i * 50 + 20 + i, THREAD, id('MPI_Send'), 64]),
  );
  insert(
    database,
    'MPI_COLLECTIVES_EVENTS',
    rows(2, i => [i * 50, i * 50 + 40, THREAD, id('MPI_Bcast'), 64]),
  );
  insert(database, 'MPI_START_WAIT_EVENTS', [[5, 9, THREAD, id('MPI_Wait')]]);
  insert(database, 'MPI_OTHER_EVENTS', [[0, 400, THREAD, id('MPI_Init')]]);
}

async function drawn(): Promise<string> {
  const file = path.join(folder, 'drawn.sqlite');
  writeFileSync(file, await makeDatabase(4096, draw));
  return file;
}

/** Those that only drawn rows show. */
const shown = statsReports.filter(({ reads }) => reads.otherEvents || reads.pageFaults);
/** 2022 had none for MPI. */
const older = shown.filter(({ aliases }) => aliases.length > 0);

async function ourCsv(file: string, request: string): Promise<string> {
  const { report, options } = chooseReport(request);
  const block = runReport(report, await openProfile([file]), options);
  return block.kind === 'table' ? renderCsv(block) : `not recorded: ${request}`;
}

/** Headers as 2025 writes them, empty cells instead of None, rows of no rate in any order. */
function normalized(csv: string): string[][] {
  const [header, ...rows] = parseCsv(csv);
  return [
    header.map(name =>
      name
        .trim()
        .replace('Time(%)', 'Time (%)')
        .replace('Migration size', 'Migration Size')
        .replace('MBps', 'MB/s'),
    ),
    ...rows
      .map(row => row.map(cell => (cell === 'None' ? '' : cell)))
      .sort((a, b) => a.join().localeCompare(b.join())),
  ];
}

test('drawn exports are read and every report of them has rows', async () => {
  const file = await drawn();
  const profile = await openProfile([file]);
  assert.deepEqual(validateProfile(profile), []);
  assert.deepEqual(profile.notes, []);
  assert.equal(shown.length, 15);
  for (const report of shown) {
    const block = runReport(report, profile, defaultOptions);
    assert.ok(block.kind === 'table' && block.rows > 0, report.id);
  }
  const byDefault = worthPrinting(defaultReports.map(chooseReport), profile).map(({ report }) => report.id);
  // What was not recorded is printed only where people look for it.
  assert.deepEqual(byDefault.slice(0, 4), [
    'nvtx_sum',
    'cuda_api_sum',
    'cuda_gpu_kern_sum',
    'cuda_gpu_mem_time_sum',
  ]);
  assert.ok(byDefault.includes('openmp_sum') && !byDefault.includes('osrt_sum'));
});

test('events of one interface do not make reports of the others', async () => {
  const bytes = await makeDatabase(4096, database => {
    database.run('CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)');
    database.run(
      'CREATE TABLE MPI_OTHER_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER)',
    );
    insert(database, 'StringIds', [[1, 'MPI_Init']]);
    insert(database, 'MPI_OTHER_EVENTS', [[0, 400, THREAD, 1]]);
  });
  const file = path.join(folder, 'mpi.sqlite');
  writeFileSync(file, bytes);
  assert.match(
    await ourCsv(file, 'mpi_event_sum'),
    /\n100\.0,400,1,400\.0,400\.0,400,400,0\.0,other,MPI_Init\n/,
  );
  assert.equal(await ourCsv(file, 'openmp_sum'), 'not recorded: openmp_sum');
});

test('MPI events are summed by source and name', async () => {
  const rows = parseCsv(await ourCsv(await drawn(), 'mpi_event_sum'));
  assert.deepEqual(
    rows.map(row => [row[1], row[2], ...row.slice(-2)]),
    [
      ['Total Time (ns)', 'Instances', 'Source', 'Name'],
      ['400', '1', 'other', 'MPI_Init'],
      ['80', '2', 'collectives', 'MPI_Bcast'],
      ['63', '3', 'p2p', 'MPI_Send'],
      ['4', '1', 'start-wait', 'MPI_Wait'],
    ],
  );
});

test('each equals what nsys prints for the same file', { skip: lacks('nsys') }, async () => {
  const file = await drawn();
  const [nsys] = await findNsys();
  const isOld = Number(nsys.version.slice(0, 4)) < 2023;
  for (const { id: name, aliases } of older) {
    const theirs = execFileSync(
      nsys.path,
      ['stats', '-q', '-f', 'csv', '-r', isOld ? aliases[0] : name, file],
      {
        encoding: 'utf8',
      },
    );
    assert.deepEqual(normalized(await ourCsv(file, name)), normalized(theirs), name);
  }
});
