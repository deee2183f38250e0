/** The agent as a Python package: its wheel built, installed into an empty environment, off and on there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { answerIn } from './run-stepscope.js';

const agent = path.join(projectRoot, 'agent');
const version = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')).version as string;
const skip = lacks('wheel');

const home = mkdtempSync(path.join(tmpdir(), 'stepscope-wheel-'));
after(() => rmSync(home, { recursive: true, force: true }));

const clean: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(STEPSCOPE|TLLM|PIP)_|^PYTHON|^RANK$|^VIRTUAL_ENV$|^ENABLE_PERFECT_ROUTER$/.test(name),
    ),
  ),
  PYTHONDONTWRITEBYTECODE: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_NO_CACHE_DIR: '1',
  PIP_RETRIES: '0',
  PIP_DEFAULT_TIMEOUT: '10',
};

type Variables = Record<string, string>;

function run(program: string, args: readonly string[], variables: Variables = {}, cwd = home) {
  const env = { ...clean, ...variables };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 180_000,
  });
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' };
}

function mustRun(program: string, args: readonly string[], variables: Variables = {}, cwd = home): string {
  const ran = run(program, args, variables, cwd);
  assert.equal(ran.status, 0, `${program} ${args.join(' ')}\n${ran.stdout}\n${ran.stderr}`);
  return ran.stdout;
}

function buildWheel(): string {
  const to = path.join(home, 'wheel');
  mkdirSync(to);
  mustRun(locate('wheel')!, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', to], {}, agent);
  return path.join(to, readdirSync(to)[0]);
}

/** Of another environment: making one with a pip of its own takes seconds. */
function pip(python: string, ...words: string[]): void {
  mustRun(locate('wheel')!, ['-m', 'pip', '--python', python, ...words]);
}

/** An environment with nothing in it; its Python. */
function environmentFrom(python: string, name: string, ...options: string[]): string {
  const folder = path.join(home, name);
  mustRun(python, ['-m', 'venv', '--clear', '--without-pip', ...options, folder]);
  return path.join(folder, 'bin/python');
}

/** As pip does with a wheel like this one, and in a fraction of the time. */
function environmentOf(name: string, base = locate('wheel')!, ...options: string[]): string {
  const made = environmentFrom(base, name, ...options);
  const site = mustRun(made, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']).trim();
  mustRun(made, ['-m', 'zipfile', '-e', wheel, site]);
  return made;
}

const bare = skip ? '' : environmentFrom(locate('wheel')!, 'bare');
const wheel = skip ? '' : buildWheel();
const install = (python: string) => pip(python, 'install', '-q', '--no-index', wheel);

const python = skip ? '' : environmentFrom(locate('wheel')!, 'with agent');
if (!skip) install(python);

const ON = { STEPSCOPE_LIVE_STEPS: '5' };
/** What is loaded, from where, and how often the agent has hooked itself in. */
const LOADED = `import gc, json, sys
agent = sys.modules.get("stepscope_agent")
print(json.dumps({
    "agent": agent and [agent.__version__, agent.__file__],
    "hooks": len(gc.callbacks),
    "other": getattr(sys, "was_here", None),
    "names": [name for name in sys.modules if name.startswith("stepscope")],
}))`;
const loaded = (in_: string, variables: Variables) => JSON.parse(mustRun(in_, ['-c', LOADED], variables));

test('the versions of both packages are one, and so are their licenses', () => {
  const source = readFileSync(path.join(agent, 'stepscope_agent/__init__.py'), 'utf8');
  assert.equal(/^__version__ = "(.+)"$/m.exec(source)?.[1], version);
  const license = (folder: string) => readFileSync(path.join(folder, 'LICENSE'), 'utf8');
  assert.equal(license(agent), license(projectRoot));
});

test('the wheel holds the package, what starts it, and nothing else', { skip }, () => {
  const names = mustRun(python, ['-m', 'zipfile', '-l', wheel]).match(/^\S+/gm)!;
  assert.match(path.basename(wheel), new RegExp(`^stepscope_agent-${version}-py3-none-any\\.whl$`));
  const outside = names.filter(name => name !== 'File' && !name.startsWith('stepscope_agent/'));
  const about = `stepscope_agent-${version}.dist-info`;
  assert.deepEqual(outside.filter(name => !name.startsWith(about)).sort(), [
    '_stepscope_start.py',
    'stepscope_agent.pth',
  ]);
  assert.ok(names.includes('stepscope_agent/py.typed'));
  assert.ok(names.some(name => name.startsWith(about) && name.endsWith('LICENSE')));
  const about_ =
    'import importlib.metadata as m; d = m.metadata("stepscope-agent"); print(d.get_all("Requires-Dist"), d["Requires-Python"], d.get_payload())';
  assert.match(mustRun(python, ['-c', about_]), /^None >=3\.9 # stepscope-agent\n/);
});

test('installed and not asked for, it is not there', { skip }, () => {
  // The mark of a capture and the tool's own settings are no request.
  for (const variables of [
    {},
    { STEPSCOPE_CAPTURE_ID: '1', STEPSCOPE_CACHE: '/x', STEPSCOPE_MARKERS: '' },
  ] as Variables[])
    assert.deepEqual(loaded(python, variables), { agent: null, hooks: 0, other: null, names: [] });
  assert.match(
    mustRun(python, ['-c', 'import stepscope_agent as a; print(a.__version__, a.iteration())']),
    /^\S+ -1\n$/,
  );
});

test('it adds less than a millisecond to a start of Python', { skip }, t => {
  const code = `import json, subprocess, sys, time
def start(python):
    begin = time.perf_counter()
    subprocess.run([python, "-c", "pass"], check=True)
    return time.perf_counter() - begin
pair = sys.argv[1:]
times = [[start(python) for python in (pair if i % 2 else pair[::-1])][:: 1 if i % 2 else -1] for i in range(61)]
print(json.dumps([min(column) * 1000 for column in zip(*times[1:])]))`;
  // The fastest of many: what other tests on the same cores take is in all others.
  // Here bytecode is written, as it is where people install it.
  const variables = { PYTHONDONTWRITEBYTECODE: '' };
  const [without, with_] = JSON.parse(mustRun(bare, ['-c', code, bare, python], variables)) as number[];
  const ratio = with_ / without;
  const added = `${(with_ - without).toFixed(2)} ms on ${without.toFixed(2)} ms, a ratio of ${ratio.toFixed(3)}`;
  t.diagnostic(`the agent, off, adds ${added}`);
  // A millisecond is a tenth of a start here; the rest is room for a busy machine.
  assert.ok(ratio < 1.25, added);
});

test('asked for, it records one window of the steps a program names', { skip }, () => {
  const folder = mkdtempSync(path.join(home, 'window-'));
  const program = path.join(folder, 'program.py');
  writeFileSync(
    program,
    'import stepscope_agent\nfor i in range(9):\n    with stepscope_agent.step(gen=(4, 4), kv=100 + i):\n        pass\n',
  );
  const variables = { STEPSCOPE_PROFILE_START_STOP: '5-6', STEPSCOPE_SIDECAR: 'seen.agent.json' };
  mustRun(python, [program], variables, folder);
  const seen = JSON.parse(readFileSync(path.join(folder, 'seen.agent.json'), 'utf8'));
  assert.deepEqual(seen.windows, [[5, 6]]);
  assert.deepEqual(
    seen.iterations.map((row: Record<string, unknown>) => [row.iteration, row.phase, row.generationKvTokens]),
    [
      [5, 'decode', 105],
      [6, 'decode', 106],
    ],
  );
});

test('asked for, it finds the steps of a torch program', { skip: lacks('wheel', 'torch') }, () => {
  const ours = environmentOf('torch', locate('torch')!, '--system-site-packages');
  const folder = path.dirname(ours);
  const scenario = [path.join(agent, 'tests/scenarios.py'), 'plain'];
  mustRun(ours, scenario, { STEPSCOPE_PROFILE_START_STOP: '3-5', STEPSCOPE_TORCH_TRACE: 'trace' }, folder);
  const seen = JSON.parse(readFileSync(path.join(folder, 'trace-rank-0.agent.json'), 'utf8'));
  assert.deepEqual(
    seen.iterations.map((row: { iteration: number }) => row.iteration),
    [3, 4, 5],
  );
  assert.deepEqual(seen.torchTraces, ['trace-rank-0.json.gz']);
});

test('beside another sitecustomize: it still runs, and the agent starts once, both ways and together', {
  skip,
}, () => {
  const other = path.join(home, 'other');
  mkdirSync(other);
  writeFileSync(path.join(other, 'sitecustomize.py'), 'import sys\nsys.was_here = __file__\n');
  const theirs = path.join(other, 'sitecustomize.py');
  const site = path.dirname(
    mustRun(python, ['-c', 'import _stepscope_start as s; print(s.__file__)']).trim(),
  );
  const ours = path.join(agent, 'stepscope_agent/__init__.py');
  const both = `${agent}${path.delimiter}${other}`;
  for (const [name, in_, PYTHONPATH, from] of [
    ['PYTHONPATH', bare, both, ours],
    ['pip', python, other, path.join(site, 'stepscope_agent/__init__.py')],
    ['both', python, both, ours],
  ] as const) {
    const on = loaded(in_, { ...ON, PYTHONPATH });
    assert.deepEqual([on.agent, on.hooks, on.other], [[version, from], 1, theirs], name);
    assert.deepEqual(loaded(in_, { PYTHONPATH }), { agent: null, hooks: 0, other: theirs, names: [] }, name);
  }
});

function planned(args: readonly string[], ...command: string[]) {
  const stepscope = [
    path.join(projectRoot, 'bin/stepscope'),
    'capture',
    '--nsys-version',
    '2025.3',
    '--iterations',
    '20-60',
  ];
  return mustRun(process.execPath, [...stepscope, ...args, '--', ...command]);
}

test('capture --agent: one of the same version is used, another is outdone by ours', { skip }, () => {
  const plan = (...command: string[]) => answerIn(planned(['--agent', '--json'], ...command));
  const same = plan(python, 'serve.py');
  assert.equal(same.env.PYTHONPATH, undefined);
  assert.ok(same.why.some(({ what }: { what: string }) => what === `stepscope-agent ${version}`));
  // A console script names its Python in its first line.
  const script = path.join(home, 'engine');
  writeFileSync(script, `#!${path.join(home, 'no such')}\n`);
  assert.equal(plan(script, 'serve').env.PYTHONPATH, agent);
  writeFileSync(script, `#!/bin/sh\n'''exec' "${python}" "$0" "$@"\n' '''\n`);
  chmodSync(script, 0o755);
  assert.equal(plan(script, 'serve').env.PYTHONPATH, undefined);
  assert.equal(plan(bare, 'serve.py').env.PYTHONPATH, agent);
  assert.equal(
    answerIn(planned(['--agent-folder', '/there', '--json'], python, 'serve.py')).env.PYTHONPATH,
    '/there',
  );

  const older = environmentOf('with another');
  const file = mustRun(older, ['-c', 'import stepscope_agent as a; print(a.__file__)']).trim();
  writeFileSync(file, readFileSync(file, 'utf8').replace(`"${version}"`, '"0.0.9"'));
  const other = plan(older, 'serve.py');
  assert.equal(other.env.PYTHONPATH, agent);
  assert.deepEqual(
    other.warnings
      .filter(({ code }: { code: string }) => code === 'other-agent')
      .map(({ text }: { text: string }) => text),
    [
      `stepscope-agent 0.0.9 is installed in the Python that runs the program; version ${version} of this Stepscope is loaded instead.`,
    ],
  );
  assert.equal(loaded(older, ON).agent[0], '0.0.9');
  assert.deepEqual(loaded(older, { ...ON, PYTHONPATH: agent }).agent[0], version);
});

test('a script looks for the agent where it runs', { skip: lacks('wheel', 'shell') }, () => {
  const folder = mkdtempSync(path.join(home, 'script-'));
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'nsys'), '#!/bin/sh\nprintf "%s\\n" "path=$PYTHONPATH"\n', { mode: 0o755 });
  const said = (in_: string, change: (text: string) => string = text => text) => {
    const file = path.join(folder, 'capture.sh');
    planned(['--agent', '--force', '--script', file], in_, 'serve.py');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const { status, stdout, stderr } = run('bash', [file], { PATH: `${bin}:${process.env.PATH}` }, folder);
    return [status, stdout.trim(), stderr.trim().split('\n')[0]];
  };
  const noReport = 'No report was written: the capture range never opened, or the program ended first.';
  assert.deepEqual(said(python), [1, 'path=', noReport]);
  assert.deepEqual(said(bare), [1, `path=${agent}`, noReport]);
  const elsewhere = (text: string) => text.replaceAll(agent, '/nowhere');
  assert.deepEqual(said(python, elsewhere), [1, 'path=', noReport]);
  assert.deepEqual(said(bare, elsewhere), [
    127,
    '',
    `The agent is not installed: pip install stepscope-agent==${version}`,
  ]);
});

test('pip takes away all that it brought', { skip }, () => {
  const folder = path.join(path.dirname(bare), '..');
  const ours = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.includes('stepscope'));
  assert.deepEqual(ours(), []);
  install(bare);
  assert.ok(ours().some(name => name.endsWith('stepscope_agent.pth')));
  pip(bare, 'uninstall', '-q', '-y', 'stepscope-agent');
  assert.deepEqual(ours(), []);
});

test('its own tests pass under unittest', { skip }, () => {
  const { status, stderr } = run(bare, ['-m', 'unittest', 'discover'], {}, agent);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /Ran [4-9]\d tests/);
});

const scratch = (name: string) => path.join(home, name);

test('ruff finds nothing in it', { skip: lacks('ruff') }, () => {
  const RUFF_CACHE_DIR = scratch('ruff');
  mustRun(locate('ruff')!, ['check', '.'], { RUFF_CACHE_DIR }, agent);
  mustRun(locate('ruff')!, ['format', '--check', '.'], { RUFF_CACHE_DIR }, agent);
});

test('mypy finds nothing in it', { skip: lacks('mypy') }, () => {
  mustRun(locate('mypy')!, ['--cache-dir', scratch('mypy')], {}, agent);
});
