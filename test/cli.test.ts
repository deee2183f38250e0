/** The command as a user meets it: pages, errors, files, pipes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { chooseReport, statsReports } from '../src/analyze/stats/index.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { commands } from '../src/cli/registry.js';
import { numberFormatter } from '../src/report/csv.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { lacks } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const withShell = { skip: lacks('shell') };

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-cli-'));
after(() => rmSync(folder, { recursive: true }));

const stepscope = (args: string[], width = Infinity, color = false) => runStepscope(args, width, color);

for (const name of ['eager', 'graphmode', 'client', 'stress']) {
  test(`info on ${name}`, async () => {
    const { status, out } = await stepscope(['info', capturePath(name)], 100);
    assert.equal(status, 0);
    assertGolden(`info-${name}.txt`, out);
  });
}

test('the default stats page', async () => {
  const { out } = await stepscope(['stats', capturePath('graph')], 100);
  assertGolden('stats-graph.txt', out);
});

test('tables fit any terminal', async () => {
  for (const width of [40, 60, 80, 100, 132, 200]) {
    for (const report of statsReports) {
      const { out } = await stepscope(['stats', capturePath('stress'), '-r', report.id], width);
      for (const line of out.split('\n'))
        assert.ok([...line].length <= width, `${report.id} at ${width}: ${line}`);
    }
  }
});

test('colour only when asked for', async () => {
  const plain = await stepscope(['info', capturePath('client')]);
  const painted = await stepscope(['info', capturePath('client')], 100, true);
  assert.ok(!plain.out.includes('\x1b'));
  assert.ok(painted.out.includes('\x1b[1m'));
});

test('info as JSON has the facts, and no environment values', async () => {
  const { out } = await stepscope(['info', capturePath('graph'), '--json']);
  const info = answerIn(out);
  assert.equal(info.schema, 'stepscope-info/1');
  assert.equal(info.cudaGraphs, 'nodes');
  assert.deepEqual(info.markers, [
    {
      engine: 'TensorRT-LLM',
      count: 9,
      example: '[Executor] _forward_step 12: 0 ctx reqs, 8 gen reqs',
      first: 12,
      last: 20,
    },
  ]);
  assert.equal(info.recorded.find((row: { table: string }) => row.table === 'kernels').rows, 9153);
  assert.equal(info.gpus[0].memoryBandwidthBytesPerSecond, 4814304000000);
});

test('stats in each format carry the same numbers', async () => {
  const ask = (format: string) =>
    stepscope(['stats', capturePath('eager'), '-r', 'cuda_api_sum', '--format', format]);
  const csv = parseCsv((await ask('csv')).out);
  const json = answerIn((await ask('json')).out).reports[0].rows as Record<string, string | number>[];
  const markdown = (await ask('markdown')).out;
  assert.equal(json.length, csv.length - 1);
  json.forEach((row, i) => {
    assert.deepEqual(
      csv[0].map(header => Number(row[header]) || row[header]),
      csv[i + 1].map(cell => Number(cell) || (cell === '0.0' ? 0 : cell)),
    );
    assert.ok(markdown.includes(`| ${csv[i + 1][1]} |`));
  });
});

test('old names are aliases: every report of nsys 2022.4 that still exists, and the one guides get wrong', () => {
  const before: Record<string, string> = {
    apigpusum: 'cuda_api_gpu_sum',
    cudaapisum: 'cuda_api_sum',
    cudaapitrace: 'cuda_api_trace',
    gpukernsum: 'cuda_gpu_kern_sum',
    gpumemsizesum: 'cuda_gpu_mem_size_sum',
    gpumemtimesum: 'cuda_gpu_mem_time_sum',
    gpusum: 'cuda_gpu_sum',
    gputrace: 'cuda_gpu_trace',
    kernexecsum: 'cuda_kern_exec_sum',
    kernexectrace: 'cuda_kern_exec_trace',
    nvtxgpuproj: 'nvtx_gpu_proj_trace',
    nvtxkernsum: 'nvtx_kern_sum',
    nvtxppsum: 'nvtx_pushpop_sum',
    nvtxpptrace: 'nvtx_pushpop_trace',
    nvtxsesum: 'nvtx_startend_sum',
    nvtxsssum: 'nvtx_startend_sum',
    nvtxsum: 'nvtx_sum',
    osrtsum: 'osrt_sum',
    'cuda-async-memcpy': 'cuda_memcpy_async',
    'cuda-sync-api': 'cuda_api_sync',
    'cuda-sync-memcpy': 'cuda_memcpy_sync',
    'cuda-sync-memset': 'cuda_memset_sync',
    'gpu-low-util': 'gpu_time_util',
    'gpu-starv': 'gpu_gaps',
    cuda_kern_sum: 'cuda_gpu_kern_sum',
  };
  for (const [old, now] of Object.entries(before)) assert.equal(chooseReport(old).report.id, now);
});

test('exact ties round as NVIDIA rounds them: means up, megabytes to even', () => {
  // What nsys stats 2025.3.1 printed for these sizes and means.
  const megabytes = numberFormatter('bytes');
  assert.deepEqual([62_500, 187_500, 312_500, 437_500, 812_500, 1_062_500].map(megabytes), [
    '0.062',
    '0.188',
    '0.312',
    '0.438',
    '0.812',
    '1.062',
  ]);
  const mean = numberFormatter('ns-mean');
  assert.deepEqual([2001.25, 44_479.75, 2502.35].map(mean), ['2001.3', '44479.8', '2502.3']);
});

test('-o writes a file per report and does not overwrite', async () => {
  const prefix = path.join(folder, 'out');
  const args = [
    'stats',
    capturePath('stress'),
    '-r',
    'cuda_gpu_kern_sum:base,nvtx_sum',
    '-f',
    'csv',
    '-o',
    prefix,
  ];
  assert.equal((await stepscope(args)).status, 0);
  assert.match(readFileSync(`${prefix}_cuda_gpu_kern_sum_base.csv`, 'utf8'), /^Time \(%\),/);
  assert.ok(existsSync(`${prefix}_nvtx_sum.csv`));
  const again = await stepscope(args);
  assert.equal(again.status, 2);
  assert.match(again.err, /already exists/);
  assert.equal((await stepscope([...args, '--force'])).status, 0);
});

test('--time keeps what NVIDIA keeps', async () => {
  // nsys stats --filter-time 800ms/1500ms on the same file: counts of the five kernels.
  const { out } = await stepscope([
    'stats',
    capturePath('stress'),
    '-r',
    'cuda_gpu_kern_sum',
    '-f',
    'csv',
    '--time',
    '800ms-1500ms',
  ]);
  assert.deepEqual(
    parseCsv(out)
      .slice(1)
      .map(row => [row[1], row[2]]),
    [
      ['103710', '9'],
      ['55424', '70'],
      ['50047', '20'],
      ['32192', '9'],
      ['7200', '9'],
    ],
  );
});

test('what was not recorded is said, not shown as zero', async () => {
  const table = await stepscope(['stats', capturePath('client')]);
  assert.match(
    table.out,
    /not recorded: GPU work; capture with -t cuda, around the process that runs the model/,
  );
  const csv = await stepscope(['stats', capturePath('eager'), '-r', 'osrt_sum', '-f', 'csv']);
  assert.equal(csv.out, '');
  assert.match(csv.err, /osrt_sum: not recorded: OS runtime calls; capture with -t osrt/);
});

test('a report that needs two things says which of them is missing', async () => {
  const file = path.join(mkdtempSync(path.join(folder, 'kernels-')), 'trace.json');
  const kernel = {
    ph: 'X',
    cat: 'kernel',
    name: 'k',
    pid: 0,
    tid: 7,
    ts: 1,
    dur: 2,
    args: { device: 0, stream: 7 },
  };
  writeFileSync(file, JSON.stringify({ schemaVersion: 1, traceEvents: [kernel] }));
  const { out } = await stepscope([
    'stats',
    file,
    '-r',
    'cuda_kern_exec_sum,nvtx_kern_sum,cuda_gpu_kern_sum',
  ]);
  assert.match(out, /cuda_kern_exec_sum\)\n {2}not recorded: CUDA API calls/);
  assert.match(out, /nvtx_kern_sum\)\n {2}not recorded: NVTX ranges/);
  assert.match(out, /100\.0 .* k\n/);
});

test('kernels hidden in graph blocks are spoken of with every report', async () => {
  const { err, out } = await stepscope([
    'stats',
    capturePath('graphmode'),
    '-r',
    'cuda_gpu_kern_sum',
    '-f',
    'csv',
  ]);
  assert.match(err, /9 CUDA graph replays were recorded as single blocks.*--cuda-graph-trace=node/);
  assert.equal(parseCsv(out).length, 2);
  assert.equal((await stepscope(['stats', capturePath('graph'), '-f', 'csv'])).err, '');
});

test('errors are two lines with an exit status of their own', async () => {
  const text = path.join(folder, 'notes.txt');
  writeFileSync(text, 'not a profile at all\n');
  const empty = path.join(folder, 'empty.sqlite');
  writeFileSync(empty, '');
  const cases: [args: string[], status: number, says: RegExp][] = [
    [['info', path.join(folder, 'nowhere.sqlite')], 3, /does not exist/],
    [['info', text], 4, /not a profile in a supported format/],
    [['info', empty], 4, /is empty/],
    [['info', folder], 3, /contains no profile/],
    [['info'], 2, /No profile was given/],
    [['frobnicate'], 2, /"frobnicate" is neither a command nor a file/],
    [['stats', capturePath('graph'), '-r', 'kern_sum'], 2, /Did you mean .*cuda_gpu_kern_sum/],
    [['stats', capturePath('graph'), '-r', 'osrt_sum:base'], 2, /has no option "base"/],
    [['stats', capturePath('graph'), '--frmat', 'csv'], 2, /Unknown option '--frmat'/],
    [['stats', capturePath('graph'), '--format', 'xml'], 2, /Unknown format "xml"/],
    [['stats', capturePath('graph'), '--time', 'yesterday'], 2, /not a time range/],
  ];
  for (const [args, status, says] of cases) {
    const result = await stepscope(args);
    assert.equal(result.status, status, args.join(' '));
    assert.match(result.err, says);
    assert.equal(result.err.trimEnd().split('\n').length, 2, result.err);
    assert.equal(result.out, '');
  }
});

test('an empty folder is an error that says what a folder means', async () => {
  const nothing = mkdtempSync(path.join(folder, 'nothing-'));
  const { status, err } = await stepscope(['info', nothing]);
  assert.equal(status, 3);
  assert.match(err, /contains no profile\.\nA folder must contain the ranks of one run/);
});

test('every command has help with examples', async () => {
  for (const name of Object.keys(commands)) {
    const { out, status } = await stepscope([name, '--help']);
    assert.equal(status, 0);
    assert.match(out, /usage: stepscope .*\n[\s\S]*options:\n[\s\S]*examples:\n {2}stepscope/);
  }
  assert.match((await stepscope([])).out, /commands:\n/);
  assert.match((await stepscope(['--version'])).out, /^stepscope \d+\.\d+\.\d+\n$/);
  assert.equal((await stepscope(['stats', '--list'])).out.trim().split('\n').length, statsReports.length);
});

test('the real command runs, and a closed pipe is no error', withShell, () => {
  const bin = path.join(projectRoot, 'bin/stepscope');
  const direct = spawnSync(process.execPath, [bin, 'info', capturePath('eager')], { encoding: 'utf8' });
  // Nothing on standard error: V8 reports flags that it does not know there, and they differ between versions of Node.
  assert.deepEqual([direct.status, direct.stderr], [0, '']);
  assert.match(direct.stdout, /NVIDIA H200/);
  const piped = spawnSync(
    'sh',
    [
      '-c',
      `"$0" "$1" stats "$2" -r cuda_api_trace -f csv | head -1`,
      process.execPath,
      bin,
      capturePath('eager'),
    ],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(piped.stdout, 'Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n');
  assert.equal(piped.stderr, '');
});

test('names from the file cannot move the cursor or break a table', async () => {
  const { out } = await stepscope(['stats', capturePath('stress'), '-r', 'nvtx_sum', '-f', 'markdown']);
  assert.ok(out.includes('\\[Executor\\] \\_forward\\_step 0'));
});
