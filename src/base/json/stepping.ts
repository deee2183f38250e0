/** Loops that step over values without looking into them. They stop at the quotes the cursor puts behind the end. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const STRING = 1;
const OPEN = 2;
const CLOSE = 3;

/** What a byte means inside a nested value. */
const structure = new Uint8Array(256);
structure[QUOTE] = STRING;
structure[0x7b] = OPEN; // {
structure[0x5b] = OPEN; // [
structure[0x7d] = CLOSE; // }
structure[0x5d] = CLOSE; // ]

/** Index after the closing quote; beyond the end when there is none before it. */
export function endOfString(bytes: Uint8Array, from: number): number {
  let i = from;
  while (bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Index after the bracket that closes the one at `from`; beyond the end when there is none before it. */
export function endOfNested(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0;
  let i = from;
  while (i <= end) {
    const meaning = structure[bytes[i++]];
    if (meaning === 0) continue;
    if (meaning === STRING) i = endOfString(bytes, i);
    else if (meaning === OPEN) depth++;
    else if (--depth === 0) return i;
  }
  return end + 1;
}

/** Numbers and other short words; longer than any of them is cut. */
export function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, Math.min(to, from + 400)));
}
