/** Other people's profiles and logs, where that folder is beside the project: everything opens, nothing is guessed. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { summarizeCapture } from '../src/analyze/info.js';
import { statsReports } from '../src/analyze/stats/index.js';
import { defaultOptions, runReport } from '../src/analyze/stats/report.js';
import { openProfile } from '../src/import/open.js';
import { externalFiles, externalFolder } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const skip = lacks('external');
const external = (name: string) => path.join(externalFolder, name);
const open = async (name: string) => {
  const profile = await openProfile([external(name)]);
  assert.deepEqual(validateProfile(profile), [], name);
  return { profile, info: summarizeCapture(profile) };
};

test('every profile opens, is valid, and every report runs on it', { skip }, async () => {
  const files = externalFiles(/(\.sqlite|trace\.json|\.json)\.gz$/).filter(
    file => !file.includes('expert-load'),
  );
  assert.ok(files.length >= 40, `only ${files.length} files`);
  for (const file of files) {
    const profile = await openProfile([file]);
    assert.deepEqual(validateProfile(profile), [], file);
    assert.deepEqual(
      profile.notes
        .filter(
          note => note.severity === 'loss' && !['profiler-lost-data', 'graph-blocks'].includes(note.code),
        )
        .map(note => note.code),
      [],
      file,
    );
    for (const report of statsReports) {
      for (const options of [
        defaultOptions,
        { ...defaultOptions, kernelName: 'base' as const, nvtxName: true },
      ]) {
        const block = runReport(report, profile, options);
        if (block.kind === 'table') {
          for (const column of block.columns)
            assert.equal(column.values.length, block.rows, `${file} ${report.id}`);
        }
      }
    }
  }
});

test('a trace with 23 kB of metadata before its events', { skip }, async () => {
  const { profile, info } = await open('../external-2/tracelens/hf-qwen-h100-metadata-first.json.gz');
  assert.equal(info.gpus[0].name, 'NVIDIA H100 80GB HBM3');
  assert.equal(profile.tables.kernels?.length, 1465);
});

test('schemas from before versions existed to 3.25', { skip }, async () => {
  const seen: string[] = [];
  for (const file of externalFiles(/\.sqlite\.gz$/)) {
    const { capture } = await openProfile([file]);
    seen.push(capture.formatVersion);
  }
  const minor = seen.map(version => version.split('.').slice(0, 2).join('.'));
  assert.deepEqual([...new Set(minor)].sort(), ['', '2.9', '3.13', '3.16', '3.17', '3.23', '3.24', '3.25']);
});

test('two GPUs with NCCL', { skip }, async () => {
  const { profile, info } = await open('nsys/h100-2gpu-nccl-3.25.sqlite.gz');
  assert.equal(info.gpus.filter(gpu => gpu.used).length, 2);
  assert.equal(profile.tables.kernels!.length, 3442);
  assert.equal(profile.tables.ranges!.length, 16782);
});

test('graphs as blocks are said to hide kernels', { skip }, async () => {
  const { profile, info } = await open('nsys/rtx-graphblock-3.24.sqlite.gz');
  assert.equal(info.cudaGraphs, 'blocks');
  assert.equal(profile.tables.graphLaunches!.length, 2);
});

test('an export without kernels says what is missing', { skip }, async () => {
  const { profile, info } = await open('nsys/no-kernels-3.23.sqlite.gz');
  assert.equal(profile.tables.kernels, undefined);
  assert.ok(info.notRecorded.some(({ table }) => table === 'kernels'));
});

test('SGLang marks its steps', { skip }, async () => {
  const decode = await open(
    'sglang-gptoss120b-b200-tp8/bs-64-il-4096-1780800287.885589-TP-0-DECODE.trace.json.gz',
  );
  assert.deepEqual(
    decode.info.markers.map(({ engine, example }) => [engine, example]),
    [['SGLang', 'step[DECODE bs=64]']],
  );
  assert.equal(decode.info.worldSize, 8);
  const verify = await open(
    'sglang-gptoss120b-eagle3/bs-1-il-4096-1780800503.2446792-TP-0-DECODE.trace.json.gz',
  );
  assert.ok(verify.info.markers.some(marker => marker.example.startsWith('step[TARGET_VERIFY')));
});

test('vLLM on ROCm', { skip }, async () => {
  const { profile, info } = await open('tracelens/vllm-mi300x-decode.json.gz');
  assert.equal(info.markers[0].engine, 'vLLM');
  assert.equal(profile.tables.kernels!.length, 425);
  assert.equal(info.cudaGraphs, 'nodes');
});

test('categories of 2021', { skip }, async () => {
  const { profile } = await open('kineto/legacy-2021-resnet50.pt.trace.json.gz');
  assert.equal(profile.tables.kernels!.length, 8772);
  assert.equal(profile.tables.copies!.length, 12);
  assert.equal(profile.tables.memsets!.length, 312);
  assert.equal(profile.tables.apiCalls!.length, 11923);
});

test('eight ranks of one step become one profile on one clock', { skip }, async () => {
  const { profile, info } = await open('lightllm-deepseek-h200-tp8');
  assert.deepEqual(info.ranks, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(profile.processes.length, 8);
  assert.equal(info.gpus.length, 8);
  assert.equal(profile.clock, 'utc');
  assert.equal(profile.tables.kernels!.length, 17424);
  assert.ok(info.span.durationNs < 1e9, 'clocks were not aligned');
});

test('logs and tables of others are not taken for profiles', { skip }, async () => {
  const logs = [...externalFiles(/trtllm-bench|serving-bench|expert-load/)];
  assert.ok(logs.length > 20);
  for (const file of logs) {
    await assert.rejects(openProfile([file]), { name: 'UserError', code: 'not-a-profile' }, file);
  }
});
