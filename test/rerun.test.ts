/** A part of a profile run again: an operator alone as a script, a kernel under Nsight Compute. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { operatorInputs } from '../src/rerun/operator-inputs.js';
import { operatorScript } from '../src/rerun/operator-script.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-rerun-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const none = { strides: '', values: '' };

test('inputs of an operator: tensors with strides, lists, scalars, and what was not recorded', () => {
  assert.deepEqual(
    operatorInputs({
      shapes: '[[8,2048],[],[2048],[],[]]',
      types: '["c10::BFloat16","ScalarList","c10::BFloat16","","Scalar"]',
      strides: '[[4096,2],[],[1],[],[]]',
      values: '["","[2048]","","","1.0000000000000001e-05"]',
    }),
    [
      { kind: 'tensor', shape: [8, 2048], strides: [4096, 2], type: 'bfloat16' },
      { kind: 'value', text: '[2048]' },
      { kind: 'tensor', shape: [2048], strides: [1], type: 'bfloat16' },
      { kind: 'other', type: '' },
      { kind: 'value', text: '1.0000000000000001e-05' },
    ],
  );
  assert.deepEqual(
    operatorInputs({
      shapes: '[[[4,8],[4,8]],[]]',
      types: '["TensorList","Scalar"]',
      strides: '[[[8,1],[8,1]],[]]',
      values: '["","-1"]',
    }),
    [
      {
        kind: 'tensors',
        tensors: [
          { shape: [4, 8], strides: [8, 1], type: 'bfloat16' },
          { shape: [4, 8], strides: [8, 1], type: 'bfloat16' },
        ],
      },
      { kind: 'value', text: '-1' },
    ],
  );
  // A value that would do something is none.
  const [hostile] = operatorInputs({
    ...{ shapes: '[[]]', types: '["Scalar"]', strides: '' },
    values: '["__import__(1)"]',
  })!;
  assert.deepEqual(hostile, { kind: 'other', type: 'Scalar' });
  assert.equal(operatorInputs({ shapes: '', types: '', ...none }), undefined);
  assert.equal(operatorInputs({ shapes: '[[-1]]', types: '["float"]', ...none })?.[0].kind, 'other');
});

test('a script is Python, whatever the names in the file', { skip: lacks('python') }, () => {
  const script = operatorScript({
    operator: 'aten::mm',
    inputs: [{ kind: 'other', type: '"\'\\\n\u2028é' }],
    count: 3,
    gpuNs: 1500,
    kernels: ['kernel\nimport os', 'k'.repeat(5000)],
    file: 'a\r\nb.json',
  });
  assert.ok(!/^import os$/m.test(script));
  const check = spawnSync(locate('python')!, ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
    input: script,
  });
  assert.equal(check.status, 0, String(check.stderr));
});

test('repro takes the operator with the most GPU time, by its name or that of a kernel', async () => {
  const file = capturePath('eager', 'kineto.json.gz');
  const asked = async (word: string) => answerIn((await runStepscope(['repro', file, word, '--json'])).out);
  const mm = await asked('aten::mm');
  assert.deepEqual(
    [mm.operator, mm.inputs.map((input: { shape: number[] }) => input.shape), mm.count],
    [
      'aten::mm',
      [
        [8, 2048],
        [2048, 11264],
      ],
      110,
    ],
  );
  assert.match(mm.script, /^RECORDED_US = 13\.\d{3}$/m);
  assert.equal((await asked('nvjet_sm90_tst_128x8_64x12_4x1')).operator, 'aten::mm');
  const refused = await runStepscope(['repro', file, 'nosuchthing']);
  assert.equal(refused.status, 8);
  assert.match(refused.err, /^stepscope: No operator or kernel .*\nList them: /);
  assert.match(
    (await runStepscope(['repro', capturePath('graph'), 'aten::mm'])).err,
    /^stepscope: Not recorded: /,
  );
});

test('ncu names the launch by its function, the range of the step and its place in it', async () => {
  const answer = answerIn((await runStepscope(['ncu', capturePath('graph'), 'gemm', '--json'])).out);
  const value = (flag: string) => answer.command[answer.command.indexOf(flag) + 1];
  assert.equal(value('--kernel-name'), 'nvjet_sm90_tst_128x8_64x12_4x1_v_bz_NNT');
  assert.equal(
    value('--nvtx-include'),
    `\\[Executor\\] _forward_step ${answer.step}: 0 ctx reqs\\, 8 gen reqs/`,
  );
  assert.equal(value('--launch-skip'), String(answer.skip));
  // 22 layers, one such kernel in each.
  assert.ok(answer.skip >= 0 && answer.skip < 22, String(answer.skip));
  // The clock of a PyTorch trace has no ranges that Nsight Compute sees.
  const torch = answerIn(
    (await runStepscope(['ncu', capturePath('eager', 'kineto.json.gz'), 'gemm', '--json'])).out,
  );
  assert.ok(!torch.command.includes('--nvtx') && torch.skip > 22);
});

test('what Nsight Compute measured stands next to what was recorded', async () => {
  const csv = path.join(folder, 'gemm.csv');
  writeFileSync(csv, gunzipSync(readFileSync(path.join(projectRoot, 'test/fixtures/ncu/gemm.csv.gz'))));
  const shown = (await runStepscope(['ncu', capturePath('graph'), 'gemm', '--result', csv])).out;
  assert.match(shown, /limit +memory-bound: memory is 66% busy, compute 9%/);
  assert.match(shown, /DRAM bandwidth +3\.17 Tbyte\/s/);
  assert.match(shown, /recorded +198 launches, median 13\.7 µs/);
  writeFileSync(csv, 'nothing of ncu');
  const refused = await runStepscope(['ncu', capturePath('graph'), 'gemm', '--result', csv]);
  assert.match(refused.err, /has no kernels that Nsight Compute measured\.\nGive a report/);
  const missing = await runStepscope(['ncu', capturePath('graph'), 'nosuch']);
  assert.match(
    missing.err,
    /^stepscope: No kernel of this profile has "nosuch" in its name\.\nFind its name: /,
  );
});
