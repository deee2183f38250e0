/** What every importer owes: one suite, a line per sample. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { UserError } from '../src/base/user-error.js';
import { importersOf } from '../src/import/index.js';
import { openProfile } from '../src/import/open.js';
import { rankInName } from '../src/import/run-ranks.js';
import { mergeProfiles } from '../src/model/merge.js';
import type { Profile } from '../src/model/profile.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { bytesOfProfile } from '../src/testing/profile-bytes.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { perfettoTrace } from '../src/timeline/export/perfetto-trace.js';
import { recordedEvents } from '../src/timeline/export/recorded-events.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-contract-'));
after(() => rmSync(folder, { recursive: true }));

const samples: readonly [importer: string, file: string][] = [
  ['nsys-sqlite', capturePath('graph')],
  ['nsys-sqlite', capturePath('gil')],
  ['nsys-sqlite', capturePath('old23')],
  ['kineto-json', capturePath('graph', 'kineto.json.gz')],
  ['kineto-json', withMetadataFirst(capturePath('graph', 'kineto.json.gz'), 300_000)],
  ['perfetto', writtenAsPerfetto()],
  ['agent-sidecar', path.join(projectRoot, 'test/fixtures/agent/sidecar.json.gz')],
];

/** As stepscope export writes it. */
function writtenAsPerfetto(): string {
  const profile = drawEngine({ steps: 6 });
  const events = recordedEvents(profile, { fromNs: -Infinity, toNs: Infinity });
  const file = path.join(mkdtempSync(path.join(folder, 'perfetto-')), 'trace.pftrace.gz');
  writeFileSync(file, gzipSync(Buffer.concat([...perfettoTrace(profile, events)])));
  return file;
}

/** Programs that write a trace anew put what they know about the run before everything that tells it is a trace. */
function withMetadataFirst(trace: string, bytes: number): string {
  const packages = Array.from({ length: bytes / 40 }, (_, i) => `package-${i}==1.${i}.0 "{traceEvents: [`);
  const metadata = { num_errors: 0, errors: {}, system: { pip_packages: packages, gpu: { gpu_00: null } } };
  const rest = gunzipSync(readFileSync(trace))
    .toString('utf8')
    .replace(/^\s*\{/, '');
  const file = path.join(mkdtempSync(path.join(folder, `metadata-of-${bytes}-bytes-`)), 'trace.json.gz');
  writeFileSync(file, gzipSync(`{\n "metadata": ${JSON.stringify(metadata, null, 1)},\n${rest}`));
  return file;
}

/** File name and size are the only things that may differ between a file and its packed form. */
function content(profile: Profile): Uint8Array {
  const stepLogs = profile.stepLogs?.map(log => ({ ...log, file: '' }));
  const capture = { ...profile.capture, files: [], sizeBytes: 0 };
  return bytesOfProfile({ ...profile, capture, ...(stepLogs ? { stepLogs } : {}) });
}

for (const [id, file] of samples) {
  const name = `${id}, ${path.basename(path.dirname(file))}`;
  const bytes = gunzipSync(readFileSync(file));

  test(`${name}: exactly one importer recognizes it, packed or not`, async () => {
    const plain = path.join(folder, 'plain');
    writeFileSync(plain, bytes);
    assert.deepEqual(
      (await importersOf({ head: async (most = 4096) => bytes.subarray(0, most) })).map(({ id }) => id),
      [id],
    );
    assert.deepEqual(content(await openProfile([plain])), content(await openProfile([file])));
  });

  test(`${name}: valid, and the same twice`, async () => {
    const first = await openProfile([file]);
    assert.deepEqual(validateProfile(first), []);
    assert.ok((first.tables[id === 'agent-sidecar' ? 'ranges' : 'kernels']?.length ?? 0) > 0);
    assert.deepEqual(bytesOfProfile(await openProfile([file])), bytesOfProfile(first));
  });

  test(`${name}: cut anywhere, it is refused in words or opened with the loss counted`, async () => {
    const whole = await openProfile([file]);
    const cut = path.join(folder, 'cut');
    for (let part = 0; part < 24; part++) {
      const length = Math.floor((bytes.length * part) / 24) + (part % 3);
      writeFileSync(cut, part % 2 ? bytes.subarray(0, length) : gzipSync(bytes.subarray(0, length)));
      let profile: Profile;
      try {
        profile = await openProfile([cut]);
      } catch (error) {
        assert.ok(error instanceof UserError, `${length}: ${(error as Error).stack}`);
        assert.ok(error.message !== '' && error.hint !== '');
        continue;
      }
      assert.deepEqual(validateProfile(profile), [], `cut at ${length}`);
      const kernels = profile.tables.kernels?.length ?? 0;
      assert.ok(kernels <= (whole.tables.kernels?.length ?? 0));
      assert.ok(
        profile.notes.some(note => note.severity === 'loss'),
        `cut at ${length} of ${bytes.length}: no loss was counted`,
      );
    }
  });
}

test('JSON that is no trace is looked at so far and no further', async () => {
  const looks: number[] = [];
  const text = Buffer.from(`{"results": [${'{"traceEvents": []},'.repeat(2_000_000)}`);
  const head = async (most = 4096) => {
    looks.push(most);
    return text.subarray(0, most);
  };
  assert.deepEqual(await importersOf({ head }), []);
  assert.deepEqual(looks, [4 << 10, 256 << 10, 16 << 20]);
  looks.length = 0;
  assert.deepEqual(await importersOf({ head: async most => (await head(most)).fill(0x20) }), []);
  assert.deepEqual(looks, [4 << 10], 'what is no JSON needs one look');
});

test('ranks come from file names where the files do not say them, if the names are clear', async () => {
  const names = ['llama_rank0.sqlite', 'llama_rank10.sqlite', 'llama_rank2.sqlite'];
  const ranks = mkdtempSync(path.join(folder, 'ranks-'));
  for (const name of names) copyFileSync(capturePath('graphmode'), path.join(ranks, name));
  const merged = await openProfile([ranks]);
  assert.deepEqual(merged.capture.files, ['llama_rank0.sqlite', 'llama_rank2.sqlite', 'llama_rank10.sqlite']);
  assert.deepEqual(merged.capture.ranks, [0, 2, 10]);
  assert.deepEqual(
    merged.processes.map(process => process.rank),
    [0, 2, 10],
  );
  assert.equal(rankInName('trace-TP-3-DECODE.json.gz'), 3);
  assert.equal(rankInName('worker7.sqlite'), undefined);
  assert.equal(rankInName('report.r4.nsys-rep'), 4);
});

test('a folder of results: profiles are taken, the rest is passed over and counted', async () => {
  const results = mkdtempSync(path.join(folder, 'results-'));
  copyFileSync(capturePath('graphmode'), path.join(results, 'profile.sqlite.gz'));
  writeFileSync(path.join(results, 'config.json'), '{"model": "llama"}');
  writeFileSync(path.join(results, 'notes.txt'), 'not looked at');
  const profile = await openProfile([results]);
  assert.equal(profile.tables.kernels!.length, 9);
  const note = profile.notes.find(({ code }) => code === 'passed-over');
  assert.deepEqual([note?.count, note?.example], [1, 'config.json']);
  rmSync(path.join(results, 'profile.sqlite.gz'));
  await assert.rejects(openProfile([results]), { code: 'not-found' });
});

test('one rank traced twice stays two processes: their launch ids may be the same', async () => {
  const file = capturePath('graph', 'kineto.json.gz');
  const single = await openProfile([file]);
  const ranked = { ...single, capture: { ...single.capture, ranks: [0] } };
  const merged = mergeProfiles([ranked, ranked]);
  assert.deepEqual(merged.capture.ranks, [0]);
  assert.equal(merged.processes.length, 2 * single.processes.length);
  assert.equal(merged.gpus.length, 1);
  assert.deepEqual(validateProfile(merged), []);
});

test('several files become one profile with all their rows', async () => {
  const files = [capturePath('eager'), capturePath('graph')];
  const parts = await Promise.all(files.map(file => openProfile([file])));
  const merged = mergeProfiles(parts);
  assert.deepEqual(validateProfile(merged), []);
  assert.equal(
    merged.tables.kernels!.length,
    parts[0].tables.kernels!.length + parts[1].tables.kernels!.length,
  );
  assert.equal(merged.processes.length, 2);
  assert.equal(merged.clock, 'utc');
  // Nanoseconds between the sessions' starts, kept exactly.
  const apart = Number(parts[1].originNs - parts[0].originNs);
  const starts = merged.tables.kernels!.start as unknown as Float64Array;
  assert.equal(
    starts[starts.length - 1],
    parts[1].tables.kernels!.start[(parts[1].tables.kernels!.length - 1) as never] + apart,
  );
});
