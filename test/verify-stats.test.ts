/** `stats --verify`: the same reports by nsys, and what is said where the two differ or cannot be compared. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { verdictOn } from '../src/cli/verify-stats.js';
import { capturePath } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-verify-'));
const { NSYS } = process.env;
after(() => {
  rmSync(folder, { recursive: true });
  if (NSYS === undefined) delete process.env.NSYS;
  else process.env.NSYS = NSYS;
});

/** A program that says it is nsys and prints this for every report. */
function fakeNsys(version: string, csv: string): void {
  const file = path.join(folder, 'nsys');
  writeFileSync(
    file,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo 'NVIDIA Nsight Systems version ${version}-1v0'; else cat <<'END'\n${csv}END\nfi\n`,
  );
  chmodSync(file, 0o755);
  process.env.NSYS = file;
}

test('verdicts', () => {
  const csv = 'Time(%),Name,Rate (MBps)\n9.0,a,None\n5.0,b,1\n';
  const same = 'Time (%),Name,Rate (MB/s)\n5.0,b,1\n9.0,a,\n';
  assert.deepEqual(verdictOn('r', same, { csv }), { report: 'r', verdict: 'equal', rows: 2, remark: '' });
  const wrong = verdictOn('r', same.replace('5.0', '5.2'), { csv });
  assert.equal(wrong.verdict, 'differs');
  assert.equal(wrong.remark, '1 row only in stepscope, 1 only in nsys, e.g. nsys 5.0, b, 1');
  const near = verdictOn('r', same.replace('5.0', '5.1'), { csv: csv.replace('5.0', '5.2') });
  assert.deepEqual([near.verdict, near.remark], ['equal', '1 row rounded differently in the last digit']);
  assert.equal(verdictOn('r', `${same}5.0,b,1\n`, { csv }).verdict, 'differs', 'a row too often');
  assert.equal(verdictOn('r', '', { csv }).verdict, 'differs', 'no rows here');
  assert.equal(verdictOn('r', same, { csv: '' }).verdict, 'differs', 'no rows there');
  assert.equal(verdictOn('r', '', { csv: '' }).verdict, 'equal');
  const wide = 'Time(%),Name,Grid,Rate (MBps)\n9.0,a,1,None\n5.0,b,2,1\n';
  const wider = verdictOn('r', same, { csv: wide });
  assert.equal(wider.verdict, 'equal');
  assert.equal(wider.remark, 'only one side has: Grid');
  assert.equal(verdictOn('r', same, { missing: 'why' }).verdict, 'not compared');
});

test('an nsys that prints the same is equal, one that does not is a status', {
  skip: lacks('shell'),
}, async () => {
  const file = capturePath('graph');
  const request = ['stats', file, '-r', 'cuda_gpu_mem_time_sum'];
  const { out } = await runStepscope([...request, '--csv']);
  fakeNsys('2025.3.1.90', out);
  const equal = await runStepscope([...request, '--verify']);
  assert.equal(equal.status, 0);
  assert.match(equal.out, /Compared with nsys 2025\.3\.1\.90[\s\S]*cuda_gpu_mem_time_sum +equal +2/);
  fakeNsys('2022.4.2.1', out.replace(/,9,/, ',8,'));
  const other = await runStepscope([
    'stats',
    file,
    '-r',
    'cuda_gpu_mem_time_sum,gpu_gaps',
    '--verify',
    '--json',
  ]);
  assert.equal(other.status, 1);
  const { nsys, reports } = answerIn(other.out);
  assert.equal(nsys, '2022.4.2.1');
  assert.deepEqual(
    reports.map(({ verdict }: { verdict: string }) => verdict),
    ['differs', 'not compared'],
  );
  assert.deepEqual(readdirSync(folder), ['nsys'], 'nothing else is written there');
});

test('what cannot be verified is said in two lines', { skip: lacks('shell') }, async () => {
  fakeNsys('2025.3.1.90', '');
  const trace = await runStepscope(['stats', capturePath('graph', 'kineto.json.gz'), '--verify']);
  assert.equal(trace.status, 2);
  assert.match(trace.err, /one Nsight Systems export at a time/);
  const part = await runStepscope(['stats', capturePath('graph'), '--verify', '--time', '1s-2s']);
  assert.match(part.err, /--verify needs the whole file/);
});

test('the nsys that is installed agrees', { skip: lacks('nsys') }, async () => {
  if (NSYS === undefined) delete process.env.NSYS;
  else process.env.NSYS = NSYS;
  const reports = 'nvtx_sum,cuda_api_sum,cuda_gpu_kern_gb_sum,cuda_gpu_mem_time_sum,cuda_api_trace';
  const { status, out } = await runStepscope([
    ...['stats', capturePath('eager'), '-r', reports, '--verify', '--csv'],
  ]);
  assert.deepEqual(out.match(/,(?:equal|differs|not compared),\d+/g), [
    ...[',equal,52', ',equal,11', ',equal,28', ',equal,2', ',equal,10747'],
  ]);
  assert.equal(status, 0);
});
