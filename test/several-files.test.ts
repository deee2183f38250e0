/** Ranks in one file, files of several runs, and numbers that a profiler used twice. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { rankSkew } from '../src/analyze/comm/rank-skew.js';
import { findings } from '../src/analyze/findings/findings.js';
import { kernelsPerStep } from '../src/analyze/gpu/kernels-per-step.js';
import { NONE } from '../src/base/column.js';
import { UserError } from '../src/base/user-error.js';
import { openProfile } from '../src/import/open.js';
import type { Profile, Row } from '../src/model/profile.js';
import { DrawnTrace, traceText, withFiles } from '../src/testing/drawn-trace.js';
import { lacks, locate } from '../src/testing/needs.js';
import { fillExport, makeDatabase } from './small-exports.js';

const KERNELS = ['embedding_kernel', 'nvjet_sm90_tst_64x8', 'rms_norm_kernel', 'ncclDevKernel_AllReduce'];
const note = (profile: Profile, code: string) => profile.notes.find(candidate => candidate.code === code);

/** Twelve decode steps of one rank; correlation, process and device numbers are those of every other rank too. */
function rank(pid: string | number, device: string | number, lateUs = 0, batch = 8): readonly object[] {
  const trace = new DrawnTrace(pid, 0);
  for (let step = 0; step < 12; step++) {
    const at = lateUs + 1_000 * step;
    trace.range(`step[DECODE bs=${batch}]`, at, at + 990);
    KERNELS.forEach((name, i) => {
      trace.kernel(name, at + 10 * i, at + 50 + 200 * i, at + 200 + 200 * i);
    });
  }
  return trace
    .all()
    .map(event => ((event as { cat: string }).cat === 'kernel' ? { ...event, pid: device } : event));
}

test('ranks that SGLang merged into one trace are ranks', async () => {
  const events = [0, 1, 2, 3].flatMap(tp => rank(`[TP0${tp}] 77`, `[TP0${tp}] 0`, 7 * tp));
  const spans = [0, 1, 2, 3].map(tp => ({
    ph: 'X',
    cat: 'Trace',
    name: 'x',
    pid: `[TP0${tp}] Spans`,
    ts: 0,
    dur: 1,
  }));
  await withFiles([traceText([...events, ...spans], { rank: 0, worldSize: 4 })], async files => {
    const profile = await openProfile(files);
    assert.deepEqual(profile.capture.ranks, [0, 1, 2, 3]);
    assert.deepEqual([profile.gpus.length, profile.processes.length], [4, 4]);
    assert.match(note(profile, 'merged-ranks')!.text, /^ranks were merged into one trace/);
    const analyzer = new Analyzer(profile);
    assert.deepEqual(
      analyzer.get(kernelsPerStep).rows.map(({ kernels, fewest, most }) => [kernels, fewest, most]),
      [[4, 4, 4]],
    );
    assert.equal(analyzer.get(rankSkew).rows.length, 4);
    assert.ok(!analyzer.get(findings).findings.some(({ id }) => id === 'one-rank'));
  });
});

test('other kinds of ranks are numbered in the order of their labels', async () => {
  const labels = ['[TP00-DP01]', '[TP00-DP00]'];
  const events = labels.flatMap(label => rank(`${label} 77`, `${label} 0`));
  await withFiles([traceText(events)], async files => {
    const { processes } = await openProfile(files);
    assert.deepEqual(processes.map(process => process.rank).sort(), [0, 1]);
  });
});

test('files of different times are refused as ranks of one run', async () => {
  // The clock of these traces is that of the wall from 2001 on.
  const at = 1.7e15;
  const text = (number: number, lateUs: number) =>
    traceText(rank(100 + number, 0, at + lateUs), { rank: number, worldSize: 2 });
  await withFiles([text(0, 0), text(1, 30)], async files => {
    assert.equal((await openProfile(files)).capture.ranks.length, 2);
  });
  await withFiles([text(0, 0), text(1, 30), text(0, 17e6)], async files => {
    await assert.rejects(openProfile(files), (error: UserError) => {
      assert.ok(error instanceof UserError);
      assert.match(
        error.message,
        /^These files were recorded at different times: trace-2\.json begins 17\.0 s after trace-0\.json and 1 more ended/,
      );
      return true;
    });
  });
});

test('prefill and decode of every rank, recorded one after the other, are one run', async () => {
  const at = 1.7e15;
  // Between two stages the engine writes its traces: seconds, with windows of 12 ms.
  const text = (number: number, lateUs: number) =>
    traceText(rank(100 + number, 0, at + lateUs), { rank: number, worldSize: 2 });
  const [prefill, decode] = [0, 20e6];
  await withFiles(
    [text(0, prefill), text(0, decode), text(1, prefill + 5), text(1, decode + 5)],
    async files => {
      const profile = await openProfile(files);
      assert.deepEqual(profile.capture.ranks, [0, 1]);
      assert.equal(profile.tables.kernels!.length, 4 * 12 * KERNELS.length);
    },
  );
  // Ranks that are apart within a window are still refused.
  await withFiles(
    [text(0, prefill), text(0, decode), text(1, prefill + 5), text(1, decode + 90e6)],
    async files => {
      await assert.rejects(openProfile(files), /recorded at different times/);
    },
  );
});

test('ranks that were merged, next to their own files, are refused as the same twice', async () => {
  const at = 1.7e15;
  const own = (number: number) => traceText(rank(100 + number, 0, at), { rank: number, worldSize: 2 });
  const merged = traceText(
    [0, 1].flatMap(tp => rank(`[TP0${tp}] 77`, `[TP0${tp}] 0`, at)),
    { rank: 0, worldSize: 2 },
  );
  await withFiles([merged, own(0), own(1)], async files => {
    await assert.rejects(openProfile(files), /trace-0\.json and trace-1\.json both have rank 0 and cover/);
  });
});

test('files of runs of other sizes are refused', async () => {
  const text = (number: number, worldSize: number) =>
    traceText(rank(100 + number, 0), { rank: number, worldSize });
  await withFiles([text(0, 2), text(1, 4)], async files => {
    await assert.rejects(openProfile(files), /trace-0\.json is one of 2 ranks, trace-1\.json one of 4/);
  });
});

test('an id that two calls have leads to the last call before the work, and is noted', async () => {
  const first = new DrawnTrace().kernel('alpha', 0, 10, 100);
  const second = new DrawnTrace().kernel('beta', 1_000, 1_010, 1_100);
  await withFiles([traceText([...first.all(), ...second.all()])], async files => {
    const profile = await openProfile(files);
    const { kernels, apiCalls } = profile.tables;
    const launchedAt = [0, 1].map(row => {
      const launch = kernels!.launch[row as Row<'kernels'>];
      return launch === NONE
        ? NONE
        : apiCalls!.start[launch as Row<'apiCalls'>] - apiCalls!.start[0 as Row<'apiCalls'>];
    });
    assert.deepEqual(launchedAt, [0, 1e6]);
    assert.equal(note(profile, 'repeated-correlation')?.count, 2);
  });
});

test('an export with a newer schema than any checked says so', async () => {
  const bytes = async (schema: string) =>
    makeDatabase(4096, database => {
      fillExport(database);
      database.run(`UPDATE META_DATA_EXPORT SET value = '${schema}' WHERE name = 'EXPORT_SCHEMA_VERSION'`);
    });
  const noted = async (schema: string) =>
    withFiles([''], async ([file]) => {
      writeFileSync(file, await bytes(schema));
      return note(await openProfile([file]), 'newer-schema')?.example;
    });
  assert.equal(await noted('3.25.1'), undefined);
  assert.equal(await noted('3.26.0'), 'schema 3.26.0');
  assert.equal(await noted('4.0'), 'schema 4.0');
});

test('batch 1 of eight ranks and batch 64 of one: not nine ranks', { skip: lacks('external') }, async () => {
  const folder = path.join(locate('external')!, 'sglang-gptoss120b-b200-tp8');
  const names = ['bs-1-il-4096-1780800270.547418-TP-0', 'bs-1-il-4096-1780800270.547418-TP-1'];
  const files = [...names, 'bs-64-il-4096-1780800287.885589-TP-0'].map(name =>
    path.join(folder, `${name}-DECODE.trace.json.gz`),
  );
  await assert.rejects(openProfile(files), /bs-64-il-4096.* begins 17\.\d s after bs-1-il-4096/);
});
