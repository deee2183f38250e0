/**
 * A word that occurs nowhere else is planted in every place of every format that can hold text: found by walking the
 * schema of an export and the shape of a trace, not by a list. What of it is left in the bytes of a copy must be on the
 * list of what may stay, with a reason.
 */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Database, SqlValue } from 'sql.js';
import { redactProfile } from '../src/redact/redact.js';
import { capturePath } from '../src/testing/captures.js';
import { plantedTrace } from './redact-secrets.js';
import { openDatabase } from './small-exports.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'canary-test-'));
process.env.TMPDIR = scratch;
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

/** Why the name in a place may stay, or undefined when it may not. */
function mayStayInExport(place: string): string | undefined {
  if (/ → .*\.(demangledName|shortName|mangledName)$/.test(place)) return 'kernel names are what is analysed';
  if (/ → (?!ThreadNames).*\.((end)?nameId|symbol|CpuInstruction)$/.test(place))
    return 'functions of APIs and of call chains';
  if (/ → .*_CALLCHAINS\.module$/.test(place)) return 'file name of a library, without its folder';
  if (/ → .*\.textId$|NVTX_EVENTS\.text$/.test(place)) return 'ranges name steps; --hash-ranges hides them';
  if (/ → ThreadNames\.nameId$/.test(place)) return 'threads that recorded something';
  if (place === 'PROCESSES.name') return 'processes that recorded something';
  if (/^ENUM_|^UnwindMethodType\.name$/.test(place)) return "the profiler's own constants";
  if (/^TARGET_INFO_GPU_METRICS\.metricName$/.test(place)) return "the profiler's own metrics";
  return undefined;
}

/** The same value in the bytes of a copy, packed or not. */
async function copyOf(name: string, bytes: Uint8Array | string, hashRanges = false): Promise<Buffer> {
  const input = path.join(scratch, name);
  const output = path.join(scratch, `copy-${name}`);
  fs.writeFileSync(input, bytes);
  await redactProfile({ input, output, hashRanges, force: true, onProgress: () => {} });
  return fs.readFileSync(output);
}

interface Planted {
  /** What stands at each place. */
  readonly words: Map<string, string>;
  readonly bytes: Uint8Array;
}

/** `form` dresses a word up: bare, or as one of the shapes in which secrets come. */
async function plantInExport(capture: string, form: (word: string) => string): Promise<Planted> {
  const database = await openDatabase(gunzipSync(fs.readFileSync(capturePath(capture))));
  const words = new Map<string, string>();
  let count = 0;
  let nextString = 50_000_000;
  const word = (place: string) => {
    const fresh = form(`Qx${(count++).toString(36).padStart(4, '0')}zV`);
    words.set(place, fresh);
    return fresh;
  };
  for (const [table] of rows(database, "SELECT name FROM sqlite_master WHERE type = 'table'")) {
    const columns = rows(database, `PRAGMA table_info("${table}")`);
    // Of NVTX's events one that is a range, not the name of a domain.
    const order = table === 'NVTX_EVENTS' ? 'ORDER BY eventType = 59 DESC' : '';
    const [first] = rows(database, `SELECT * FROM "${table}" ${order} LIMIT 1`);
    const row = first ?? columns.map(() => 1);
    for (const [c, [, column, , , , key]] of columns.entries()) {
      const others = () => columns.map((_, i) => (Number(columns[i][5]) > 0 ? ++nextString : row[i]));
      // A text where the place asks for one, and the id of a string where it asks for that.
      if (Number(key) === 0) {
        put(database, `${table}`, withValue(others(), c, word(`${table}.${column}`)));
        if (table !== 'StringIds') {
          const id = ++nextString;
          put(database, 'StringIds', [id, word(`StringIds → ${table}.${column}`)]);
          put(database, `${table}`, withValue(others(), c, id));
        }
      }
    }
  }
  database.run(`CREATE TABLE planted_table_${count} (a TEXT)`);
  words.set('the name of a table', `planted_table_${count}`);
  database.run(
    `ALTER TABLE NVTX_EVENTS ADD COLUMN more TEXT DEFAULT '${word('a default').replaceAll("'", "''")}'`,
  );
  database.run(`CREATE VIEW planted_view AS SELECT '${word('a view').replaceAll("'", "''")}' AS text`);
  put(database, 'META_DATA_CAPTURE', ['ENVIRONMENT_VARIABLE', `SOME=${word('an environment')}`]);
  put(
    database,
    'PROCESSES',
    [12345 * 2 ** 24, 12345, word('an idle process')].slice(
      0,
      rows(database, 'PRAGMA table_info(PROCESSES)').length,
    ),
  );
  database.run('PRAGMA secure_delete = OFF');
  put(database, 'StringIds', [++nextString, word('a deleted row')]);
  database.run(`DELETE FROM StringIds WHERE id = ${nextString}`);
  const bytes = database.export();
  database.close();
  return { words, bytes };
}

const rows = (database: Database, sql: string): SqlValue[][] => database.exec(sql)[0]?.values ?? [];
const withValue = (row: readonly SqlValue[], at: number, value: SqlValue) =>
  row.map((old, i) => (i === at ? value : old));
function put(database: Database, table: string, row: readonly SqlValue[]): void {
  database.run(`INSERT INTO "${table}" VALUES (${row.map(() => '?').join(',')})`, [...row]);
}

const left = ({ words }: { words: Map<string, string> }, copy: Buffer, inner: (word: string) => string) =>
  [...words].filter(([, word]) => copy.includes(inner(word))).map(([place]) => place);

for (const capture of ['eager', 'membound', 'unified', 'graph']) {
  test(`an export keeps only what may stay, wherever text can stand: ${capture}`, async () => {
    const planted = await plantInExport(capture, word => word);
    assert.ok(planted.words.size > 500, `${planted.words.size} places`);
    const stays = left(planted, await copyOf('canary.sqlite', planted.bytes), word => word);
    assert.deepEqual(
      stays.filter(place => mayStayInExport(place) === undefined),
      [],
    );
    // The list of what may stay is no longer than what does.
    for (const place of planted.words.keys())
      if (mayStayInExport(place) !== undefined && / → CUPTI_ACTIVITY_KIND_KERNEL/.test(place))
        assert.ok(stays.includes(place), place);
    const hashed = left(planted, await copyOf('canary.sqlite', planted.bytes, true), word => word);
    assert.deepEqual(
      hashed.filter(place => /NVTX_EVENTS\.text/.test(place)),
      [],
      'ranges are hashed',
    );
  });
}

/** Shapes in which keys and passwords come; the word in them is what must be gone. */
const shapes: readonly ((word: string) => string)[] = [
  word => `password: ${word}`,
  word => `api_key=${word}`,
  word => `Authorization: Bearer ${word}abcdef`,
  word => `x-api-key: ${word}`,
  word => `github_pat_${word}AAAAAAAAAAAAAAAAAAAA`,
  word => `glpat-${word}AAAAAAAAAAAA`,
  word => `sk_live_${word}AAAAAAAA`,
  word => `npm_${word}AAAAAAAAAAAAAAAAAAAA`,
  word => `pypi-${word}AAAAAAAAAAAA`,
  word => `-----BEGIN PRIVATE KEY-----\n${word}\n-----END PRIVATE KEY-----`,
  word => `AccountKey=${word}==`,
  word => `https://me:${word}@example.org/x`,
  word => `run --hf-token ${word}`,
  word => `/srv/${word}/model/`,
];
const bare = (text: string): string => /Qx\w{4}zV/.exec(text)?.[0] ?? text;

test('a key in any known shape is gone from every place of an export, kernel names among them', async () => {
  let n = 0;
  const planted = await plantInExport('eager', word => shapes[n++ % shapes.length](word));
  assert.deepEqual(left(planted, await copyOf('keys.sqlite', planted.bytes), bare), []);
});

/** Every text and every key of a trace, one planted at a time: as many traces as there are places, written as one. */
function plantInTrace(form: (word: string) => string): Planted {
  const source = JSON.parse(
    gunzipSync(fs.readFileSync(capturePath('eager', 'kineto.json.gz'))).toString(),
  ) as Record<string, unknown> & { traceEvents: Record<string, unknown>[] };
  const extra = JSON.parse(plantedTrace()) as typeof source;
  const words = new Map<string, string>();
  let count = 0;
  const word = (place: string) => {
    const fresh = form(`Qx${(count++).toString(36).padStart(4, '0')}zV`);
    words.set(place, fresh);
    return fresh;
  };
  const events: unknown[] = source.traceEvents.slice(0, 50);
  const seen = new Set<string>();
  for (const event of [...extra.traceEvents, ...source.traceEvents]) {
    const shape = `${String(event.cat)} ${String(event.ph)} ${Object.keys((event.args as object) ?? {}).join()}`;
    if (seen.has(shape) || seen.size > 80) continue;
    seen.add(shape);
    events.push(...variants(event, `${String(event.cat ?? event.ph)}`, word));
  }
  const { traceEvents: _, ...metadata } = { ...source, ...extra };
  const all = Object.assign({}, ...variants(metadata, 'metadata', word)) as Record<string, unknown>;
  for (const [i, variant] of (variants(metadata, 'metadata', word) as Record<string, unknown>[]).entries())
    for (const [key, value] of Object.entries(variant)) all[key in all ? `${key}${i}` : key] = value;
  return { words, bytes: Buffer.from(JSON.stringify({ ...all, traceEvents: events })) };
}

/** Copies of a value, each with one text, one number or one key in it replaced. */
function variants(value: unknown, place: string, word: (place: string) => string): unknown[] {
  if (Array.isArray(value)) {
    return value
      .slice(0, 2)
      .flatMap((inner, i) =>
        variants(inner, `${place}[]`, word).map(other =>
          value.map((old: unknown, j) => (i === j ? other : old)),
        ),
      );
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => [
      ...variants(inner, `${place}.${key}`, word).map(other => ({ ...value, [key]: other })),
      { ...value, [word(`${place}.${key} as a key`)]: inner },
    ]);
  }
  return [word(place)];
}

function mayStayInTrace(place: string): string | undefined {
  if (/^kernel\.name$|^gpu_mem(cpy|set)\.name$/.test(place)) return 'kernel names are what is analysed';
  if (/^(cuda_runtime|cuda_driver|cuda_sync|overhead)\.name$/.test(place)) return 'functions of APIs';
  if (/^(cpu_op|python_function|Trace|cpu_instant_event)\.name$/.test(place))
    return 'operators and functions';
  if (/^(gpu_)?user_annotation\.name$/.test(place)) return 'ranges name steps; --hash-ranges hides them';
  if (/\.args\.Call stack$/.test(place)) return 'functions, without the folders of their files';
  if (/\.args\.name$/.test(place)) return 'names of processes and threads';
  return undefined;
}

test('a trace keeps only what may stay, wherever text can stand', async () => {
  const planted = plantInTrace(word => word);
  assert.ok(planted.words.size > 300, `${planted.words.size} places`);
  const copy = await copyOf('canary.json', planted.bytes);
  JSON.parse(copy.toString());
  assert.deepEqual(
    left(planted, copy, word => word).filter(place => mayStayInTrace(place) === undefined),
    [],
  );
});

test('a key in any known shape is gone from every place of a trace', async () => {
  let n = 0;
  const planted = plantInTrace(word => shapes[n++ % shapes.length](word));
  assert.deepEqual(left(planted, await copyOf('keys.json', planted.bytes), bare), []);
});
