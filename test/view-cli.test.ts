/** `stepscope view` as a user starts it: a process that prints its address, serves, and ends when told to. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { browserCommand } from '../src/cli/open-browser.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { ask, keyOf, rememberKey } from './small-server.js';

const bin = path.join(projectRoot, 'bin/stepscope');
const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-view-'));
after(() => rmSync(folder, { recursive: true }));

/** Its own folder for temporary files, to see what it leaves there. */
const temporary = path.join(folder, 'tmp');
mkdirSync(temporary);
const env = { ...process.env, TMPDIR: temporary, DISPLAY: '', WAYLAND_DISPLAY: '' };

interface Viewing {
  readonly child: ChildProcess;
  /** All it has printed by the time the first line was whole. */
  readonly line: string;
  end(signal: NodeJS.Signals): Promise<{ status: number | null; err: string }>;
}

async function view(t: TestContext, ...args: string[]): Promise<Viewing> {
  const child = spawn(process.execPath, [bin, 'view', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let line = '';
  let err = '';
  child.stderr.on('data', chunk => (err += chunk));
  for await (const chunk of child.stdout) {
    line += chunk;
    if (line.includes('\n')) break;
  }
  return {
    child,
    line,
    async end(signal) {
      child.kill(signal);
      const [status] = await ended;
      return { status, err };
    },
  };
}

const refused = (...args: string[]) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [bin, 'view', ...args], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, lines: stderr.trimEnd().split('\n') };
};

const isServed = async (url: string) => {
  const { port } = new URL(url);
  rememberKey(url);
  return (await ask(Number(port), '/')).status === 200;
};

test('prints where it is, serves, and ends on SIGTERM', async t => {
  const { line, end } = await view(t, capturePath('eager'), '--no-open');
  const url =
    /^Stepscope is running at (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}) — press Ctrl-C to stop\n$/.exec(
      line,
    )?.[1] ?? '';
  assert.ok(url, line);
  const { port } = new URL(url);
  assert.ok(await isServed(url));
  const { profiles } = JSON.parse((await ask(Number(port), '/api/state')).text);
  const files = [capturePath('eager')];
  assert.deepEqual(profiles, [
    { id: 1, name: 'profile.sqlite.gz', status: 'ready', done: 1, files, canRedact: true },
  ]);
  assert.deepEqual(await end('SIGTERM'), { status: 0, err: '' });
  await assert.rejects(isServed(url), /ECONNREFUSED/);
  assert.deepEqual(readdirSync(temporary), []);
});

test('--json, --port and --compare; Ctrl-C ends it too', async t => {
  const free = await freePort();
  const files = [capturePath('eager'), '--compare', capturePath('graph')];
  const { line, end } = await view(
    t,
    ...files,
    '--json',
    '--port',
    String(free),
    '--at',
    '#steps=1-2&panel=step',
  );
  const answer = JSON.parse(line);
  assert.deepEqual(Object.keys(answer), ['schema', 'tool', 'inputs', 'notes', 'truncated', 'data']);
  assert.deepEqual(
    answer.inputs.map(({ file }: { file: string }) => file),
    ['profile.sqlite.gz', 'profile.sqlite.gz'],
  );
  const { $schema, ...schema } = JSON.parse(
    readFileSync(path.join(projectRoot, 'docs/schemas/view.schema.json'), 'utf8'),
  );
  const validate = new Ajv2020({ strict: false }).compile(schema);
  assert.equal(validate(answer) as boolean, true, JSON.stringify(validate.errors));
  const said = answer.data;
  assert.ok(said.url.startsWith(`http://127.0.0.1:${free}/?token=`));
  assert.ok(said.url.endsWith('#steps=1-2&panel=step'), 'the view that was asked for');
  rememberKey(said.url);
  assert.equal(said.profiles.length, 2);
  const state = JSON.parse((await ask(free, '/api/state')).text);
  assert.deepEqual(
    state.profiles.map(({ id, name, status }: Record<string, unknown>) => ({ id, name, status })),
    said.profiles,
  );
  assert.deepEqual(state.compare, [1, 2]);
  const taken = refused('--port', String(free));
  assert.equal(taken.status, 2);
  assert.match(taken.lines[0], new RegExp(`Port ${free} is already in use`));
  assert.equal((await end('SIGINT')).status, 0);
});

test('several files are one profile, the files of --compare another', async t => {
  const ranks = ['profile', 'rank1'].map((name, rank) => {
    const file = path.join(folder, `rank${rank}.sqlite.gz`);
    writeFileSync(file, readFileSync(capturePath('agent-ranks', `${name}.sqlite.gz`)));
    return file;
  });
  const { line, end } = await view(t, ...ranks, '--json', '--compare', capturePath('graph'));
  const names = JSON.parse(line).data.profiles.map((profile: { name: string }) => profile.name);
  assert.deepEqual(names, ['2 files', 'profile.sqlite.gz']);
  await end('SIGTERM');
});

test('without a file it waits for one to be dropped', async t => {
  const { line, end } = await view(t, '--json', '--max-drop', '0.01');
  const port = Number(new URL(JSON.parse(line).data.url).port);
  rememberKey(JSON.parse(line).data.url);
  const put = (name: string, body: Uint8Array) =>
    ask(port, `/api/profiles?name=${name}`, { method: 'PUT', headers: { 'X-Stepscope': '1' }, body });
  assert.deepEqual(JSON.parse((await ask(port, '/api/state')).text).profiles, []);
  const good = await put('mine.sqlite.gz', readFileSync(capturePath('graph')));
  assert.deepEqual([good.status, JSON.parse(good.text)], [200, { id: 1 }]);
  const timeline = JSON.parse((await ask(port, '/api/profiles/1/timeline')).text);
  assert.equal(timeline.steps.length, 9);
  assert.doesNotMatch(JSON.stringify(timeline), /dropped|nsys-rep/);
  const broken = await put('broken.txt', Buffer.from('no profile at all'));
  assert.equal(broken.status, 422);
  const { message, hint } = JSON.parse(broken.text).error;
  assert.equal(message, 'broken.txt is not a profile in a supported format.');
  assert.match(hint, /Supported formats/);
  const empty = await put('empty.json', Buffer.alloc(0));
  assert.equal(JSON.parse(empty.text).error.message, 'empty.json is empty.');
  const cut = await put('cut.sqlite.gz', readFileSync(capturePath('graph')).subarray(0, 500));
  assert.equal(cut.status, 422);
  assert.doesNotMatch(cut.text, /dropped|tmp/);
  assert.equal((await put('large', Buffer.alloc(10_000_001))).status, 413);
  assert.deepEqual(readdirSync(temporary), []);
  // In the middle of a drop.
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `PUT /api/profiles HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${keyOf(port).authorization}\r\nX-Stepscope: 1\r\nContent-Length: 99\r\n\r\nx`,
  );
  while (readdirSync(temporary).length === 0) await new Promise(resolve => setTimeout(resolve, 10));
  assert.equal((await end('SIGTERM')).status, 0);
  assert.deepEqual(readdirSync(temporary), []);
});

test('where others can reach it, the printed address has the key', async t => {
  const { line, end } = await view(t, '--host', '127.0.0.2');
  const url = /http:\/\/127\.0\.0\.2:\d+\/\?token=[\w-]{32}/.exec(line)?.[0] ?? '';
  assert.ok(url, line);
  const { port, search } = new URL(url);
  const at = (address: string) => ask(Number(port), address, { at: '127.0.0.2' });
  assert.equal((await at('/')).status, 401);
  const entered = await at(`/${search}`);
  assert.ok(entered.headers['set-cookie']);
  await end('SIGTERM');
});

test('what is wrong ends it in two lines, each with its status', () => {
  const broken = path.join(folder, 'broken.sqlite');
  writeFileSync(broken, 'SQLite format 3\0 and then nothing');
  const cases: [args: string[], status: number, message: RegExp][] = [
    [['nowhere.sqlite'], 3, /nowhere\.sqlite does not exist/],
    [[broken], 5, /SQLite header is missing/],
    [[capturePath('eager'), '--compare', 'nowhere.sqlite'], 3, /nowhere\.sqlite does not exist/],
    [['--compare', capturePath('eager')], 2, /nothing to compare with/],
    [['--port', '99999'], 2, /not a number for --port/],
    [['--port', 'http'], 2, /not a number for --port/],
    [['--max-drop=-1'], 2, /not a size/],
    [['--host', '192.0.2.1'], 2, /cannot listen at 192\.0\.2\.1/],
    [['--frobnicate'], 2, /frobnicate/],
  ];
  for (const [args, status, message] of cases) {
    const outcome = refused(...args);
    assert.equal(outcome.status, status, args.join(' '));
    assert.equal(outcome.lines.length, 2, outcome.lines.join('\n'));
    assert.match(outcome.lines[0], message);
    assert.equal(outcome.stdout, '');
  }
});

test('without the built page it says how to build it, before reading anything', () => {
  const bare = path.join(folder, 'bare');
  cpSync(path.join(projectRoot, 'dist/src'), path.join(bare, 'dist/src'), { recursive: true });
  cpSync(path.dirname(bin), path.join(bare, 'bin'), { recursive: true });
  cpSync(path.join(projectRoot, 'package.json'), path.join(bare, 'package.json'));
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path.join(bare, 'bin/stepscope'), ...args], { encoding: 'utf8' });
  const { status, stderr } = run('view', 'nowhere.sqlite');
  assert.equal(status, 3);
  assert.equal(stderr, 'stepscope: The page of stepscope view is not built.\nRun: npm run build\n');
  assert.equal(run('info', capturePath('graph')).status, 0, 'the other commands do without');
});

test('--help has the options and examples', () => {
  const { status, stdout } = spawnSync(process.execPath, [bin, 'view', '--help'], { encoding: 'utf8' });
  assert.equal(status, 0);
  for (const part of ['--compare FILE', '--port N', '--host ADDRESS', '--no-open', '--model', 'ssh -L'])
    assert.ok(stdout.includes(part), part);
});

test('the browser is opened as each system does it, without a shell', () => {
  const url = 'http://127.0.0.1:1/?a=b&c=$(d)';
  assert.deepEqual(browserCommand(url, 'darwin', {}), ['open', url]);
  assert.deepEqual(browserCommand(url, 'win32', {}), ['rundll32', 'url.dll,FileProtocolHandler', url]);
  assert.deepEqual(browserCommand(url, 'linux', { DISPLAY: ':0' }), ['xdg-open', url]);
  assert.deepEqual(browserCommand(url, 'linux', { WAYLAND_DISPLAY: 'wayland-0' }), ['xdg-open', url]);
  assert.equal(browserCommand(url, 'linux', { DISPLAY: '' }), undefined);
});

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
