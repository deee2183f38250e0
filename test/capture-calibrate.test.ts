/** The second run of `capture --calibrate`: as a plan, as a script, in a real process, and joined with a capture. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import type { CaptureOptions } from '../src/capture/capture-plan.js';
import { judgeCapture } from '../src/capture/judge-capture.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { planScript } from '../src/capture/plan-script.js';
import { recordedWith } from '../src/capture/run/recorded-with.js';
import { runCommand } from '../src/cli/main.js';
import { joinSidecars } from '../src/import/agent-sidecar/join-sidecars.js';
import { openProfile } from '../src/import/open.js';
import { quietStepsOf } from '../src/import/quiet-step.js';
import { QuietSource } from '../src/model/schema.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-calibrate-'));
after(() => fs.rmSync(scratch, { recursive: true, force: true }));
let work = '';
beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
});

const options: CaptureOptions = {
  command: ['python3', 'serve.py'],
  preset: 'python',
  agent: '/opt/agent',
  iterations: [{ first: 20, last: 29 }],
  calibrate: true,
};

const said = (text: string[] = []) => ({
  text,
  output: {
    out: (line: string) => void text.push(line),
    err: (line: string) => void text.push(line),
    width: 100,
    color: false,
    progress() {},
    clearProgress() {},
  },
});

test('the second run has the command and the steps of the first, and no profiler', () => {
  const { calibration } = planCapture(options);
  assert.deepEqual(calibration, {
    command: ['python3', 'serve.py'],
    env: {
      PYTHONPATH: '/opt/agent',
      STEPSCOPE_CALIBRATE: '20-29',
      STEPSCOPE_SIDECAR: 'trace.calibration.agent.json',
    },
    outputs: [{ kind: 'agent-sidecar', pattern: 'trace.calibration.agent.json' }],
  });
  assert.equal(planCapture({ ...options, calibrate: false }).calibration, undefined);
});

test('launchers pass on what the second run needs, and routing stays as it was', () => {
  const plan = planCapture({
    ...options,
    command: ['mpirun', '-n', '2', 'python3', 'serve.py'],
    torchTrace: 'run',
    perfectRouter: true,
  });
  assert.deepEqual(plan.calibration?.command, [
    ...['mpirun', '-x', 'PYTHONPATH', '-x', 'STEPSCOPE_CALIBRATE', '-x', 'STEPSCOPE_SIDECAR'],
    ...['-x', 'ENABLE_PERFECT_ROUTER', '-n', '2', 'python3', 'serve.py'],
  ]);
  assert.equal(plan.calibration?.env.ENABLE_PERFECT_ROUTER, '1');
  assert.equal(plan.calibration?.env.STEPSCOPE_SIDECAR, 'run.calibration.agent.json');
});

for (const [name, args, reason] of [
  ['without the agent', ['--iterations', '1-2', '--', 'vllm', 'serve', 'M'], /needs --agent/],
  ['without steps', ['--agent', '--', 'python3', 'a.py'], /needs --iterations/],
  ['of a server that runs already', ['--attach', '--server', 'http://a'], /cannot be started again/],
  ['in a pod', ['--agent', '--pod', 'p', '--iterations', '1-2', '--', 'python3', 'a.py'], /--pod runs/],
  ['over ssh', ['--agent', '--ssh', 'h', '--iterations', '1-2', '--', 'python3', 'a.py'], /--ssh runs/],
  ['of a server that is kept', ['--agent', '--keep-server', '--', 'python3', 'a.py'], /same address/],
] as const)
  test(`a second run ${name} is refused with the reason`, async () => {
    const { text, output } = said();
    assert.notEqual(await runCommand(['capture', '--calibrate', ...args], output), 0);
    assert.match(text.join(''), reason);
  });

test('a script runs it after the capture, without the variables of the first', {
  skip: lacks('shell'),
}, () => {
  // A torch trace needs no nsys: the program itself says how it was called.
  const program = path.join(work, 'serve.sh');
  const log = path.join(work, 'calls');
  fs.writeFileSync(program, `env | grep -E '^(STEPSCOPE|PYTHONPATH)' | sort >> ${log}; echo end >> ${log}\n`);
  const plan = planCapture({ ...options, command: ['bash', program], torchTrace: path.join(work, 'run') });
  const script = path.join(work, 'capture.sh');
  fs.writeFileSync(script, planScript(plan, { force: false }));
  const env = { PATH: process.env.PATH, HOME: work };
  const { status, stderr } = spawnSync('bash', [script], { cwd: work, env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const [first, second, rest] = fs.readFileSync(log, 'utf8').split('end\n');
  const lines = (variables: Readonly<Record<string, string>>) =>
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .sort()
      .join('');
  assert.deepEqual([first, second, rest], [lines(plan.env), lines(plan.calibration!.env), '']);
  // A capture that failed is not calibrated.
  fs.writeFileSync(program, `echo begun >> ${log}; exit 3\n`);
  fs.rmSync(log);
  assert.equal(spawnSync('bash', [script], { cwd: work, env }).status, 3);
  assert.equal(fs.readFileSync(log, 'utf8'), 'begun\n');
});

const PROGRAM = `
import sys
sys.path.insert(0, ${JSON.stringify(path.join(projectRoot, 'agent/tests'))})
import models, torch
model = models.model()
with torch.inference_mode():
    for i in range(int(sys.argv[1])):
        model(models.prompt(2, 5 if i == 0 else 1))
`;
const capturing = (steps: number, ...more: string[]) => {
  const program = path.join(work, 'serve.py');
  fs.writeFileSync(program, PROGRAM);
  const { text, output } = said();
  const args = ['capture', '--agent', '--calibrate', '--torch-trace', path.join(work, 'trace')];
  const command = [locate('torch')!, program, String(steps)];
  return runCommand([...args, '--iterations', '20-29', ...more, '--', ...command], output).then(() =>
    text.join(''),
  );
};
const calibratedIn = async (files: readonly string[]) =>
  quietStepsOf(await openProfile(files)).filter(({ source }) => source === QuietSource.calibration);

test('a real second run: its steps are joined by the recipe', { skip: lacks('torch') }, async () => {
  const text = await capturing(60);
  assert.match(text, /running the same steps again, without a profiler/);
  const report = path.join(work, fs.readdirSync(work).find(name => name.endsWith('.json.gz'))!);
  const companions = await recordedWith([report]);
  assert.deepEqual(companions.map(file => path.basename(file)).sort(), [
    'trace-rank-0.agent.json',
    'trace.calibration.agent.json',
  ]);
  const steps = await calibratedIn([report, ...companions]);
  assert.deepEqual(
    steps.map(({ iteration }) => iteration),
    Array.from({ length: 10 }, (_, i) => 20 + i),
  );
  assert.ok(steps.every(({ periodNs }) => periodNs > 0 && periodNs < 60e9));
  // Both names are taken now, which is known before anything runs.
  fs.rmSync(report);
  for (const name of fs.readdirSync(work).filter(file => /^trace-rank/.test(file)))
    fs.rmSync(path.join(work, name));
  assert.match(await capturing(60), /trace\.calibration\.agent\.json already exists/);
});

test('a run that ends with the window has one period less', { skip: lacks('torch') }, async () => {
  await capturing(30);
  const files = fs.readdirSync(work).filter(name => /\.agent\.json$|\.json\.gz$/.test(name));
  const steps = await calibratedIn(files.map(name => path.join(work, name)));
  assert.deepEqual(
    steps.map(({ iteration }) => iteration),
    Array.from({ length: 9 }, (_, i) => 20 + i),
  );
});

/** Steps of the second run, next to a real capture of steps 12 to 20 with 8 requests in decode. */
function secondRun(periodNs: number, more: Record<string, unknown> = {}, requests = 8): string {
  const file = path.join(work, 'trace.calibration.agent.json');
  const steps = Array.from({ length: 10 }, (_, i) => [12 + i, i * periodNs, 5, 1, 0, 0, requests, requests]);
  const document = {
    ...{ stepscopeAgent: 1, originNs: '1000000000000', pid: 4711, rank: 0, worldSize: 1, iterations: [] },
    ...{ calibrated: [[12, 20]], quietSteps: [{ window: 0, side: 'calibration', steps }] },
    ...more,
  };
  fs.writeFileSync(file, JSON.stringify(document));
  return file;
}
const rowOf = async (...files: string[]) => {
  const profile = await openProfile([capturePath('graph'), ...files], { workers: 0 });
  return { profile, row: new Analyzer(profile, {}).get(undisturbedStep).rows[0] };
};

test('its steps are what a step takes without the profiler, before any estimate', async () => {
  const { profile, row } = await rowOf(secondRun(3e6));
  assert.deepEqual([row.source, row.steps, row.undisturbedNs], ['calibration', 9, 3e6]);
  assert.equal(row.basis, 'measured by a second run without a profiler');
  const { checks } = judgeCapture(profile, { command: [], nsysAt: -1, env: {} });
  assert.match(
    checks.find(({ id }) => id === 'profiler-cost')!.text,
    /decode step of 3\.74 ms \(19\.\d%; measured by a second run without a profiler, 9 steps\)$/,
  );
});

test('other batches are not compared, another version is not joined', async () => {
  assert.equal((await rowOf(secondRun(3e6, {}, 4))).row.source, 'estimate');
  const { profile, row } = await rowOf(secondRun(3e6, { versions: { OS: 'another' } }));
  assert.equal(row.source, 'estimate');
  assert.ok(profile.notes.some(({ text }) => /used another version of OS/.test(text)));
});

test('of two ranks, each second run belongs to its own', async () => {
  const { profile, row } = await rowOf(secondRun(3e6, { rank: 1, worldSize: 2 }));
  assert.equal(row.source, 'calibration', 'one capture without a rank');
  const ranked = { ...profile, capture: { ...profile.capture, ranks: [0] } };
  const sidecar = await openProfile([secondRun(3e6, { rank: 1, worldSize: 2 })]);
  const [joined] = joinSidecars([ranked, sidecar]);
  assert.ok(joined.notes.some(({ text }) => /its rank was not captured/.test(text)));
});
