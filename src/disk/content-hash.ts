/**
 * Names files by their content. Small files are hashed whole. Of a large one only its size and blocks spread evenly over
 * it are hashed, the first and the last included: reading gigabytes a second time would cost more than most answers.
 * A hash of that kind says so in its name. It tells files of different captures apart; it does not prove that no byte
 * between the blocks was changed.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';

export interface HashPlan {
  /** Files up to here are hashed whole. */
  readonly wholeBytes: number;
  readonly blockBytes: number;
  /** Blocks of a larger file. */
  readonly blocks: number;
}

/** 64 blocks of 64 KiB: about 5 ms, whatever the size of the file. */
const ofInputs: HashPlan = { wholeBytes: 4 << 20, blockBytes: 64 << 10, blocks: 64 };

interface HashedFile {
  readonly bytes: number;
  /** `sha256:` of the whole content, or `sampled-sha256:` of the size (as text and a line end) and the blocks. */
  readonly hash: string;
}

export function hashInput(file: string): HashedFile {
  const { size, whole, digest } = hashFile(file, ofInputs, !isSampled(file, ofInputs));
  return { bytes: size, hash: `${whole ? 'sha256' : 'sampled-sha256'}:${digest}` };
}

const isSampled = (file: string, { wholeBytes }: HashPlan) => fs.statSync(file).size > wholeBytes;

/** `plain`: of the content alone, as other programs compute it; otherwise the size comes first. */
export function hashFile(
  file: string,
  { wholeBytes, blockBytes, blocks }: HashPlan,
  plain = false,
): { readonly size: number; readonly whole: boolean; readonly digest: string } {
  const fd = fs.openSync(file, 'r');
  try {
    const { size } = fs.fstatSync(fd);
    const hash = createHash('sha256');
    if (!plain) hash.update(`${size}\n`);
    const block = new Uint8Array(blockBytes);
    const whole = size <= wholeBytes;
    const count = whole ? Math.ceil(size / blockBytes) : blocks;
    const step = whole ? blockBytes : (size - blockBytes) / (blocks - 1);
    for (let i = 0; i < count; i++)
      hash.update(block.subarray(0, fs.readSync(fd, block, 0, blockBytes, Math.floor(i * step))));
    return { size, whole, digest: hash.digest('hex') };
  } finally {
    fs.closeSync(fd);
  }
}
