/** Captures and checks that state what they know: options without effect, unknown facts, the agent's own reason, other names. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { chooseReport } from '../src/analyze/stats/index.js';
import { diagnose } from '../src/capture/doctor.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { isAgentReason } from '../src/capture/run/output-lines.js';
import { runFailure, runPlan } from '../src/capture/run/run-plan.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { runStepscope } from './run-stepscope.js';

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-reasons-'));
after(() => fs.rmSync(work, { recursive: true }));

test('--nvtx-debug is told where it has no effect', () => {
  const codes = (command: string, agent?: string) =>
    planCapture({ command: command.split(' '), nvtxDebug: true, ...(agent ? { agent } : {}) }).warnings.map(
      ({ code }) => code,
    );
  for (const command of ['text-generation-launcher', 'python3 own.py'])
    assert.ok(codes(command).includes('nvtx-debug-ignored'), command);
  for (const command of ['trtllm-serve M', 'vllm serve M', 'python3 -m sglang.launch_server'])
    assert.ok(!codes(command).includes('nvtx-debug-ignored'), command);
  assert.ok(!codes('python3 own.py', '/agent').includes('nvtx-debug-ignored'));
});

test('doctor does not call an unknown fact fine, not even for root', () => {
  const facts = {
    ...{ nsys: [], gpus: [], nvidiaSmi: false, root: true, folder: '/out', temporaryFolder: '/tmp' },
    ...{ kubectl: true, ssh: true },
  };
  const states = new Map(diagnose(facts).map(({ id, state }) => [id, state]));
  assert.deepEqual([states.get('gpu-counters'), states.get('cpu-sampling')], ['warn', 'warn']);
  const known = diagnose({ ...facts, adminOnlyCounters: true, perfEventParanoid: 4 });
  assert.deepEqual(
    known.filter(({ id }) => id === 'gpu-counters' || id === 'cpu-sampling').map(({ state }) => state),
    ['ok', 'ok'],
  );
});

test('a run without a report repeats why the agent did not record, however much follows', async () => {
  const said = 'CUDA is not available: windows do not start the CUDA profiler';
  const source = fs.readFileSync(path.join(projectRoot, 'agent/stepscope_agent/capture.py'), 'utf8');
  assert.ok(source.includes(`"${said}"`) && isAgentReason(said));
  const lines = `echo 'stepscope: ${said}' >&2; sleep 0.05; for i in $(seq 100); do echo line $i; done; echo an error`;
  const result = await runPlan({
    command: ['/bin/sh', '-c', lines],
    nsysAt: 0,
    env: {},
    outputs: [{ kind: 'nsys-report', pattern: path.join(work, 'none.nsys-rep') }],
  });
  const failure = runFailure(result);
  assert.ok(failure?.message.endsWith(`exited with status 0: ${said}.`), failure?.message);
  assert.match(failure?.hint ?? '', /The agent reports this/);
});

test('a report that guides misname is the one that is meant, with a word', async () => {
  const file = capturePath('eager');
  const wrong = await runStepscope(['stats', file, '-r', 'cuda_kern_sum', '--csv']);
  const right = await runStepscope(['stats', file, '-r', 'cuda_gpu_kern_sum', '--csv']);
  assert.deepEqual([wrong.status, wrong.out], [0, right.out]);
  assert.match(wrong.err, /nsys has no report cuda_kern_sum; cuda_gpu_kern_sum is the one that is meant/);
  assert.equal(chooseReport('cuda_kern_sum:base').options.kernelName, 'base');
});

test('words of other tools lead to ours, in two lines', async () => {
  for (const [args, says] of [
    [['diff', 'a', 'b'], /Did you mean compare\?/],
    [['profile', '--', 'x'], /Did you mean capture\?/],
    [['open', 'x'], /Did you mean view\?/],
    [['analyse', 'x'], /Did you mean analyze\?/],
    [['dataset', '--num-requests', '5'], /Use --requests N\./],
    [['dataset', '--input-mean', '5'], /Use --input-tokens normal:MEAN:DEVIATION/],
    [['load', '--concurrency', '5'], /Use --levels concurrent:N\./],
    [['capture', '--num-requests', '5', '--', 'x'], /Use --requests N\./],
    [['capture', '--python-gil', '--', 'x'], /Use --gil\./],
    [['stats', '-r', 'cuda_gpu_kern_smu', 'x'], /Did you mean cuda_gpu_kern_sum\?/],
    [['analyze', 'x', '--only', 'step-budgte'], /Did you mean step-budget\?/],
  ] as const) {
    const { status, err } = await runStepscope(args);
    assert.equal(status, 2, args.join(' '));
    assert.match(err, says);
    assert.equal(err.trimEnd().split('\n').length, 2, err);
  }
});
