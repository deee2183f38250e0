/**
 * `capture --pod NAME --restart`, with a real kubectl and a stand-in for its cluster: the deployment is patched, the new
 * pod really runs the planned command (a stand-in for nsys around a small server), and the patch is taken back.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { changeCommand } from '../src/capture/workload.js';
import { capturePath } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';
import {
  addProcess,
  insideTmp,
  makeContainer,
  StandInCluster,
  type StandInContainer,
  type StandInPod,
} from './stand-in-cluster.js';
import { recordedIn } from './standin-engine.js';
import { timed } from './timed.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-restart-'));
const had = {
  KUBECONFIG: process.env.KUBECONFIG,
  HOME: process.env.HOME,
  NSYS: process.env.NSYS,
  STEPSCOPE_CACHE: process.env.STEPSCOPE_CACHE,
};
const from = process.cwd();
let work = '';
let running: ChildProcess | undefined;
const closing: (() => void)[] = [];

/** With everything it started: a container ends as a whole. */
function endPod(): void {
  try {
    if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function startInNewFolder(): void {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  process.chdir(work);
}
beforeEach(startInNewFolder);
after(() => {
  process.chdir(from);
  endPod();
  for (const close of closing) close();
  for (const [name, value] of Object.entries(had))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  fs.rmSync(scratch, { recursive: true, force: true });
});

const standIn = fileURLToPath(new URL('./standin-engine.js', import.meta.url));
const withCluster = { skip: lacks('kubectl', 'shell') || lacks('python') };

/** Runs its program, and writes the report once the window is over; the program runs on. */
const NSYS_THERE = `#!/bin/sh
if [ "$1" = --version ]; then echo 'NVIDIA Nsight Systems version 2025.3.1.90-1v0'; exit 0; fi
shift
while [ $# -gt 0 ]; do case "$1" in -o) OUT=$2; shift 2 ;; -t|-c|-s|-f) shift 2 ;; -*) shift ;; *) break ;; esac; done
"$@" & P=$!
trap 'kill $P' TERM INT
while [ ! -f "$TMPDIR/window" ]; do sleep 0.05; kill -0 $P 2>/dev/null || exit 1; done
printf 'NVIDIA Tegra Profiler Report 2025@3@1@90-1v0.' > "$OUT.nsys-rep"
wait $P
`;
/** Serves as the engine does; a window of TLLM_PROFILE_START_STOP is over after two rounds of requests. */
const SERVE = `#!/usr/bin/env python3
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    seen = 0
    protocol_version = "HTTP/1.1"
    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200); self.send_header("content-length", str(len(data))); self.end_headers(); self.wfile.write(data)
    def do_GET(self): self.answer({"data": [{"id": "m", "owned_by": "tensorrt_llm"}]})
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        Handler.seen += 1
        if "TLLM_PROFILE_START_STOP" in os.environ and Handler.seen >= 32: open(os.environ["TMPDIR"] + "/window", "w").close()
        events = [{"choices": [{"index": 0, "text": "x", "finish_reason": "length"}]}, {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}]
        data = "".join("data: " + json.dumps(e) + "\\n\\n" for e in events) + "data: [DONE]\\n\\n"
        self.send_response(200); self.send_header("content-type", "text/event-stream"); self.send_header("content-length", str(len(data))); self.end_headers(); self.wfile.write(data.encode())
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
`;
/** The nsys of this machine: exports every report as a bundled capture. */
const NSYS_HERE = `#!/bin/sh
if [ "$1" = --version ]; then echo 'NVIDIA Nsight Systems version 2025.3.1.90-1v0'; exit 0; fi
if [ "$2" = --help ]; then exit 0; fi
while [ $# -gt 1 ]; do if [ "$1" = -o ]; then cp '@EXPORT@' "$2"; fi; shift; done
`;

const freePort = () =>
  new Promise<number>(resolve => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });

interface Setup {
  readonly cluster: StandInCluster;
  readonly own: StandInContainer;
  readonly started: StandInContainer[];
}

/** A deployment of one pod. A change of its template ends the pod and starts another with the new command. */
async function deployed(
  options: { mayPatch?: boolean; words?: readonly string[]; nsys?: boolean; standIn?: boolean } = {},
): Promise<Setup> {
  const port = await freePort();
  const folder = makeContainer(path.join(work, 'container'));
  if (options.nsys !== false) fs.writeFileSync(path.join(folder, 'bin/nsys'), NSYS_THERE, { mode: 0o755 });
  fs.writeFileSync(path.join(folder, 'bin/trtllm-serve'), SERVE, { mode: 0o755 });
  const program = (role: string) => `#!/bin/sh\nexec '${process.execPath}' '${standIn}' ${role} "$@"\n`;
  if (options.standIn)
    for (const role of ['nsys', 'vllm'])
      fs.writeFileSync(path.join(folder, 'bin', role), program(role), { mode: 0o755 });
  const command = options.standIn
    ? ['vllm', 'serve', 'm', '--port', String(port)]
    : (options.words ?? ['trtllm-serve', 'm', '--port', String(port)]);
  const own: StandInContainer = { name: 'main', command, env: [{ name: 'HF_HOME', value: '/models' }] };
  const pods: Record<string, StandInPod> = {};
  const started: StandInContainer[] = [];
  const start = (container: StandInContainer) => {
    started.push(container);
    endPod();
    for (const name of Object.keys(pods)) delete pods[name];
    fs.rmSync(path.join(folder, 'proc/1'), { recursive: true, force: true });
    const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));
    const words = (container.command ?? []).map(word => insideTmp(folder, word));
    addProcess(folder, 1, container.command ?? [], env);
    running = spawn(path.join(folder, 'bin', words[0].replace(/.*\//, '')), words.slice(1), {
      env: { ...env, PATH: `${folder}/bin`, TMPDIR: `${folder}/tmp` },
      stdio: 'ignore',
      detached: true,
    });
    running.on('error', () => {});
    pods[`llama-${started.length}`] = {
      labels: { app: 'llm' },
      owner: 'llama',
      command: container.command,
      folder,
    };
  };
  const cluster = await StandInCluster.start('serving', pods);
  closing.push(() => cluster.stop());
  cluster.deployments.llama = {
    labels: { app: 'llm' },
    container: own,
    mayPatch: options.mayPatch ?? true,
    onChanged: start,
  };
  start(own);
  process.env.KUBECONFIG = cluster.config(work);
  process.env.HOME = work;
  process.env.STEPSCOPE_CACHE = path.join(work, 'cache');
  fs.writeFileSync(path.join(work, 'export.sqlite'), gunzipSync(fs.readFileSync(capturePath('old23'))));
  fs.writeFileSync(path.join(work, 'nsys'), NSYS_HERE.replace('@EXPORT@', path.join(work, 'export.sqlite')), {
    mode: 0o755,
  });
  if (options.standIn) fs.writeFileSync(path.join(work, 'nsys'), program('nsys'));
  process.env.NSYS = path.join(work, 'nsys');
  return { cluster, own, started };
}

const restart = (...more: string[]) =>
  runStepscope([
    'capture',
    '--pod',
    'llama-1',
    '-n',
    'serving',
    '--restart',
    '--iterations',
    '12-15',
    '-o',
    'run',
    ...more,
  ]);

test('the deployment is restarted under nsys, recorded, and changed back', withCluster, async () => {
  const { cluster, own, started } = await deployed();
  const { status, out, err } = await restart();
  assert.equal(status, 0, err);
  assert.equal(started.length, 3, err);
  const [, profiled, again] = started;
  assert.deepEqual(profiled.command!.slice(-own.command!.length), own.command);
  assert.match(
    profiled.command!.join(' '),
    /nsys profile -o \/tmp\/stepscope-run .*-c cudaProfilerApi --capture-range-end=stop/,
  );
  assert.deepEqual(profiled.env, [
    { name: 'HF_HOME', value: '/models' },
    { name: 'TLLM_PROFILE_START_STOP', value: '12-15' },
  ]);
  // As it was, field by field: no arguments appear that were not there.
  assert.deepEqual(again, own);
  assert.deepEqual(cluster.deployments.llama.container, own);
  assert.ok(fs.existsSync('run.nsys-rep'));
  // 16 users, and one round more than the window needs.
  assert.match(err, /32 of 32 requests completed/);
  assert.match(out, /Decode is launch-bound/);
  assert.match(err, /restarting deployment\/llama under the profiler[\s\S]*changing deployment\/llama back/);
});

timed('--when with --restart: the engine is watched through the tunnel', withCluster, async () => {
  // It may be tried again.
  endPod();
  startInNewFolder();
  const { own, started } = await deployed({ standIn: true });
  const call = 'capture --pod llama-1 -n serving --restart --engine-version 0.16.0 --steps 25 -o run --when';
  const { status, err } = await runStepscope([...call.split(' '), 'running>=6']);
  assert.equal(status, 0, err);
  assert.match(err, /25 steps, as requested/);
  const steps = recordedIn('run.nsys-rep');
  assert.equal(steps.length, 25);
  assert.ok(steps.every(({ context, generation }) => context + generation >= 6));
  assert.deepEqual(started.at(-1), own);
});

test('a server that never comes up is changed back too', withCluster, async () => {
  const { own, started } = await deployed({ words: ['trtllm-serve', 'm', '--port', 'none'] });
  const { status, err } = await restart('--health-timeout', '1s');
  assert.equal(status, 12, err);
  assert.match(err, /The server did not respond/);
  assert.deepEqual(started.at(-1), own);
});

test('an interrupt while the server starts changes it back too', withCluster, async () => {
  const { own, started } = await deployed({ words: ['trtllm-serve', 'm', '--port', 'none'] });
  const interrupting = setInterval(() => {
    if (started.length < 2) return;
    clearInterval(interrupting);
    setTimeout(() => process.emit('SIGINT'), 500);
  }, 20);
  const { status, err } = await restart('--health-timeout', '60s');
  assert.notEqual(status, 0);
  assert.match(err, /changing deployment\/llama back/);
  assert.deepEqual(started.at(-1), own);
});

test('what is not allowed or cannot work is refused before anything changes', withCluster, async () => {
  const refusals: [Parameters<typeof deployed>[0], string[], RegExp][] = [
    [
      { mayPatch: false },
      [],
      /Your account may not restart deployment\/llama: it lacks the right to patch it/,
    ],
    [
      { nsys: false },
      [],
      /nsys is not installed in pod llama-1, and a restarted container does not keep a copy/,
    ],
    [
      { words: ['text-generation-launcher', '--model-id', 'm'] },
      ['--anyway'],
      /TGI does not open a capture range/,
    ],
    [{}, ['--', 'trtllm-serve', 'm'], /--restart uses the command of the server/],
  ];
  for (const [options, more, reason] of refusals) {
    work = fs.mkdtempSync(path.join(scratch, 't-'));
    const { started, cluster } = await deployed(options);
    const { status, err } = await restart(...more);
    assert.notEqual(status, 0);
    assert.match(err, reason);
    assert.equal(started.length, 1, err);
    assert.ok(!cluster.asked.some(line => line.startsWith('PATCH')));
  }
});

test('a dry run asks nobody', async () => {
  process.env.KUBECONFIG = path.join(work, 'nowhere');
  const { status, out } = await runStepscope(['capture', '--dry-run', '--restart', '--pod', 'llama-1']);
  assert.equal(status, 0);
  assert.match(out, /patch the command back, whatever happened/);
});

test('the way back restores what was there and removes what was not', () => {
  const plan = { command: ['nsys', 'x'], env: { A: '1' } };
  const bare = changeCommand(0, { name: 'main' }, plan);
  assert.deepEqual(
    bare.back.map(({ op, path: place }) => `${op} ${place.split('/').at(-1)}`),
    ['remove command', 'remove args', 'remove env'],
  );
  const own = {
    name: 'main',
    command: ['x'],
    args: ['y'],
    env: [
      { name: 'A', value: '0' },
      { name: 'B', valueFrom: {} },
    ],
  };
  const { there, back } = changeCommand(2, own, plan);
  assert.equal(there[0].path, '/spec/template/spec/containers/2/command');
  assert.deepEqual(there[2].value, [
    { name: 'B', valueFrom: {} },
    { name: 'A', value: '1' },
  ]);
  assert.deepEqual(
    back.map(({ value }) => value),
    [own.command, own.args, own.env],
  );
});
