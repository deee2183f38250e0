/** The contract of JSON answers: less of them on request, what is left out is listed, the same bytes each time. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { type Envelope, envelopeOf } from '../src/base/envelope.js';
import { exitCodes } from '../src/base/user-error.js';
import { hashInput } from '../src/disk/content-hash.js';
import { shapedText } from '../src/report/shape-document.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-contract-'));
after(() => rmSync(folder, { recursive: true }));
const graph = capturePath('graph');
const ask = async (...args: string[]) => {
  const { status, out, err } = await runStepscope(args);
  assert.equal(status, 0, err);
  return out;
};

test('fields, limit, offset and lines of a real answer', async () => {
  const whole = JSON.parse(await ask('analyze', graph, '--only', 'top-kernels,gil', '--json'));
  const { rows } = whole.data.analyses['top-kernels'];
  assert.deepEqual(whole.truncated, []);
  assert.deepEqual(whole.inputs, [
    {
      file: 'profile.sqlite.gz',
      bytes: readFileSync(graph).length,
      hash: `sha256:${createHash('sha256').update(readFileSync(graph)).digest('hex')}`,
    },
  ]);
  const part = JSON.parse(
    await ask(
      'analyze',
      graph,
      '--only',
      'top-kernels,gil',
      '--fields',
      'kernel,totalNs',
      '--limit',
      '2',
      '--offset',
      '1',
    ),
  );
  assert.deepEqual(
    part.data.analyses['top-kernels'].rows,
    rows.slice(1, 3).map(({ key, kernel, totalNs }: Record<string, unknown>) => ({ key, kernel, totalNs })),
  );
  assert.deepEqual(part.truncated, [
    {
      path: 'analyses.top-kernels.rows',
      from: 1,
      shown: 2,
      of: rows.length,
      more: '--only top-kernels --offset 3',
    },
  ]);
  assert.equal(part.data.analyses.gil.status, 'not-recorded');
  const [first, ...lines] = (await ask('analyze', graph, '--only', 'top-kernels', '--ndjson'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  assert.deepEqual(first.data.analyses['top-kernels'].rows, []);
  assert.deepEqual(
    lines.filter(({ table }) => table === 'analyses.top-kernels.rows').map(({ row }) => row),
    rows,
  );
  const unknown = await runStepscope(['analyze', graph, '--only', 'top-kernels', '--fields', 'nothing']);
  assert.equal(unknown.status, 2);
  assert.match(unknown.err, /No row has a field "nothing"\.\nFields: key, kernel, family/);
  for (const wrong of [
    ['--csv', '--limit', '3'],
    ['--budget', '3'],
    ['--budget', 'x'],
    ['--limit', '-1'],
  ])
    assert.equal((await runStepscope(['steps', graph, ...wrong])).status, 2, wrong.join(' '));
});

test('a budget holds for any answer, the most important part stays, and what is missing can be asked for', async () => {
  const all = await ask('analyze', graph, '--json');
  const envelope: Envelope = JSON.parse(all);
  for (const bytes of [all.length + 1000, 100_000, 20_000, 6000, 2000, 900]) {
    const text = shapedText(envelope, { budget: bytes });
    assert.ok(Buffer.byteLength(text) <= bytes, `${bytes}: ${Buffer.byteLength(text)}`);
    const { truncated, data } = JSON.parse(text);
    if (bytes > all.length) assert.deepEqual([text, truncated], [all, []]);
    else assert.ok(truncated.length > 0);
    if (bytes >= 2000) assert.ok(data.analyses.findings.summary.verdict, String(bytes));
    if (bytes >= 6000) assert.ok(data.analyses.findings.rows.length > 0, String(bytes));
    const lines = shapedText(envelope, { budget: bytes, lines: true });
    assert.ok(Buffer.byteLength(lines) <= bytes, `lines ${bytes}: ${Buffer.byteLength(lines)}`);
  }
  const small = await runStepscope(['steps', graph, '--budget', '200']);
  assert.equal(small.status, 2);
  assert.match(small.err, /too small/);
});

/** Any document at all: a generator with a seed, so that a failure comes again. */
test('any document within any budget is JSON, and shown and left out are all there is', () => {
  let seed = 7;
  const random = (most: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed % most;
  };
  const value = (depth: number): unknown => {
    const kind = random(depth > 3 ? 3 : 6);
    if (kind === 0) return random(1e9);
    if (kind === 1) return 'é'.repeat(random(40));
    if (kind === 2) return null;
    if (kind === 3) return Array.from({ length: random(30) }, () => random(9));
    if (kind === 4)
      return Array.from({ length: random(12) }, (_, i) => ({ key: `k${i}`, v: value(depth + 2) }));
    return Object.fromEntries(Array.from({ length: random(6) }, (_, i) => [`m${i}`, value(depth + 1)]));
  };
  for (let round = 0; round < 300; round++) {
    const data = Object.fromEntries(Array.from({ length: 1 + random(6) }, (_, i) => [`p${i}`, value(0)]));
    const envelope: Envelope = envelopeOf({ schema: 'x/1', ...data }, 't', []);
    const whole = shapedText(envelope);
    assert.deepEqual(JSON.parse(whole).data, JSON.parse(JSON.stringify(data)));
    const budget = 600 + random(whole.length);
    for (const lines of [false, true]) {
      const text = shapedText(envelope, { budget, lines });
      assert.ok(Buffer.byteLength(text) <= budget, `${round}: ${Buffer.byteLength(text)} of ${budget}`);
      const [shown] = text.split(lines ? '\n' : /$/);
      const { truncated } = JSON.parse(lines ? shown : text);
      const isWhole = Buffer.byteLength(shapedText(envelope, { lines })) <= budget;
      assert.equal(truncated.length === 0, isWhole, `${round}`);
      for (const cut of truncated) assert.ok(cut.shown < cut.of && cut.more !== '', JSON.stringify(cut));
    }
  }
});

test('hashes: whole as others compute them, sampled in a time that does not grow, and other bytes give another one', () => {
  const file = path.join(folder, 'large');
  writeFileSync(file, '');
  truncateSync(file, 3e9);
  const begun = performance.now();
  const first = hashInput(file);
  assert.ok(performance.now() - begun < 1000);
  assert.match(first.hash, /^sampled-sha256:/);
  truncateSync(file, 3e9 + 1);
  assert.notEqual(hashInput(file).hash, first.hash);
  writeFileSync(file, Buffer.alloc(5 << 20, 1));
  const ones = hashInput(file).hash;
  const changed = Buffer.alloc(5 << 20, 1);
  changed[changed.length - 1] = 2;
  writeFileSync(file, changed);
  assert.notEqual(hashInput(file).hash, ones);
  const own = createHash('sha256').update(`${changed.length}\n`);
  for (let i = 0; i < 64; i++) {
    const at = Math.floor((i * (changed.length - 65536)) / 63);
    own.update(changed.subarray(at, at + 65536));
  }
  assert.equal(hashInput(file).hash, `sampled-sha256:${own.digest('hex')}`);
});

test('docs/json.md lists every exit code', () => {
  const page = readFileSync(path.join(projectRoot, 'docs/json.md'), 'utf8');
  const listed = [...page.matchAll(/^\| (\d+) \| `([a-z-]+)`/gm)].map(([, code, name]) => [
    name,
    Number(code),
  ]);
  assert.deepEqual(Object.fromEntries(listed), exitCodes);
});
