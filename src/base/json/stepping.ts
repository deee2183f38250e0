/** Steps over a text without looking into it. Stops at the quotes the cursor puts behind the end. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Index after the closing quote; beyond the end when there is none before it. */
export function endOfString(bytes: Uint8Array, from: number): number {
  let i = from;
  while (bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}
