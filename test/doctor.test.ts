/** The doctor: what it says of machines with everything, with old things, and with nothing at all. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { type DoctorFacts, diagnose } from '../src/capture/doctor.js';
import { freeBytesOf } from '../src/capture/run/free-space.js';
import { readRights } from '../src/capture/run/look-around.js';
import { probeWith, pythonVersions } from '../src/capture/run-probe.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { answerIn } from './run-stepscope.js';

const withShell = { skip: lacks('shell') };

const healthy: DoctorFacts = {
  nsys: [{ path: '/opt/nsys', version: '2025.3.1.90' }],
  trial: 'report',
  ncuVersion: '2025.3.1.0',
  gpus: [{ name: 'NVIDIA H200', driver: '580.159.04', memory: '143771 MiB' }],
  nvidiaSmi: true,
  perfEventParanoid: 2,
  adminOnlyCounters: false,
  root: false,
  python: { python: '3.12.3', torch: '2.11.0', vllm: '0.16.0', nvtx: '0.2.13' },
  folder: '/out',
  freeBytes: 1e12,
  temporaryFolder: '/tmp',
  temporaryFreeBytes: 1e12,
  kubectl: true,
  ssh: true,
};

const stateOf = (facts: Partial<DoctorFacts>, id: string) =>
  diagnose({ ...healthy, ...facts }).find(check => check.id === id)!;

test('a machine with everything has nothing to fix', () => {
  const checks = diagnose(healthy);
  assert.deepEqual(
    checks.filter(({ state, fix }) => state !== 'ok' || fix !== undefined),
    [],
  );
  assert.equal(new Set(checks.map(({ id }) => id)).size, checks.length);
});

test('vLLM without the package nvtx', () => {
  const python = { python: '3.12.3', torch: '2.11.0' };
  assert.equal(stateOf({ python: { ...python, vllm: '0.16.0' } }, 'nvtx').state, 'warn');
  // Others do without it.
  assert.equal(stateOf({ python: { ...python, sglang: '0.5.0' } }, 'nvtx'), undefined);
});

test('whatever is not ok says how to fix it', () => {
  const bare: DoctorFacts = {
    nsys: [],
    gpus: [],
    nvidiaSmi: false,
    root: false,
    folder: '/out',
    temporaryFolder: '/tmp',
    kubectl: false,
    ssh: false,
  };
  for (const check of diagnose(bare)) {
    assert.notEqual(check.state, 'ok', check.id);
    assert.ok(check.fix, check.id);
  }
});

test('rights, by level and by who asks', () => {
  assert.equal(stateOf({ perfEventParanoid: 4 }, 'cpu-sampling').state, 'warn');
  assert.equal(stateOf({ perfEventParanoid: 4, root: true }, 'cpu-sampling').state, 'ok');
  assert.equal(stateOf({ adminOnlyCounters: true }, 'gpu-counters').state, 'warn');
  assert.match(
    stateOf({ adminOnlyCounters: true }, 'gpu-counters').fix!,
    /NVreg_RestrictProfilingToAdminUsers=0/,
  );
  assert.equal(stateOf({ adminOnlyCounters: true, root: true }, 'gpu-counters').state, 'ok');
});

test('an nsys older than the driver’s CUDA, or too old for the GIL', () => {
  assert.equal(stateOf({ nsys: [{ path: '/n', version: '2024.6.2.0' }] }, 'driver').state, 'warn');
  assert.equal(stateOf({ nsys: [{ path: '/n', version: '2024.6.2.0' }] }, 'nsys').state, 'ok');
  assert.equal(stateOf({ nsys: [{ path: '/n', version: '2022.4.2.1' }] }, 'nsys').state, 'warn');
  const old = { gpus: [{ name: 'A100', driver: '535.104.05', memory: '81920 MiB' }] };
  assert.equal(stateOf({ ...old, nsys: [{ path: '/n', version: '2023.4.4.54' }] }, 'driver').state, 'ok');
});

test('an nsys that leaves only raw streams', () => {
  for (const trial of ['stream', 'nothing'] as const)
    assert.equal(stateOf({ trial }, 'nsys-report').state, 'warn', trial);
  assert.match(
    stateOf({ trial: 'stream' }, 'nsys-report').text,
    /no importer \(QdstrmImporter\) of nsys 2025/,
  );
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-doctor-'));
  const nsys = path.join(folder, 'nsys');
  const stateWith = (ending: string) => {
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo 'NVIDIA Nsight Systems version 2025.3.1.0-1'\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2.${ending}"; shift; done\n`;
    fs.writeFileSync(nsys, script, { mode: 0o755 });
    const env = { PATH: '/usr/bin:/bin', NSYS: nsys };
    const command = [path.join(projectRoot, 'bin/stepscope'), 'doctor', '--json'];
    const { stdout } = spawnSync(process.execPath, command, { env, encoding: 'utf8', cwd: folder });
    const { checks } = answerIn(stdout) as { checks: { id: string; state: string }[] };
    return checks.find(({ id }) => id === 'nsys-report')!.state;
  };
  assert.equal(stateWith('qdstrm'), 'warn');
  assert.equal(stateWith('nsys-rep'), 'ok');
  fs.rmSync(folder, { recursive: true });
});

test('room and counts', () => {
  assert.equal(stateOf({ freeBytes: 1e9 }, 'disk').state, 'warn');
  assert.match(stateOf({ gpus: Array(8).fill(healthy.gpus[0]) }, 'gpu').text, /^8 × NVIDIA H200/);
});

test('rights are read from files that may be missing or odd', () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-doctor-'));
  assert.deepEqual(readRights(root), {});
  fs.mkdirSync(path.join(root, 'proc/sys/kernel'), { recursive: true });
  fs.mkdirSync(path.join(root, 'proc/driver/nvidia'), { recursive: true });
  fs.writeFileSync(path.join(root, 'proc/sys/kernel/perf_event_paranoid'), '-1\n');
  fs.writeFileSync(path.join(root, 'proc/driver/nvidia/params'), 'A: 1\nRmProfilingAdminOnly: 1\n');
  assert.deepEqual(readRights(root), { perfEventParanoid: -1, adminOnlyCounters: true });
  fs.writeFileSync(path.join(root, 'proc/sys/kernel/perf_event_paranoid'), 'what');
  assert.deepEqual(readRights(root), { adminOnlyCounters: true });
  assert.ok(Number.isFinite(freeBytesOf(path.join(root, 'not/yet/there'))));
  fs.rmSync(root, { recursive: true });
});

test('programs that hang or are missing are answers', withShell, async () => {
  const begun = Date.now();
  const slow = await probeWith(process.env, 300)('sleep', ['30']);
  assert.deepEqual([slow.found, slow.ok], [true, false]);
  assert.ok(Date.now() - begun < 60_000, 'it hangs');
  const missing = await probeWith(process.env)('no-such-program-here', []);
  assert.deepEqual([missing.found, missing.ok], [false, false]);
  assert.equal(await pythonVersions(async () => ({ found: true, ok: true, stdout: 'not json' })), undefined);
  const loud = await pythonVersions(async () => ({
    found: true,
    ok: true,
    stdout: 'warning: x\n{"python":"3.12"}\n',
  }));
  assert.deepEqual(loud, { python: '3.12' });
});

test('on a machine with nothing the command still answers', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-doctor-'));
  const command = path.join(projectRoot, 'bin/stepscope');
  // NSYS names something that is no nsys: the doctor says it is missing instead of giving up.
  const env = { PATH: folder, NSYS: '/nowhere/nsys' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'doctor', '--json'], {
    env,
    encoding: 'utf8',
    cwd: folder,
  });
  assert.equal(status, 0, stderr);
  const { schema, checks } = answerIn(stdout) as {
    schema: string;
    checks: { id: string; state: string }[];
  };
  assert.equal(schema, 'stepscope-doctor/1');
  assert.equal(checks.find(({ id }) => id === 'nsys')!.state, 'missing');
  assert.equal(checks.find(({ id }) => id === 'python')!.state, 'missing');
  const text = spawnSync(process.execPath, [command, 'doctor'], { env, encoding: 'utf8', cwd: folder });
  assert.match(text.stdout, /^missing {2}nsys/m);
  fs.rmSync(folder, { recursive: true });
});
