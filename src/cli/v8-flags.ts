/**
 * How V8 runs our commands; set before anything else is loaded.
 *
 * V8 compiles a function again once it has run often enough. Our analyses are many functions that run once per file:
 * compiling them all took a third of the CPU time of a small file, more than it gained. What counts as often is told by
 * other flags from version 12 on (Node 22), and V8 prints an error about a flag that it does not know. For a large file
 * it gains more than it takes, and the usual numbers are right. But each of our loops over millions of rows is a function
 * of its own that runs once or twice: what V8 puts into it besides costs more to compile than it saves, a twentieth of the
 * CPU time of a large export and a twelfth of that of a large trace.
 *
 * Functions that have not run for a while lose their code; it stays, to be kept for the next call (`load-bundle.ts`).
 */
import * as fs from 'node:fs';

export function v8Flags(version: string, readsMuch: boolean): readonly string[] {
  switch (Number.parseInt(version, 10)) {
    case 11:
      return readsMuch ? [KEEP_CODE, ...INLINE_LITTLE] : [KEEP_CODE, '--interrupt-budget=600000'];
    case 12:
    case 13:
      if (readsMuch) return [KEEP_CODE];
      return [KEEP_CODE, '--invocation-count-for-maglev=3200', '--invocation-count-for-turbofan=24000'];
    default:
      return [];
  }
}

const KEEP_CODE = '--no-flush-bytecode';
/** Bytes of functions that are put into another one: of each, and of all together. */
const INLINE_LITTLE = ['--max-inlined-bytecode-size=100', '--max-inlined-bytecode-size-cumulative=200'];

const MUCH_BYTES = 64 * 1024 * 1024;
const PACKED = /\.(?:gz|zst|xz)$/;
/** About what a packed trace unpacks to. */
const PACKED_RATIO = 12;

/** Whether the files that are named here are large, as far as their sizes say. A folder holds many. */
export function readsMuch(words: readonly string[]): boolean {
  const bytes = words.map(word => {
    if (word.startsWith('-')) return 0;
    const { size, isFolder } = entryAt(word);
    return isFolder ? MUCH_BYTES : size * (PACKED.test(word) ? PACKED_RATIO : 1);
  });
  return bytes.reduce((sum, size) => sum + size, 0) >= MUCH_BYTES;
}

/** Most words are no paths, and not all could be one: a question in SQL is too long for a name. */
function entryAt(word: string): { readonly size: number; readonly isFolder: boolean } {
  try {
    const stat = fs.statSync(word);
    return { size: stat.size, isFolder: stat.isDirectory() };
  } catch {
    return { size: 0, isFolder: false };
  }
}
