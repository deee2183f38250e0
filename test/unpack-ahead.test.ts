/** What another thread unpacks is what this one would have: the same bytes, and the same end where a file is cut off. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { packingOf } from '../src/import/unpack/packings.js';
import { BLOCK_BYTES, unpackAhead } from '../src/import/unpack/unpack-ahead.js';
import { type UnpackedPiece, unpackFile } from '../src/import/unpack/unpack-file.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-unpack-'));
after(() => rmSync(folder, { recursive: true }));

const PIECE_BYTES = 1 << 16;

/** More than all blocks hold, so that each is filled again, and no whole number of them. */
function text(): Buffer {
  const lines = Array.from({ length: 700_000 }, (_, i) => `line ${i * 7919}\n`);
  const bytes = Buffer.from(lines.join(''));
  assert.ok(bytes.length > 6 * BLOCK_BYTES && bytes.length % BLOCK_BYTES !== 0);
  return bytes;
}

async function collected(pieces: AsyncIterable<UnpackedPiece>) {
  const parts: Buffer[] = [];
  let readBytes = 0;
  try {
    for await (const piece of pieces) {
      parts.push(Buffer.from(piece.bytes));
      readBytes = piece.readBytes;
    }
  } catch (error) {
    return { bytes: Buffer.concat(parts), failed: (error as Error).message };
  }
  return { bytes: Buffer.concat(parts), readBytes };
}

async function bothWays(packed: Uint8Array) {
  const file = path.join(folder, 'packed');
  writeFileSync(file, packed);
  const fd = openSync(file, 'r');
  const packing = packingOf(packed)!;
  const here = await collected(unpackFile(fd, packing, PIECE_BYTES));
  const there = await collected(unpackAhead(fd, packing, PIECE_BYTES));
  closeSync(fd);
  return { here, there };
}

test('a whole file, in several members', async () => {
  const plain = text();
  const packed = Buffer.concat([gzipSync(plain.subarray(0, 3_000_000)), gzipSync(plain.subarray(3_000_000))]);
  const { here, there } = await bothWays(packed);
  assert.ok(there.bytes.equals(plain));
  assert.ok(here.bytes.equals(plain));
  assert.equal(there.readBytes, packed.length);
  assert.equal(there.failed, undefined);
});

test('a file that is cut off or damaged ends at the same byte, with the same words', async () => {
  const packed = gzipSync(text());
  const flipped = Buffer.from(packed);
  flipped[flipped.length >> 1] ^= 0x55;
  for (const broken of [packed.subarray(0, packed.length >> 2), packed.subarray(0, -3), flipped]) {
    const { here, there } = await bothWays(broken);
    assert.ok(here.failed);
    assert.equal(there.failed, here.failed);
    assert.equal(there.bytes.length, here.bytes.length);
    assert.ok(there.bytes.equals(here.bytes));
  }
});

test('a reader that stops early leaves no thread behind', async () => {
  const file = path.join(folder, 'early');
  writeFileSync(file, gzipSync(text()));
  const fd = openSync(file, 'r');
  const pieces = unpackAhead(fd, packingOf(gzipSync(''))!, PIECE_BYTES);
  const { value } = await pieces.next();
  assert.equal(value?.bytes.length, BLOCK_BYTES);
  assert.deepEqual(await pieces.return(undefined), { done: true, value: undefined });
  closeSync(fd);
});
