/**
 * Every report on every capture equals what NVIDIA's `nsys stats` and `nsys analyze` 2025.3.1 print for the same
 * file, cell by cell. Rows with equal sort keys may stand in either order.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { chooseReport, statsReports } from '../src/analyze/stats/index.js';
import { runReport } from '../src/analyze/stats/report.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { openProfile } from '../src/import/open.js';
import { renderCsv } from '../src/report/csv.js';
import { captureNames, capturePath, capturesFolder, readText } from '../src/testing/captures.js';

/** The columns NVIDIA's report is ordered by, and in which direction; rows equal in these may swap. */
const sortKeys: Record<string, readonly string[]> = {
  cuda_gpu_trace: ['Start (ns)'],
  cuda_api_trace: ['Start (ns)'],
  cuda_kern_exec_sum: ['TAvg (ns)'],
  cuda_kern_exec_trace: ['API Start (ns)'],
  cuda_gpu_mem_size_sum: ['Total (MB)'],
  nvtx_pushpop_trace: ['Start (ns)', 'Duration (ns)'],
  nvtx_gpu_proj_sum: ['Total Proj Time (ns)'],
  nvtx_gpu_proj_trace: ['Projected Start (ns)', 'Projected Duration (ns)'],
  nvtx_kern_sum: ['NVTX Range', 'PID', 'TID', 'Total Time (ns)'],
  gpu_gaps: ['Duration (ns)', 'Start (ns)'],
  gpu_time_util: ['In-Use (%)', 'Duration (ns)'],
  cuda_api_sync: ['Duration (ns)'],
  cuda_memcpy_async: ['Duration (ns)'],
  cuda_memcpy_sync: ['Duration (ns)'],
  cuda_memset_sync: ['Duration (ns)'],
};
const sortKeyOf = (report: string) => sortKeys[report] ?? ['Total Time (ns)'];

const compared = new Set<string>();

for (const name of captureNames) {
  test(`reports on ${name} equal NVIDIA's`, async () => {
    const profile = await openProfile([capturePath(name)]);
    for (const folder of ['nsys-stats', 'nsys-rules']) {
      const expectedFolder = path.join(capturesFolder, name, folder);
      if (!existsSync(expectedFolder)) continue;
      for (const file of readdirSync(expectedFolder)) {
        const request = file.replace(/\.csv(\.gz)?$/, '').replace(/-(base|mangled|nvtx-name)$/, ':$1');
        const { report, options } = chooseReport(request);
        const block = runReport(report, profile, options);
        const ours = block.kind === 'table' ? renderCsv(block) : '';
        assertSameTable(ours, readText(path.join(expectedFolder, file)), report.id, `${name} ${request}`);
        compared.add(report.id);
      }
    }
  });
}

test('every report was compared, but for those of events that no capture has', () => {
  // nsys-stats-drawn.test.ts compares them on drawn exports.
  const onlyDrawn = ({ reads }: (typeof statsReports)[number]) => reads.otherEvents || reads.pageFaults;
  assert.deepEqual(
    statsReports.filter(report => !onlyDrawn(report) && !compared.has(report.id)).map(({ id }) => id),
    [],
  );
});

test('the comparison notices a wrong cell, a missing row and a wrong order', () => {
  const good = 'Total Time (ns),Name\n9,a\n5,b\n5,c\n';
  assertSameTable('Total Time (ns),Name\n9,a\n5,c\n5,b\n', good, 'x', 'equal keys may swap');
  for (const bad of ['9,a\n5,b\n5,d\n', '9,a\n5,b\n', '5,b\n5,c\n9,a\n', '9,a\n5,b\n5,c\n5,c\n']) {
    assert.throws(() => assertSameTable(`Total Time (ns),Name\n${bad}`, good, 'x', 'bad'));
  }
});

function assertSameTable(ours: string, theirs: string, report: string, label: string): void {
  const actual = parseCsv(ours);
  const expected = parseCsv(theirs);
  assert.equal(actual.length, expected.length, `${label}: rows`);
  if (expected.length === 0) return;
  assert.deepEqual(actual[0], expected[0], `${label}: header`);
  const keys = sortKeyOf(report).map(header => expected[0].indexOf(header));
  assert.ok(
    keys.every(key => key >= 0),
    `${label}: sort key`,
  );
  const keyOf = (row: string[]) => keys.map(key => row[key]).join('\u0000');
  const order = (rows: string[][]) => rows.slice(1).map(keyOf);
  assert.deepEqual(order(actual), order(expected), `${label}: order`);
  // Within one key any order will do: compare stretch by stretch.
  const stretches = (rows: string[][]) => {
    const grouped = new Map<string, string[]>();
    for (const row of rows.slice(1))
      grouped.set(keyOf(row), [...(grouped.get(keyOf(row)) ?? []), row.join('\u0001')]);
    return [...grouped].map(([key, list]) => [key, list.sort()]);
  };
  assert.deepEqual(stretches(actual), stretches(expected), `${label}: cells`);
}
