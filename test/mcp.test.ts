/** The server for agents: causes in few calls and few bytes, the protocol, and hostile use. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { commands } from '../src/cli/registry.js';
import { AllowedFolders } from '../src/mcp/allowed-folders.js';
import { answerCall } from '../src/mcp/answer-call.js';
import { definitions, guideText } from '../src/mcp/definitions.js';
import { inputSchema } from '../src/mcp/tool.js';
import { tools } from '../src/mcp/tools.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-mcp-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const captures = path.dirname(path.dirname(capturePath('eager')));
/** Captures of engines are beside the project; where they are not, those in it must do. */
const beside = path.join(projectRoot, '../shared/captures');
const roots = [captures, ...(existsSync(beside) ? [beside] : [])];
const inProcess = { run: (args: readonly string[]) => runStepscope(args) };
const { signal } = new AbortController();

/** Where rows are followed too; the others differ in nothing that matters for it. */
const followed = new Set(['gc', 'membound', 'old23']);

/** What each capture was made to show (its README); of those without such a cause any verdict is one. */
const causes: Readonly<Record<string, RegExp>> = {
  client: /No GPU work was recorded: the client was profiled/,
  eager: /Decode is launch-bound: 1,016 kernel launches, no CUDA graphs/,
  'eager-decode': /Decode is launch-bound/,
  gc: /waits for Python garbage collection/,
  gil: /waits for the GIL/,
  graph: /./,
  graphmode: /recorded as blocks: kernels and idle time inside replays are hidden/,
  membound: /memory-bound: DRAM at 77% of peak/,
  'moe-learned': /launch-bound/,
  'moe-perfect': /launch-bound/,
  old23: /launch-bound/,
  'sglang-graphs': /./,
  'vllm-agent': /./,
  'vllm-blocks': /./,
  'vllm-eager': /launch-bound/,
  'vllm-graphs': /./,
  'vllm-moe': /./,
};

test('a fixed script of calls finds the cause of every capture in at most five calls and 20 kB', async () => {
  const folders = new AllowedFolders(roots);
  const there = new Set(roots.flatMap(root => readdirSync(root)));
  for (const [name, cause] of Object.entries(causes).filter(([own]) => there.has(own))) {
    const files = [`${name}/profile.sqlite.gz`];
    let bytes = 0;
    const call = async (tool: string, args: Record<string, unknown>) => {
      const text = await answerCall(tool, args, folders, inProcess, signal);
      bytes += Buffer.byteLength(text);
      return JSON.parse(text);
    };
    const { findings } = (await call('diagnose', { files })).data.analyses;
    assert.match(findings.summary.verdict, cause, name);
    const [first] = findings.rows;
    // Every claim has evidence, and rows of it are one call away.
    if (first) assert.ok(first.evidence.length > 0, name);
    const row = first?.evidence.find((piece: { rows?: string[] }) => piece.rows);
    if (row && followed.has(name)) {
      const rows = await call('analyze', { files, analyses: [row.analysis], limit: 5 });
      const keys = rows.data.analyses[row.analysis].rows.map(({ key }: { key: string }) => key);
      assert.ok(keys.length > 0, `${name}: ${row.analysis}`);
    }
    assert.ok(bytes <= 20_000, `${name}: ${bytes}`);
  }
});

test('the guide names tools and commands that exist, and the budgets it states', () => {
  const text = guideText();
  for (const [, name] of text.matchAll(/^\| [^|]*\| [^|]* \| `(\w+)` \|/gm))
    assert.ok(
      tools.some(tool => tool.name === name),
      name,
    );
  const known = new Set(Object.keys(commands).flatMap(name => [name, name.split(' ')[0]]));
  for (const [, name] of text.matchAll(/`stepscope (\w+) /g)) assert.ok(known.has(name), name);
  assert.match(text, /five calls and 20 kB \(5,000 tokens\)/);
  assert.match(
    readFileSync(path.join(projectRoot, 'skills/stepscope/SKILL.md'), 'utf8'),
    /^---\nname: stepscope\ndescription: .{50,}\n---\n/,
  );
  const uris = definitions().map(({ uri }) => uri);
  assert.deepEqual(uris, [...new Set(uris)]);
  for (const uri of ['guide', 'metrics/step-budget', 'metrics/gil', 'findings', 'sql/kernels'])
    assert.ok(uris.includes(`stepscope://${uri}`), uri);
});

test('only files below the folders, whatever links say', () => {
  const root = path.join(folder, 'root');
  mkdirSync(path.join(root, 'inner'), { recursive: true });
  mkdirSync(path.join(root, 'leaky'));
  writeFileSync(path.join(folder, 'secret.json'), '{}');
  writeFileSync(path.join(root, 'own.json'), '{}');
  symlinkSync(path.join(folder, 'secret.json'), path.join(root, 'link.json'));
  symlinkSync(folder, path.join(root, 'up'));
  symlinkSync(path.join(root, 'own.json'), path.join(root, 'inner/fine.json'));
  symlinkSync('/etc/passwd', path.join(root, 'leaky/rank0.json'));
  const folders = new AllowedFolders([root]);
  for (const wrong of [
    '../secret.json',
    '/etc/passwd',
    'link.json',
    'up/secret.json',
    'up',
    'inner/../../secret.json',
    path.join(folder, 'secret.json'),
    `${root}-other`,
    '',
    'own.json\0.gz',
    'leaky',
    '~/.ssh/id_rsa',
    'file:///etc/passwd',
  ])
    assert.throws(() => folders.resolve(wrong), { name: 'UserError' }, wrong);
  for (const right of [
    'own.json',
    'inner/fine.json',
    'inner',
    path.join(root, 'own.json'),
    './inner/../own.json',
  ])
    assert.ok(folders.resolve(right).startsWith(root), right);
});

/** The server itself, spoken to line by line. */
class Client {
  private readonly answers = new Map<unknown, (message: Record<string, never>) => void>();
  private id = 0;
  readonly child: ChildProcessWithoutNullStreams;

  constructor(...args: string[]) {
    this.child = spawn(process.execPath, [path.join(projectRoot, 'bin/stepscope'), 'mcp', ...args]);
    createInterface({ input: this.child.stdout }).on('line', line => {
      const message = JSON.parse(line);
      this.answers.get(message.id)?.(message);
    });
  }

  write(text: string): void {
    this.child.stdin.write(`${text}\n`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every form
  ask(method: string, params: unknown, id: number = ++this.id): Promise<any> {
    const answer = new Promise<Record<string, never>>(resolve => this.answers.set(id, resolve));
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer;
  }

  async call(name: string, args: unknown): Promise<{ isError: boolean; text: string }> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args });
    if (error) return { isError: true, text: error.message };
    return { isError: result.isError === true, text: result.content[0].text };
  }
}

test('the server answers, and lives through hostile use', async () => {
  const client = new Client(captures, '--memory', '1');
  const ended = new Promise<number | null>(resolve => client.child.on('close', resolve));
  const hello = await client.ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  assert.equal(hello.result.serverInfo.name, 'stepscope');
  client.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  const listed = await client.ask('tools/list', {});
  assert.deepEqual(
    listed.result.tools.map((tool: { name: string }) => tool.name),
    [...tools.map(({ name }) => name), 'more'],
  );
  assert.deepEqual(listed.result.tools[0].inputSchema, inputSchema(tools[0]));
  const files = ['graph/profile.sqlite.gz'];
  // Rows that were left out come with a cursor, and together they are all rows.
  const first = JSON.parse(
    (
      await client.call('analyze', {
        files,
        analyses: ['step-sequence'],
        fields: ['position'],
        maxBytes: 2000,
      })
    ).text,
  );
  assert.ok(Buffer.byteLength(JSON.stringify(first)) <= 2000);
  const [{ shown, of, cursor }] = first.truncated;
  assert.ok(shown > 0 && shown < of);
  const next = JSON.parse((await client.call('more', { cursor })).text).data.analyses['step-sequence'].rows;
  assert.equal(next[0].key, `position:${shown}`);
  // "Not recorded" is an answer of its own.
  const missing = JSON.parse((await client.call('analyze', { files, analyses: ['gil'] })).text).data.analyses
    .gil;
  assert.deepEqual([missing.status, missing.hint], ['not-recorded', 'capture with nsys -t python-gil']);
  const sum = JSON.parse(
    (await client.call('sql', { files, query: 'SELECT count(*) AS n FROM steps' })).text,
  );
  assert.deepEqual(sum.data.rows, [{ n: 9 }]);

  const refused: [string, unknown][] = [
    ['open', { files: ['/etc/passwd'] }],
    ['open', { files: ['../../../package.json'] }],
    ['open', { files: ['--help'] }],
    ['open', { files: 'graph' }],
    ['open', { files, whatever: 1 }],
    ['open', {}],
    ['nothing', {}],
    ['more', { cursor: 'WyJvcGVuIix7ImZpbGVzIjpbIi9ldGMvcGFzc3dkIl19XQ' }],
    ['more', { cursor: 'x'.repeat(50_000) }],
    ['sql', { files, query: "SELECT * FROM read_text('/etc/passwd')" }],
    ['sql', { files, query: "SELECT repeat('x', 500000) FROM range(1000000)" }],
  ];
  const answers = await Promise.all(refused.map(([name, args]) => client.call(name, args)));
  for (const [i, { isError, text }] of answers.entries()) {
    assert.ok(isError, `${JSON.stringify(refused[i])}: ${text.slice(0, 200)}`);
    assert.doesNotMatch(text, /root:|\n {4}at /, text);
  }
  // Not JSON-RPC, half of it, and a line longer than any message.
  for (const line of [
    '{',
    'null',
    '[]',
    '{"jsonrpc":"1.0","id":7}',
    '{"jsonrpc":"2.0","id":"x","method":5}',
    `{"jsonrpc":"2.0","method":"${'y'.repeat(200_000)}"}`,
  ])
    client.write(line);
  // A hundred at once: every one is answered.
  const many = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      client.call(i % 2 ? 'list_nothing' : 'open', { files: [`no-${i}`] }),
    ),
  );
  assert.equal(many.filter(({ isError }) => isError).length, 100);
  // A cancelled call ends at once; nothing waits for it.
  void client.ask(
    'tools/call',
    { name: 'sql', arguments: { files, query: 'SELECT count(*) FROM range(100000000000)' } },
    9000,
  );
  await new Promise(resolve => setTimeout(resolve, 300));
  client.write(
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9000 } }),
  );
  assert.equal(
    JSON.parse((await client.call('steps', { files, limit: 1 })).text).data.analyses.iterations.rows.length,
    1,
  );
  const read = await client.ask('resources/read', { uri: 'stepscope://metrics/step-budget' });
  assert.match(read.result.contents[0].text, /wallNs = computeNs/);
  assert.ok((await client.ask('resources/read', { uri: 'stepscope://../../package.json' })).error);
  client.child.stdin.end();
  assert.equal(await ended, 0);
});
