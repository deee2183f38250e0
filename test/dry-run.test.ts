/** A dry run, and whatever else only prints, touches nothing: no request, no program, no file. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { options } from '../src/cli/options.js';
import { optionsOf } from '../src/cli/read-call.js';
import { allCommands } from '../src/cli/registry.js';
import { capturePath } from '../src/testing/captures.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-dry-'));
const [bin, work, temporary] = ['bin', 'work', 'tmp'].map(name => path.join(root, name));
const started = path.join(root, 'started.log');
const had = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, NSYS: process.env.NSYS };
const from = process.cwd();
let requests: string[] = [];
let url = '';

const server = http.createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`);
  response.end('{"data":[{"id":"m","owned_by":"sglang"}]}');
});

/** Everything a capture could start: each writes down how it was called. */
const PROGRAMS =
  'nsys kubectl ssh scp docker curl python3 python vllm trtllm-serve trtllm-bench mpirun srun nvidia-smi';

before(async () => {
  for (const folder of [bin, work, temporary]) fs.mkdirSync(folder);
  for (const name of PROGRAMS.split(' '))
    fs.writeFileSync(path.join(bin, name), `#!/bin/sh\necho "${name} $*" | head -1 >> ${started}\nexit 1\n`, {
      mode: 0o755,
    });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env.PATH = `${bin}:/usr/bin:/bin`;
  process.env.TMPDIR = temporary;
  process.env.NSYS = '';
  process.chdir(work);
});
after(() => {
  process.chdir(from);
  for (const [name, value] of Object.entries(had))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  server.close();
  server.closeAllConnections();
  fs.rmSync(root, { recursive: true });
});

const filesIn = (folder: string) => fs.readdirSync(folder, { recursive: true }).map(String).sort();

/** What was done outside, by kind. Programs may be asked for their version: the plan depends on it. */
async function touched(args: readonly string[]) {
  requests = [];
  fs.rmSync(started, { force: true });
  const seen = filesIn(temporary);
  const { status, out, err } = await runStepscope(args);
  const calls = fs.existsSync(started) ? fs.readFileSync(started, 'utf8').trimEnd().split('\n') : [];
  const result = {
    requests,
    programs: calls.filter(call => !/^nsys --version$|^python3? -c\b/.test(call)),
    files: [...filesIn(work), ...filesIn(temporary).filter(file => !seen.includes(file))],
  };
  for (const file of fs.readdirSync(work)) fs.rmSync(path.join(work, file), { recursive: true });
  return { status, out, err, result };
}

/** By command; `URL` stands for the server that counts. */
const dryCalls: Readonly<Record<string, readonly string[]>> = {
  capture: [
    '--dry-run -- trtllm-serve M',
    '--dry-run --iterations 0-9 --server URL -- vllm serve M',
    '--dry-run --server URL --levels single,concurrent:2 -- python3 serve.py',
    '--dry-run --attach --server URL',
    '--dry-run --attach --pod llama-0',
    '--dry-run --attach --selector app=llm -n serving',
    '--dry-run --restart --pod llama-0',
    '--dry-run --pod llama-0 --store out -- trtllm-serve M',
    '--dry-run --attach --server URL --iterations 20-29 --torch-trace traces --levels single',
    '--dry-run --attach --server URL --preset vllm --iterations 20-29',
    '--dry-run --agent --calibrate --iterations 5-24 --server URL -- python3 serve.py',
    '--dry-run --pod llama-0 -n serving --iterations 20-60 -- trtllm-bench throughput',
    '--dry-run --ssh gpu1 --iterations 20-60 -- mpirun -n 2 trtllm-bench throughput',
    '--dry-run --pod llama-0 --fetch /tmp/run-1',
    '--dry-run --script plan.sh --iterations 20-60 -- trtllm-serve M',
    '--dry-run -- A=1 nsys profile -o x -e B=2 trtllm-serve M',
    '--dry-run --keep-server --server URL -- vllm serve M',
  ],
  'moe experiment': [
    '--dry-run -- trtllm-serve M',
    '--dry-run --run --repeats 2 --record 100-120 -o pair -- trtllm-bench --model M throughput',
  ],
  ncu: ['CAPTURE gemm --dry-run -- python3 generate.py'],
};

test('every command with --dry-run is held to it', async () => {
  const dry = (await allCommands()).filter(command =>
    optionsOf(command).some(name => options[name].flag === 'dry-run'),
  );
  assert.deepEqual(dry.map(({ name }) => name).sort(), Object.keys(dryCalls).sort());
});

for (const [name, calls] of Object.entries(dryCalls))
  for (const call of calls)
    test(`${name} ${call}: touches nothing`, async () => {
      const words = call
        .replaceAll('URL', url)
        .split(' ')
        .map(word => (word === 'CAPTURE' ? capturePath('graph') : word));
      const { status, out, err, result } = await touched([...name.split(' '), ...words]);
      assert.deepEqual(result, { requests: [], programs: [], files: [] });
      assert.equal(status, 0, err);
      assert.ok(out.length > 40, out);
    });

test('what prints its plan as JSON touches nothing, and --script writes the script alone', async () => {
  for (const call of ['--attach --server URL', '--server URL -- vllm serve M', '--pod p -- trtllm-serve M']) {
    const words = call.replaceAll('URL', url).split(' ');
    const { out, result } = await touched(['capture', '--json', ...words]);
    assert.deepEqual(result, { requests: [], programs: [], files: [] }, call);
    assert.equal((answerIn(out) as { schema: string }).schema, 'stepscope-capture-plan/1');
  }
  const script = await touched([
    'capture',
    '--script',
    'plan.sh',
    '--server',
    url,
    '--',
    'vllm',
    'serve',
    'M',
  ]);
  assert.deepEqual(script.result, { requests: [], programs: [], files: ['plan.sh'] });
});

test('--explain only judges', async () => {
  const { status, result } = await touched(['capture', '--explain', 'nsys profile -o x trtllm-serve M']);
  assert.deepEqual([status, result], [0, { requests: [], programs: [], files: [] }]);
});

test('the same call without --dry-run reaches the server: the counter counts', async () => {
  const { result } = await touched(['capture', '--attach', '--server', url, '--requests', '1']);
  assert.deepEqual(
    result.requests.filter(line => line.startsWith('POST')),
    ['POST /start_profile', 'POST /v1/completions', 'POST /stop_profile'],
  );
});
