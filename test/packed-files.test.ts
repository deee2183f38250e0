/** Files as they lie about: packed in three ways, in several streams, cut, blown up, not fetched, or coming through a pipe. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { withoutPacking } from '../src/catalog/file-formats.js';
import { openProfile } from '../src/import/open.js';
import { ProfileFile } from '../src/import/profile-file.js';
import { XxHash64 } from '../src/import/unpack/xxhash64.js';
import { projectRoot } from '../src/testing/captures.js';
import { fillExport, makeDatabase } from './small-exports.js';

const fixture = (name: string) => path.join(projectRoot, 'test/fixtures/packed', name);
const folder = fs.mkdtempSync(path.join(tmpdir(), 'stepscope-packed-'));
after(() => fs.rmSync(folder, { recursive: true }));

/** Writes a file whose name says nothing about its content. */
function written(bytes: Uint8Array | string, name = 'profile'): string {
  const file = path.join(fs.mkdtempSync(path.join(folder, 'file-')), name);
  fs.writeFileSync(file, bytes);
  return file;
}

async function contentOf(file: string): Promise<Buffer> {
  const opened = ProfileFile.open(file);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of opened.chunks()) chunks.push(Buffer.from(chunk));
  } finally {
    opened.close();
  }
  return Buffer.concat(chunks);
}

/** Zstandard without its program: a frame of blocks, each one byte repeated. */
function zstdOfRepeats(blocks: number, blockBytes: number, windowDescriptor = 0x58): Buffer {
  const frame = Buffer.alloc(6 + 4 * blocks);
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, windowDescriptor]).copy(frame);
  for (let i = 0; i < blocks; i++) {
    const isLast = i === blocks - 1 ? 1 : 0;
    frame.writeUIntLE((blockBytes << 3) | (1 << 1) | isLast, 6 + 4 * i, 3);
    frame[9 + 4 * i] = 0x61;
  }
  return frame;
}

for (const ending of ['.zst', '.xz']) {
  test(`a trace in ${ending} opens, whatever its name`, async () => {
    const file = fixture(`trace.json${ending}`);
    const packed = fs.readFileSync(file);
    for (const given of [file, written(packed)]) {
      const profile = await openProfile([given]);
      assert.equal(profile.tables.kernels?.length, 1);
      assert.deepEqual(profile.notes, []);
    }
    // Twice at once: neither waits for the other.
    const twice = await Promise.all([openProfile([file]), openProfile([file])]);
    assert.deepEqual(
      twice.map(profile => profile.tables.kernels?.length),
      [1, 1],
    );
  });

  test(`${ending} cut or damaged anywhere is refused in words, or opened whole or with the loss counted`, async () => {
    const packed = fs.readFileSync(fixture(`trace.json${ending}`));
    for (let length = 7; length < packed.length; length += 5) {
      const outcome = await openProfile([written(packed.subarray(0, length))]).then(
        ({ notes, tables }) =>
          notes.some(note => note.severity === 'loss') ? 'loss' : `${tables.kernels?.length} kernel`,
        (error: { code: string }) => error.code,
      );
      assert.match(outcome, /^(damaged|loss|1 kernel)$/, `cut at ${length}`);
    }
  });
}

test('several streams one after the other are one content', async () => {
  const xz = fs.readFileSync(fixture('trace.json.xz'));
  const zst = fs.readFileSync(fixture('trace.json.zst'));
  const once = await contentOf(fixture('trace.json.xz'));
  assert.deepEqual(await contentOf(written(Buffer.concat([xz, xz, xz]))), Buffer.concat([once, once, once]));
  assert.deepEqual(await contentOf(written(Buffer.concat([zst, zst]))), Buffer.concat([once, once]));
  // Thousands of them: seams lie across what is read at a time.
  const many = Buffer.concat(Array.from({ length: 12_000 }, () => xz));
  assert.equal((await contentOf(written(many))).length, 12_000 * once.length);
});

test('an export in a folder of ranks may be packed in any way', async () => {
  const bytes = await makeDatabase(4096, database => fillExport(database, 5));
  const ranks = fs.mkdtempSync(path.join(folder, 'ranks-'));
  fs.writeFileSync(path.join(ranks, 'rank0.sqlite.gz'), gzipSync(bytes));
  fs.copyFileSync(fixture('trace.json.zst'), path.join(ranks, 'rank1.json.ZST'));
  fs.copyFileSync(fixture('trace.json.xz'), path.join(ranks, 'rank2.json.xz'));
  fs.writeFileSync(path.join(ranks, 'rank0.nsys-rep'), 'the export beside it is taken');
  const { capture } = await openProfile([ranks]);
  assert.deepEqual(capture.files, ['rank0.sqlite.gz', 'rank1.json.ZST', 'rank2.json.xz']);
  assert.equal(withoutPacking('a.tar'), 'a.tar');
});

test('what grows without end stops at the limit that gzip has', async () => {
  const zeros = fs.readFileSync(fixture('zeros.xz'));
  const bombs = {
    unzstd: written(zstdOfRepeats(2100, 131_071)),
    unxz: written(Buffer.concat(Array.from({ length: 65 }, () => zeros))),
  };
  for (const [unpacker, file] of Object.entries(bombs)) {
    const before = process.memoryUsage().rss;
    const opened = ProfileFile.open(file);
    let bytes = 0;
    await assert.rejects(
      async () => {
        for await (const chunk of opened.chunks()) bytes += chunk.length;
      },
      (error: Error & { code: string; hint: string }) =>
        error.code === 'too-large' && error.hint.includes(`(${unpacker})`),
    );
    opened.close();
    assert.ok(bytes > 200e6 && bytes <= 256 * 1024 * 1024, `${unpacker}: ${bytes} bytes`);
    assert.ok(process.memoryUsage().rss - before < 200e6, 'memory is bounded');
  }
});

test('a window of gigabytes is not made because a header asks for it', async () => {
  const asks = (descriptor: number) => openProfile([written(zstdOfRepeats(4, 1000, descriptor))]);
  await assert.rejects(asks(0xa8), { code: 'damaged' });
  await assert.rejects(asks(0x58), { code: 'not-a-profile' });
});

test('a later frame is looked at like the first: its window, and what to skip', async () => {
  const trace = fs.readFileSync(fixture('trace.json.zst'));
  const skipped = Buffer.concat([Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from('abc')]);
  const once = await contentOf(fixture('trace.json.zst'));
  assert.deepEqual(
    await contentOf(written(Buffer.concat([trace, skipped, trace]))),
    Buffer.concat([once, once]),
  );
  const wide = written(Buffer.concat([trace, zstdOfRepeats(4, 1000, 0xa8)]));
  await assert.rejects(contentOf(wide), /its window is larger than 128 MiB/);
});

test('a frame whose checksum is of another content is damaged', async () => {
  const packed = Buffer.from(fs.readFileSync(fixture('trace.json.zst')));
  assert.ok((packed[4] & 4) !== 0, 'the zstd program writes checksums');
  packed[packed.length - 1] ^= 0x40;
  await assert.rejects(contentOf(written(packed)), /its checksum does not match its content/);
});

test('XXH64 gives the values of its specification, however the bytes come', () => {
  const hex = (text: string, step = 1000) => {
    const hash = new XxHash64();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += step) hash.update(bytes.subarray(at, at + step));
    const { high, low } = hash.digest();
    return [high, low].map(half => half.toString(16).padStart(8, '0')).join('');
  };
  assert.equal(hex(''), 'ef46db3751d8e999');
  assert.equal(hex('a'), 'd24ec4f1a98c6e5b');
  assert.equal(hex('abc'), '44bc2cf5ad770999');
  const long = 'Call me Ishmael. Some years ago--never mind how long precisely-';
  assert.equal(hex(long), '02a2e85470d6fd96');
  for (const step of [1, 5, 31, 33]) assert.equal(hex(long, step), hex(long), `in pieces of ${step}`);
});

test('a Git LFS pointer is named as such, in a folder of ranks too', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345678\n`;
  const file = written(pointer, 'rank0.json.gz');
  for (const given of [file, path.dirname(file)])
    await assert.rejects(openProfile([given]), (error: Error & { code: string; hint: string }) => {
      assert.equal(error.code, 'not-found');
      assert.match(
        error.message,
        /rank0\.json\.gz is a Git LFS pointer; the file itself \(12\.3 MB\) is missing/,
      );
      assert.match(error.hint, /git lfs pull --include="rank0\.json\.gz"/);
      return true;
    });
});

test('- is standard input, for profiles and benchmarks', () => {
  const run = (verb: string, input: string, ...args: string[]) =>
    spawnSync(process.execPath, [path.join(projectRoot, 'bin/stepscope'), verb, '-', ...args], {
      input: fs.readFileSync(input),
      encoding: 'utf8',
    });
  const profile = run('stats', fixture('trace.json.zst'), '-r', 'cuda_gpu_kern_sum', '-f', 'csv');
  assert.match(profile.stdout, /packed_kernel/);
  const info = run('info', fixture('trace.json.xz'));
  assert.match(info.stdout, /file +standard input, 192 B/);
  const bench = run('bench', path.join(projectRoot, 'test/fixtures/bench/trtllm-0.18.txt'), '--csv');
  assert.match(bench.stdout, /trtllm-log/);
  const nothing = run('analyze', '/dev/null');
  assert.equal(nothing.status, 4);
  assert.match(nothing.stderr, /^stepscope: standard input is empty\.\n/);
});

test('redact and compare take a profile from a pipe', () => {
  const capture = (name: string) =>
    path.join(projectRoot, 'test/fixtures/captures', name, 'profile.sqlite.gz');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path.join(projectRoot, 'bin/stepscope'), ...args], {
      input: fs.readFileSync(capture('eager')),
      encoding: 'utf8',
    });
  const copy = path.join(folder, 'from-pipe.sqlite');
  assert.equal(run('redact', '-', '-o', copy).status, 0);
  assert.ok(fs.statSync(copy).size > 100_000);
  const compared = run('compare', '-', capture('graph'));
  assert.match(compared.stdout, /^ *standard input → profile · NVIDIA H200/, compared.stderr);
});
