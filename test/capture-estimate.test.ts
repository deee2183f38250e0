/** The constants behind the estimate of a capture's size, computed again from the bundled captures. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import initSqlJs from 'sql.js';
import { bytesPerRow, EMPTY_EXPORT_BYTES } from '../src/capture/estimate.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { captureNames, capturePath } from '../src/testing/captures.js';

const SQL = await initSqlJs();

/** Pages of a table's b-tree; rows of these tables are short, so there are no overflow pages. */
function pagesOf(file: Buffer, root: number, pageSize: number): number {
  const at = (root - 1) * pageSize;
  if (file[at] !== 5) return 1;
  const cells = file.readUInt16BE(at + 3);
  const children = [file.readUInt32BE(at + 8)];
  for (let i = 0; i < cells; i++) children.push(file.readUInt32BE(at + file.readUInt16BE(at + 12 + 2 * i)));
  return 1 + children.reduce((sum, child) => sum + pagesOf(file, child, pageSize), 0);
}

interface Measured {
  readonly bytes: number;
  readonly rows: number;
}

function measure(name: string): Map<string, Measured> {
  const file = gunzipSync(readFileSync(capturePath(name)));
  const database = new SQL.Database(file);
  const pageSize = file.readUInt16BE(16) === 1 ? 65536 : file.readUInt16BE(16);
  const tables = database.exec("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")[0].values;
  const result = new Map<string, Measured>([['', { bytes: file.length, rows: 0 }]]);
  for (const [table, root] of tables) {
    const rows = Number(database.exec(`SELECT count(*) FROM "${table}"`)[0].values[0][0]);
    result.set(String(table), { bytes: pagesOf(file, Number(root), pageSize) * pageSize, rows });
  }
  database.close();
  return result;
}

const measured = new Map(captureNames.filter(name => name !== 'old23').map(name => [name, measure(name)]));

/**
 * Bytes per row that the fixtures lack because they are redacted: names of variables in GPU memory. Measured with
 * dbstat on the same six captures before redaction: 70.5 bytes of payload per row, 34.8 after it. Pages of nsys are as
 * full as ours (3 to 6% unused), and had 79.2 bytes per row.
 */
const redactedBytes: Readonly<Record<string, number>> = { CUDA_GPU_MEMORY_USAGE_EVENTS: 35.7 };

for (const [table, bytes] of Object.entries(bytesPerRow))
  test(`${table}: ${bytes} bytes a row`, () => {
    const all = [...measured.values()]
      .map(tables => tables.get(table))
      .filter(found => found && found.rows > 1500);
    assert.ok(all.length > 0);
    const mean =
      all.reduce((sum, found) => sum + found!.bytes, 0) / all.reduce((sum, found) => sum + found!.rows, 0);
    const left = bytes - (redactedBytes[table] ?? 0);
    assert.ok(Math.abs(mean - left) < 0.1 * left, `${mean.toFixed(1)} measured, ${left} expected`);
  });

test('an export without events', () => {
  // Graphs as blocks: nine steps are nine rows.
  const bytes = measured.get('graphmode')!.get('')!.bytes;
  assert.ok(Math.abs(bytes - EMPTY_EXPORT_BYTES) < 0.25 * bytes, String(bytes));
});

test('the estimate is near the captures it was not fitted to as a whole', () => {
  const cases = [
    {
      name: 'eager',
      layers: 22,
      kernelsPerLayer: 46,
      steps: 5,
      command: ['python3', 'engine.py'],
      options: { cudaMemory: true },
    },
    {
      name: 'graph',
      layers: 22,
      kernelsPerLayer: 46,
      steps: 9,
      command: ['trtllm-bench'],
      options: { cudaMemory: true },
    },
    {
      name: 'graphmode',
      layers: 22,
      kernelsPerLayer: 46,
      steps: 9,
      command: ['trtllm-bench'],
      options: { graphTrace: 'graph' as const },
    },
  ];
  for (const { name, layers, kernelsPerLayer, steps, command, options } of cases) {
    const iterations = [{ first: 12, last: 11 + steps }];
    const { sqliteBytes } = planCapture({
      command,
      layers,
      kernelsPerLayer,
      iterations,
      ...options,
    }).estimate;
    const bytes = measured.get(name)!.get('')!.bytes;
    assert.ok(sqliteBytes > bytes / 1.5 && sqliteBytes < bytes * 1.5, `${name}: ${sqliteBytes} for ${bytes}`);
  }
});
