/** A copy fit to share: nothing planted is left in its bytes, it is sound, and every analysis says the same of it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { REPORT_MAGIC } from '../src/import/nsys-rep/report-version.js';
import { Identities } from '../src/redact/identities.js';
import { isKnownField } from '../src/redact/known-document-words.js';
import { redactProfile } from '../src/redact/redact.js';
import { Removals } from '../src/redact/removals.js';
import { TraceRewriter } from '../src/redact/rewrite-trace.js';
import { scrubText } from '../src/redact/scrub-text.js';
import { TraceRules } from '../src/redact/trace-rules.js';
import { capturePath, externalFiles, projectRoot, unlikeCaptures } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import {
  exportSecrets,
  plantedExport,
  plantedTrace,
  traceEvents,
  traceMetadata,
  traceSecrets,
} from './redact-secrets.js';
import { answerIn, runStepscope } from './run-stepscope.js';
import { fillExport, makeDatabase, openDatabase } from './small-exports.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'redact-test-'));
// Packed files are unpacked in a place of our own: other tests look whether theirs is clean.
process.env.TMPDIR = scratch;
after(() => {
  const left = fs.readdirSync(scratch).filter(name => name.startsWith('stepscope-'));
  fs.rmSync(scratch, { recursive: true, force: true });
  assert.deepEqual(left, []);
});

const stepscope = (...args: string[]) => runStepscope(args, 100);

const place = (name: string) => path.join(scratch, name);

function put(name: string, content: string | Uint8Array): string {
  fs.mkdirSync(path.dirname(place(name)), { recursive: true });
  fs.writeFileSync(place(name), content);
  return place(name);
}

/** Redacts into a folder of its own, under the same name, so that results can be compared to the letter. */
async function redacted(file: string, ...options: string[]): Promise<{ file: string; list: string }> {
  const folder = fs.mkdtempSync(path.join(scratch, 'copy-'));
  const copy = path.join(folder, path.basename(file));
  const { status, out, err } = await stepscope('redact', file, '-o', copy, '--json', ...options);
  assert.equal(status, 0, err);
  assert.deepEqual(fs.readdirSync(folder), [path.basename(file)], 'nothing else is left beside the copy');
  return { file: copy, list: out };
}

const content = (file: string): Buffer => {
  const bytes = fs.readFileSync(file);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
};

async function analysis(file: string, ...options: string[]): Promise<string> {
  const { status, out, err } = await stepscope('analyze', file, '--json', ...options);
  assert.equal(status, 0, err);
  // The content of a copy is another one.
  return JSON.stringify({ ...JSON.parse(out), inputs: [] });
}

async function checkSound(bytes: Uint8Array): Promise<void> {
  const database = await openDatabase(bytes);
  assert.deepEqual(database.exec('PRAGMA integrity_check')[0].values, [['ok']]);
  assert.deepEqual(database.exec('PRAGMA freelist_count')[0].values, [[0]]);
  database.close();
}

function assertGone(bytes: Buffer, secrets: readonly string[], where: string): void {
  for (const secret of secrets) assert.equal(bytes.indexOf(secret), -1, `${secret} is left in ${where}`);
}

for (const pageSize of [512, 4096, 65536]) {
  test(`an export with secrets everywhere, in pages of ${pageSize}`, async () => {
    const bytes = await plantedExport(pageSize);
    const before = Buffer.from(bytes);
    for (const secret of exportSecrets) assert.ok(before.indexOf(secret) >= 0, `${secret} was planted`);
    const plain = put('planted.sqlite', bytes);
    const packed = put('planted.sqlite.gz', gzipSync(bytes));
    for (const file of [plain, packed]) {
      const copy = await redacted(file);
      const result = content(copy.file);
      assertGone(result, exportSecrets, copy.file);
      assertGone(Buffer.from(copy.list), exportSecrets, 'the list');
      await checkSound(result);
      assert.equal(fs.readFileSync(copy.file)[0] === 0x1f, file === packed, 'packed when its name says so');
      assert.deepEqual(await rowCounts(result), await rowCounts(bytes));
    }
  });
}

async function rowCounts(bytes: Uint8Array): Promise<Record<string, number>> {
  const database = await openDatabase(bytes);
  const names = database
    .exec("SELECT name FROM sqlite_master WHERE type = 'table'")[0]
    .values.map(([name]) => name);
  const counts = Object.fromEntries(
    names.map(name => [name, Number(database.exec(`SELECT count(*) FROM "${name}"`)[0].values[0][0])]),
  );
  database.close();
  return counts;
}

test('what stays in an export', async () => {
  const file = put('stays.sqlite', await plantedExport(1024));
  const copy = await redacted(file);
  const database = await openDatabase(content(copy.file));
  const value = (sql: string) => database.exec(sql)[0]?.values.map(row => row[0]);
  const pooled = (id: number) => value(`SELECT value FROM StringIds WHERE id = ${id}`);
  assert.deepEqual(pooled(1000), ['TLLM_PROFILE_START_STOP=100-150\0']);
  assert.deepEqual(pooled(1002), ['']);
  assert.deepEqual(pooled(1005), ['lib.so']);
  assert.deepEqual(pooled(1006), ['python3']);
  assert.deepEqual(pooled(1007), ['load weights.bin on host']);
  assert.deepEqual(pooled(1008), ['main_function(int)']);
  assert.deepEqual(value('SELECT name FROM PROCESSES'), ['python3', '']);
  assert.deepEqual(value("SELECT value FROM META_DATA_CAPTURE WHERE name LIKE '%MODE'"), ['Node']);
  assert.deepEqual(value("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name LIKE '%Version'"), [
    '580.105.08',
  ]);
  assert.deepEqual(value('SELECT text FROM DIAGNOSTIC_EVENT'), [
    'see … on … for …',
    'no … from … … or …',
    '… … or …',
    'events were dropped, see /proc/sys/kernel/perf_event_paranoid',
  ]);
  const original = await openDatabase(fs.readFileSync(file));
  const kernels =
    'SELECT k.*, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = demangledName';
  assert.deepEqual(database.exec(kernels), original.exec(kernels));
  assert.deepEqual(value('SELECT count(*) FROM OSRT_CALLCHAINS WHERE id = 77 AND stackDepth = 3'), [1]);
  assert.deepEqual(
    value("SELECT count(*) FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"),
    [0],
  );
  const kinds = new Set((answerIn(copy.list) as { removed: { kind: string }[] }).removed.map(r => r.kind));
  for (const kind of ['environment', 'command-line', 'output', 'host', 'user', 'path', 'machine', 'binary'])
    assert.ok(kinds.has(kind), kind);
  original.close();
  database.close();
});

test('a database with a map of its pages, and one that asks for unique texts', async () => {
  const mapped = await makeDatabase(1024, database => {
    database.run('PRAGMA auto_vacuum = 1');
    database.run('VACUUM');
    fillExport(database);
  });
  await checkSound(content((await redacted(put('mapped.sqlite', mapped))).file));
  const unique = await plantedExport(4096, database =>
    database.run('CREATE TABLE NV_UNIQUE (t TEXT UNIQUE)'),
  );
  await checkSound(content((await redacted(put('unique-empty.sqlite', unique))).file));
  const filled = await plantedExport(4096, database =>
    database.run("CREATE TABLE NV_UNIQUE (t TEXT UNIQUE); INSERT INTO NV_UNIQUE VALUES ('a')"),
  );
  await refuses(put('unique.sqlite', filled), /unique/);
});

test('every capture of ours gives the same results', async () => {
  for (const [i, name] of unlikeCaptures.entries()) {
    const both = ['profile.sqlite.gz', 'kineto.json.gz'].filter(kind =>
      fs.existsSync(capturePath(name, kind)),
    );
    // Of two records of one run, one each in turn.
    for (const kind of both.length > 1 ? [both[i % 2]] : both) {
      const file = capturePath(name, kind);
      const copy = await redacted(file);
      if (kind.includes('sqlite')) await checkSound(content(copy.file));
      assert.equal(await analysis(copy.file), await analysis(file), `${name}/${kind}`);
    }
  }
});

test("other people's profiles give the same results, hashed or not", {
  skip: lacks('external'),
}, async () => {
  // Of ranks that differ in little one is enough.
  const files = externalFiles(/\.(sqlite|json)\.gz$/).filter(
    file => !/TP-[1-7]|rank[1-7]\.pt|expert-load/.test(file) && fs.statSync(file).size < LARGE,
  );
  assert.ok(files.length > 20, String(files.length));
  // Every second, hashed or not in turn.
  const looked = files.filter((_, i) => i % 2 === 0 || process.env.STEPSCOPE_EVERY_CAPTURE);
  for (const [i, file] of looked.entries()) {
    const isHashed = i % 2 === 1;
    const copy = await redacted(file, ...(isHashed ? ['--hash-ranges'] : []));
    const read = async (name: string) =>
      withoutQuotes(isHashed ? withoutCode(await analysis(name)) : await analysis(name));
    assert.equal(await read(copy.file), await read(file), file);
  }
});

/** Bytes: larger ones have the same forms, more often. */
const LARGE = 3e6;

/** Notes quote a diagnostic, whose paths are gone in the copy. */
const withoutQuotes = (json: string): string =>
  JSON.stringify(JSON.parse(json, (key, value: unknown) => (key === 'example' ? '' : value)));

/** Host code is named by ranges too, which a hashed copy calls otherwise. */
const withoutCode = (json: string): string =>
  JSON.stringify(
    JSON.parse(json, (key, value: unknown) => {
      if (['host-code', 'code', 'advice'].includes(key)) return undefined;
      const isCode = (item: { readonly analysis?: string }) => item.analysis === 'host-code';
      return key === 'evidence' && Array.isArray(value) ? value.filter(item => !isCode(item)) : value;
    }),
  );

/** What a benchmark says in numbers, without names and notes. */
const figures = (json: string): string =>
  JSON.stringify(
    JSON.parse(json, (key, value: unknown) =>
      typeof value === 'string' || ['inputs', 'notes', 'dataset', 'label', 'model', 'tool'].includes(key)
        ? undefined
        : value,
    ),
  );

test('benchmark results and logs keep their figures and lose everything else', async () => {
  const folder = path.join(projectRoot, 'test/fixtures/bench');
  for (const name of fs.readdirSync(folder).filter(entry => entry !== 'README.md')) {
    const copy = await redacted(path.join(folder, name));
    const [before, after] = await Promise.all(
      [path.join(folder, name), copy.file].map(file => stepscope('bench', file, '--json')),
    );
    assert.equal(after.status, before.status, `${name}: ${after.err}`);
    if (before.status === 0) assert.equal(figures(after.out), figures(before.out), name);
    assertGone(content(copy.file), ['Qwen', 'Llama', 'synthetic_1024', 'snapshots', '8B'], name);
  }
});

test('every field that an importer of benchmarks reads is kept', () => {
  const folder = path.join(projectRoot, 'src/import/bench');
  const fields = fs.readdirSync(folder).flatMap(name => {
    const source = fs.readFileSync(path.join(folder, name), 'utf8');
    const reads = source.matchAll(/\b(?:at|numberAt|listAt|has|count)\(\s*\w+((?:,\s*'[^']+')+)/g);
    return [...reads].flatMap(([, list]) => [...list.matchAll(/'([^']+)'/g)].map(([, field]) => field));
  });
  assert.ok(fields.length > 80, `${fields.length} found`);
  assert.deepEqual(
    [...new Set(fields)].filter(field => !isKnownField(field)),
    [],
  );
});

test('of benchmark files in Python JSON, and of logs, the model can still be compared', async () => {
  const model = '/data/hub/models--Secret--Model-7B';
  const serving = {
    backend: 'sglang',
    dataset_name: 'sharegpt',
    request_rate: 'RATE',
    duration: 2.5,
    completed: 3,
    total_input_tokens: 30,
    total_output_tokens: 60,
    request_throughput: 1.2,
    output_throughput: 24,
    mean_ttft_ms: 5,
    server_info: { model_path: model, version: '0.0.0.dev11532+gd5a3eeb2e' },
  };
  const text = JSON.stringify(serving).replace('"RATE"', 'Infinity');
  const copy = await redacted(put('rates.jsonl', `${text}\n${text}\n`));
  const ran = await stepscope('bench', copy.file, '--json');
  assert.equal(ran.status, 0, ran.err);
  const [run] = answerIn(ran.out).runs;
  assert.match(run.model, /^model-[0-9a-f]{8}$/);
  assert.deepEqual(
    [run.load.requestRate, run.load.dataset, run.frameworkVersion],
    ['unlimited', 'sharegpt', '0.0.0.dev11532+removed'],
  );
  const log = fs
    .readFileSync(path.join(projectRoot, 'test/fixtures/bench/trtllm-1.2-streaming.log'), 'utf8')
    .replace(/^(.*\bModel:\s+).*$/gm, `$1${model}`);
  const logged = await stepscope('bench', (await redacted(put('model.log', log))).file, '--json');
  assert.equal(answerIn(logged.out).runs[0].model, run.model);
});

test('a planted word is gone from benchmark files, recipes, baselines and files of the agent', async () => {
  const word = 'Qxplantedzv';
  const log = fs.readFileSync(path.join(projectRoot, 'test/fixtures/bench/trtllm-1.2-streaming.log'), 'utf8');
  const sidecar = JSON.parse(
    gunzipSync(fs.readFileSync(path.join(projectRoot, 'test/fixtures/agent/sidecar.json.gz'))).toString(),
  ) as object;
  const serving = JSON.parse(
    fs.readFileSync(path.join(projectRoot, 'test/fixtures/bench/vllm-serve.json'), 'utf8'),
  ) as object;
  const planted = {
    [word]: word,
    more: { [word]: [word] },
    versions: { torch: word, [word]: '1' },
    date: word,
  };
  for (const [name, text] of [
    ['run.log', log.replaceAll('\n', ` ${word} --token=${word} /srv/${word}/x\n`)],
    ['agent.json', JSON.stringify({ ...sidecar, ...planted, nvtx: word, torchTraces: [word] })],
    ['serve.json', JSON.stringify({ ...serving, ...planted, backend: word, model_id: word })],
    [
      'run.recipe.json',
      JSON.stringify({ schema: 'stepscope-recipe/1', command: [word], environment: planted }),
    ],
    ['stepscope-baselines.json', JSON.stringify({ schema: 'stepscope-baselines/1', baselines: [planted] })],
  ] as const) {
    const copy = await redacted(put(`planted-${name}`, text));
    assertGone(content(copy.file), [word], name);
  }
});

test('whether a file is safe to share', async () => {
  const file = put('check.json', plantedTrace());
  const before = await stepscope('redact', '--check', file);
  assert.equal(before.status, 1);
  assert.match(before.out, /is not safe to share/);
  const copy = await redacted(file);
  const after = await stepscope('redact', '--check', copy.file);
  assert.deepEqual([after.status, after.err], [0, '']);
  assert.match(after.out, /is safe to share/);
});

test('a trace with secrets everywhere', async () => {
  for (const [name, text] of [
    ['planted.json', plantedTrace()],
    ['dense.json', plantedTrace(0)],
    ['array.json', JSON.stringify(traceEvents)],
  ] as const) {
    const packed = put(`${name}.gz`, gzipSync(text));
    for (const file of [put(name, text), packed]) {
      const copy = await redacted(file);
      assertGone(content(copy.file), traceSecrets, copy.file);
      assertGone(Buffer.from(copy.list), traceSecrets, 'the list');
      assert.equal(fs.readFileSync(copy.file)[0] === 0x1f, file === packed, 'packed when its name says so');
      assert.equal(await analysis(copy.file), await analysis(file));
    }
  }
});

test('what stays in a trace', async () => {
  const copy = await redacted(put('stays.json', plantedTrace()));
  const text = content(copy.file).toString();
  assert.match(text, /"baseTimeNanoseconds": 1790857026000000001/);
  const trace = JSON.parse(text) as Record<string, unknown> & { traceEvents: typeof traceEvents };
  const names = trace.traceEvents.map(event => event.name);
  assert.deepEqual(names, [
    'process_name',
    'thread_name',
    'net.py(12): forward',
    'net.py(3): run',
    'sglang/srt/scheduler.py(9): run_batch',
    'step[DECODE bs=8]',
    'load weights.bin',
    'my stage',
    'model.layers.3.self_attn',
    'aten::mm',
    'cudaLaunchKernel',
    'void gemm<int, (anonymous namespace)::F>(float*)',
    'café 日本 "quoted" \\ back',
  ]);
  const args = trace.traceEvents[9].args as Record<string, unknown>;
  const known = Object.fromEntries(Object.entries(args).filter(([key]) => !key.startsWith('key-')));
  assert.deepEqual(known, {
    'External id': 5,
    'Call stack': 'net.py(12): forward;main.py(3): <module>;torch/module.py(9): __call__',
    'Concrete Inputs': ['', 'removed', '3'],
  });
  const others = Object.entries(args).filter(([key]) => key.startsWith('key-'));
  assert.deepEqual(
    others.map(([, value]) => value),
    ['removed', { [Object.keys(others[1][1] as object)[0]]: 'removed' }, 'removed', '128', 'removed'],
  );
  for (const unchanged of [5, 7, 8, 10, 11, 12])
    assert.deepEqual(trace.traceEvents[unchanged], traceEvents[unchanged]);
  assert.deepEqual(trace.deviceProperties, traceMetadata.deviceProperties);
  const { master: _, ...ranks } = traceMetadata.distributedInfo;
  const copied = trace.distributedInfo as Record<string, unknown>;
  for (const [key, value] of Object.entries(ranks)) assert.equal(copied[key], value);
  assert.equal(Object.keys(copied).length, Object.keys(ranks).length + 1);
  assert.ok(Object.values(trace).includes(12), 'a number under an unknown key');
  assert.match(String(trace.host_name), /^host-[0-9a-f]{8}$/);
  for (const key of ['username', 'job', 'environ', 'PASSWORD', 'command', 'traceName', 'INFO'])
    assert.ok(!(key in trace), key);
});

test('a trace may come in any pieces', () => {
  const bytes = new TextEncoder().encode(`${plantedTrace()}\n`);
  const through = (piece: number) => {
    const identities = new Identities();
    identities.addUser('alicia_q');
    identities.addHost('node-q17.planted.example');
    const parts: Uint8Array[] = [];
    const rules = new TraceRules(identities, new Removals(), true);
    const rewriter = new TraceRewriter(rules, part => parts.push(part.slice()));
    for (let at = 0; at < bytes.length; at += piece) rewriter.append(bytes.subarray(at, at + piece));
    rewriter.finish();
    return Buffer.concat(parts).toString();
  };
  const whole = through(bytes.length);
  assertGone(Buffer.from(whole), traceSecrets, 'the whole');
  for (const piece of [1, 2, 7, 100, 1000]) assert.equal(through(piece), whole, `pieces of ${piece}`);
});

const hashOf = (name: string) => `range-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;

test('hashed ranges: the same every time and everywhere, but for names that analyses understand', async () => {
  const file = put('ranges.sqlite', await plantedExport(4096));
  const copy = await redacted(file, '--hash-ranges');
  assert.deepEqual(fs.readFileSync((await redacted(file, '--hash-ranges')).file), fs.readFileSync(copy.file));
  const database = await openDatabase(content(copy.file));
  const texts = database.exec('SELECT text FROM NVTX_EVENTS ORDER BY rowid DESC LIMIT 4')[0].values.flat();
  assert.deepEqual(texts, [
    hashOf('my stage'),
    'layers.3.self_attn',
    '[Executor] _forward_step 3: 0 ctx reqs, 8 gen reqs',
    hashOf('open /home/alicia_q/private/model/x.bin'),
  ]);
  database.close();
  await checkSound(content(copy.file));
  assertGone(content(copy.file), exportSecrets, 'the hashed copy');

  const trace = await redacted(put('ranges.json', plantedTrace()), '--hash-ranges');
  const names = (
    JSON.parse(content(trace.file).toString()) as { traceEvents: typeof traceEvents }
  ).traceEvents.map(event => event.name);
  assert.deepEqual(names.slice(5, 9), [
    'step[DECODE bs=8]',
    hashOf('load /home/alicia_q/private/model/weights.bin'),
    hashOf('my stage'),
    'layers.3.self_attn',
  ]);
  for (const name of ['gc', 'gil', 'eager', 'two-processes']) {
    const capture = capturePath(name);
    assert.equal(
      withoutCode(await analysis((await redacted(capture, '--hash-ranges')).file)),
      withoutCode(await analysis(capture)),
      name,
    );
  }
});

test('a copy of a copy is the same, and nothing more is removed', async () => {
  for (const file of [
    put('again.sqlite', await plantedExport(1024)),
    put('again.json', plantedTrace()),
    capturePath('eager'),
    capturePath('eager', 'kineto.json.gz'),
  ]) {
    for (const options of [[], ['--hash-ranges']]) {
      const once = await redacted(file, ...options);
      const twice = await redacted(once.file, ...options);
      assert.ok(content(twice.file).equals(content(once.file)), file);
      assert.deepEqual((answerIn(twice.list) as { removed: unknown[] }).removed, [], file);
    }
  }
});

test('a report made with --redact holds nothing planted', async () => {
  const file = put('to-report/planted.sqlite', await plantedExport(1024));
  const page = place('planted.html');
  const { status, err } = await stepscope('report', file, '--redact', '-o', page);
  assert.equal(status, 0, err);
  assertGone(fs.readFileSync(page), exportSecrets, 'the report');
});

/** Two lines, no copy, nothing half-written. */
async function refuses(file: string, pattern: RegExp, target = 'refused/out.sqlite', ...options: string[]) {
  const out = place(target);
  fs.mkdirSync(path.dirname(out), { recursive: true });
  const before = fs.readdirSync(path.dirname(out));
  const { status, err } = await stepscope('redact', file, '-o', out, ...options);
  assert.ok(status > 0, file);
  assert.match(err, pattern);
  assert.match(err, /^stepscope: [^\n]+\n[^\n]+\n$/);
  assert.deepEqual(fs.readdirSync(path.dirname(out)), before);
}

test('mistakes and damage are told in two lines and leave nothing behind', async () => {
  const bytes = await plantedExport(1024);
  const file = put('errors/in.sqlite', bytes);
  const trace = put('errors/in.json', plantedTrace());
  assert.match((await stepscope('redact', file)).err, /^stepscope: No output file[^\n]*\n[^\n]+\n$/);
  assert.match((await stepscope('redact')).err, /No profile was given/);
  assert.match((await stepscope('redact', file, file, '-o', place('x'))).err, /one profile at a time/);
  await refuses(file, /is the input profile/, 'errors/in.sqlite', '--force');
  fs.symlinkSync(file, place('errors/link.sqlite'));
  await refuses(file, /is the input profile/, 'errors/link.sqlite', '--force');
  put('errors/there.sqlite', 'precious');
  await refuses(file, /already exists/, 'errors/there.sqlite');
  assert.equal(fs.readFileSync(place('errors/there.sqlite'), 'utf8'), 'precious');
  assert.equal((await stepscope('redact', file, '-o', place('errors/there.sqlite'), '--force')).status, 0);
  await refuses(place('errors/none.sqlite'), /does not exist/);
  await refuses(put('errors/text.txt', 'just text'), /is not a profile/);
  await refuses(
    put('errors/other.sqlite', await makeDatabase(1024, db => db.run('CREATE TABLE a (b)'))),
    /not an Nsight Systems export/,
  );
  assert.match(
    (await stepscope('redact', file, '-o', place('no/such/folder/out.sqlite'))).err,
    /cannot be written[^\n]*\n[^\n]+\n$/,
  );
  fs.mkdirSync(place('errors/folder'), { recursive: true });
  await refuses(file, /is not a file/, 'errors/folder');

  for (const cut of [150, 1024, 5000, bytes.length >> 1, bytes.length - 1024])
    await refuses(put('errors/cut.sqlite', bytes.subarray(0, cut)), /damaged|truncated|readable/);
  // A page that claims fewer rows than it holds would hide them, and keep their bytes.
  const sound = await makeDatabase(1024, database => fillExport(database));
  for (let page = 2; page < sound.length / 1024; page += 7) {
    const at = page * 1024;
    const cells = (sound[at + 3] << 8) | sound[at + 4];
    if (sound[at] !== 13 || cells < 3) continue;
    const fewer = sound.slice();
    fewer[at + 3] = (cells - 1) >> 8;
    fewer[at + 4] = (cells - 1) & 255;
    await refuses(put('errors/fewer.sqlite', fewer), /damaged/);
  }
  const text = plantedTrace();
  for (const cut of [60, 400, text.length >> 1, text.length - 2])
    await refuses(put('errors/cut.json', text.slice(0, cut)), /damaged|truncated/, 'refused/out.json');
  await refuses(
    put('errors/odd.json', '{"schemaVersion": 1, "traceEvents": [{"ph": "X"}, oops]}'),
    /damaged/,
    'refused/out.json.gz',
  );
  await refuses(put('errors/none.json', '{"schemaVersion": 1}'), /without a list/, 'refused/out.json');
  for (const [name, whole] of [
    ['cut.sqlite.gz', bytes],
    ['cut.json.gz', new TextEncoder().encode(text)],
  ] as const) {
    const packed = gzipSync(whole);
    for (const cut of [packed.length >> 1, packed.length - 4])
      await refuses(put(`errors/${name}`, packed.subarray(0, cut)), /damaged|truncated/, `refused/${name}`);
  }
  assert.ok(fs.existsSync(trace));
});

test('a report is not redacted but exported first', async () => {
  await refuses(put('errors/x.nsys-rep', `${REPORT_MAGIC}2025@3@1@90-1v0.\n`), /is a report/);
});

test('bytes changed at random: a copy, or two lines', async () => {
  const base = await plantedExport(512);
  let state = 20260102;
  const random = (below: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  let copied = 0;
  for (let round = 0; round < 60; round++) {
    const bytes = base.slice();
    for (let n = 1 + random(4); n > 0; n--) {
      const page = random(base.length / 512) * 512;
      bytes[[random(base.length), page + random(12), page + random(60)][random(3)]] = random(256);
    }
    const file = put('fuzz.sqlite', bytes);
    const out = place('fuzz-copy.sqlite');
    const { status, err } = await stepscope('redact', file, '-o', out, '--force');
    assert.deepEqual(
      fs.readdirSync(scratch).filter(name => name.endsWith('.part')),
      [],
    );
    if (status === 0) copied++;
    else assert.match(err, /^stepscope: [^\n]+\n[^\n]+\n$/);
  }
  assert.ok(copied > 4, `${copied} were copied`);
});

test('a trace with bytes changed at random: a copy, or two lines', async () => {
  const base = new TextEncoder().encode(plantedTrace());
  let state = 20260103;
  const random = (below: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const telling = new TextEncoder().encode('"\\\\{}[],:/ \\0');
  let copied = 0;
  for (let round = 0; round < 100; round++) {
    const bytes = base.slice();
    for (let n = 1 + random(4); n > 0; n--)
      bytes[random(base.length)] = random(2) === 0 ? random(256) : telling[random(telling.length)];
    const { status, err } = await stepscope(
      'redact',
      put('fuzz.json', bytes),
      '-o',
      place('fuzz-copy.json'),
      '--force',
    );
    if (status === 0) copied++;
    else assert.match(err, /^stepscope: [^\n]+\n[^\n]+\n$/);
  }
  assert.ok(copied > 10, `${copied} were copied`);
});

test('long texts take no longer than their length asks for', () => {
  const identities = new Identities();
  identities.addUser('alicia_q');
  for (const piece of [
    'a',
    '/',
    'a/',
    '.',
    'a.',
    '1.',
    ':',
    'a@',
    'a=',
    '--a ',
    '\\\\',
    'x(1): ',
    'eyJ',
    '~',
    ' ',
    '-',
  ])
    for (const tail of ['', '/x', '@x', '"']) {
      const text = piece.repeat(300_000 / piece.length) + tail;
      const begin = performance.now();
      scrubText(text, identities, () => undefined);
      const took = performance.now() - begin;
      assert.ok(took < 1000, `${piece} … ${tail} took ${took} ms`);
    }
});

test('texts: what goes and what stays', () => {
  const identities = new Identities();
  identities.addVariable('HOME', '/home/alicia_q');
  identities.addHost('node-q17.planted.example');
  const scrub = (text: string) => scrubText(text, identities, () => undefined);
  for (const [text, expected] of [
    ['/home/alicia_q/x/model.py(12): forward', 'model.py(12): forward'],
    ['/home/alicia_q/my project/model.py(12): forward', 'model.py(12): forward'],
    ['open(/data/set/a.bin, r)', 'open(a.bin, r)'],
    ['PATH is /usr/bin:/opt/tool/bin', 'PATH is bin:bin'],
    ['-I/opt/secret/include -L/opt/x/lib', '-Iinclude -Llib'],
    ['torch/nn/modules/module.py(1776): _call_impl', 'torch/module.py(1776): _call_impl'],
    ['acme/project/net.py(1): f', 'net.py(1): f'],
    ['~/secret/x', 'x'],
    ['../secret/x.json', 'x.json'],
    ['C:\\Users\\bob\\x.txt', 'x.txt'],
    ['\\\\server\\share\\x.txt', 'x.txt'],
    ['at node-q17, node-q17.planted.example', 'at host, host'],
    ['cache_alicia_q_1', 'cache_user_1'],
    ['http://10.0.0.1:80/x?token=abc', 'http://removed'],
    ['API_KEY=abc123def', 'API_KEY=removed'],
    ['run --auth-token abcdef', 'run --auth-token removed'],
    ['key sk-abcdefghijklmnopqrstuvwx', 'key removed'],
    ['ip-10-1-2-3 up', 'address up'],
    ['::1 and 2001:db8::7', 'address and address'],
    ['00:1A:2b:3c:4d:5e', 'address'],
  ])
    assert.equal(scrub(text), expected, text);
  for (const text of [
    'kworker/0:1H-kblockd',
    'IPC I/O Child',
    'Torch-Compiled Region: 0/0',
    'step[DECODE bs=8 toks=8]',
    'execute_context_0(0)_generation_8(8)',
    'max_tokens=128',
    'void at::native::f<int>(a::b const&)',
    'abc::(anonymous namespace)::f()',
    'pthread_cond_wait@@GLIBC_2.3.2',
    'libcudnn.so.9.1.0.70',
    'nsys 2025.3.1.90',
    '0000:00:06.0',
    '10:52:41',
    'a / b / c',
    'operator/(int, int)',
    '</b>',
    'GB/s /s',
    '/proc/sys/kernel/perf_event_paranoid',
    'torch/module.py(1776): _call_impl',
  ])
    assert.equal(scrub(text), text);
});

test('no fixture of this project holds anything that redact would remove', async () => {
  const folder = path.join(projectRoot, 'test/fixtures');
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(sqlite|json)\.gz$/.test(name));
  assert.ok(files.length > 40);
  for (const name of files) {
    const input = path.join(folder, name);
    const removed = await redactProfile({
      ...{ input, output: undefined, hashRanges: false, force: false },
      onProgress: () => {},
    });
    assert.deepEqual(removed, [], name);
  }
});
