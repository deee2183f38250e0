/**
 * Finds the end of a JSON value by the letter of the standard (RFC 8259), byte by byte and without building anything.
 * What it passes may be read by loops that look at much less. Nesting is kept on a stack of our own, so depth costs
 * nothing.
 *
 * Two things that real writers get wrong are counted instead of refused: bare NaN and infinity (Python, C), and texts
 * with raw control characters or unknown escapes. A NUL is never written by anybody: it is a hole in the file.
 */

/** Why nothing more can be read: the bytes end in the middle of a value, or are no JSON. */
export const Trouble = { none: 0, ranOut: 1, malformed: 2 } as const;

// Written out here, not imported: an imported constant is loaded anew at every use (see json-cursor.ts).
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const SPACE = 0x20;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NUL = 0;

/** Bytes inside a string that need no thought. */
const plain = new Uint8Array(256).fill(1).fill(0, 0, SPACE);
plain[QUOTE] = 0;
plain[BACKSLASH] = 0;
plain.fill(0, 0x80);

const white = new Uint8Array(256);
for (const byte of [0x20, 0x0a, 0x0d, 0x09]) white[byte] = 1;

const escapes = new Uint8Array(256);
for (const byte of new TextEncoder().encode('"\\/bfnrt')) escapes[byte] = 1;

const wordByte = new Uint8Array(256);
for (const byte of new TextEncoder().encode(
  '+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
))
  wordByte[byte] = 1;
const MAX_WORD = 32;
const notANumber = /^[+-]?(?:nan|inf(?:inity)?)$/i;

export class StrictValue {
  trouble = 0;
  /** Where what is no JSON was met. */
  at = 0;
  /** Texts with raw control characters or unknown escapes, counted until they are asked for. */
  badTexts = 0;
  /** Bare NaN and infinity. */
  badNumbers = 0;
  /** There were bytes beyond ASCII, which may or may not be UTF-8. */
  beyondAscii = false;
  /** Where the last key's closing quote is. */
  keyEnd = 0;
  private stack: Uint8Array = new Uint8Array(64);

  /** Begins to count anew. */
  clear(): void {
    this.badTexts = 0;
    this.badNumbers = 0;
    this.beyondAscii = false;
  }

  /**
   * Index behind the value that begins at `from`, or -1: then `trouble` says why. Like the cursor's, the bytes must
   * have room for quotes behind their end, and have them there.
   */
  end(bytes: Uint8Array, from: number, end: number): number {
    this.trouble = Trouble.none;
    let { stack } = this;
    let depth = 0;
    let i = from;
    for (;;) {
      // A value begins here.
      while (white[bytes[i]] === 1) i++;
      const first = bytes[i];
      if (first === QUOTE) {
        i++;
        while (plain[bytes[i]] === 1) i++;
        i = bytes[i] === QUOTE ? i + 1 : this.restOfText(bytes, i, end);
        if (i < 0) return -1;
      } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
        if (depth === stack.length) stack = this.deeper();
        stack[depth++] = first;
        i++;
        while (white[bytes[i]] === 1) i++;
        if (bytes[i] === first + 2) {
          depth--;
          i++;
        } else if (first === OPEN_BRACE) {
          i = this.key(bytes, i, end);
          if (i < 0) return -1;
          continue;
        } else continue;
      } else {
        const after = first === MINUS || (first >= ZERO && first <= 0x39) ? number(bytes, i) : -1;
        // A number at the end of the bytes may go on.
        if (after >= end) return this.fail(Trouble.ranOut, end);
        i = after > 0 ? after : this.word(bytes, i, end);
        if (i < 0) return -1;
      }
      // A value ended here: close what ends with it, up to the next value.
      for (;;) {
        if (depth === 0) return i <= end ? i : this.fail(Trouble.ranOut, end);
        while (white[bytes[i]] === 1) i++;
        const byte = bytes[i];
        if (byte === COMMA) {
          i++;
          if (stack[depth - 1] === OPEN_BRACE) {
            while (white[bytes[i]] === 1) i++;
            i = this.key(bytes, i, end);
            if (i < 0) return -1;
          }
          break;
        }
        if ((byte !== CLOSE_BRACE && byte !== CLOSE_BRACKET) || stack[depth - 1] !== byte - 2)
          return this.fail(i >= end ? Trouble.ranOut : Trouble.malformed, i);
        depth--;
        i++;
      }
    }
  }

  /** Index behind the key at `i` and its colon; -1 where there is none. */
  key(bytes: Uint8Array, i: number, end: number): number {
    if (bytes[i] !== QUOTE || i >= end) return this.fail(i >= end ? Trouble.ranOut : Trouble.malformed, i);
    let at = i + 1;
    while (plain[bytes[at]] === 1) at++;
    at = bytes[at] === QUOTE ? at + 1 : this.restOfText(bytes, at, end);
    if (at < 0) return -1;
    this.keyEnd = at - 1;
    while (white[bytes[at]] === 1) at++;
    if (bytes[at] !== COLON || at >= end)
      return this.fail(at >= end ? Trouble.ranOut : Trouble.malformed, at);
    return at + 1;
  }

  /** From the first byte of a text that is not plain to behind its closing quote. */
  restOfText(bytes: Uint8Array, from: number, end: number): number {
    let i = from;
    let bad = false;
    for (;;) {
      while (plain[bytes[i]] === 1) i++;
      if (i >= end) return this.fail(Trouble.ranOut, end);
      const byte = bytes[i];
      if (byte === QUOTE) break;
      if (byte === NUL) return this.fail(Trouble.malformed, i);
      if (byte >= 0x80) {
        this.beyondAscii = true;
        i++;
      } else if (byte !== BACKSLASH) {
        bad = true;
        i++;
      } else if (escapes[bytes[i + 1]] === 1) i += 2;
      else {
        if (bytes[i + 1] !== LETTER_U || !fourHex(bytes, i + 2)) bad = true;
        // An unknown escape is one letter, and must not hide a quote or a hole.
        i += bytes[i + 1] === NUL ? 1 : 2;
      }
    }
    if (bad) this.badTexts++;
    return i + 1;
  }

  /** true, false, null, or what stands for a number that is none. */
  private word(bytes: Uint8Array, from: number, end: number): number {
    let i = from;
    while (wordByte[bytes[i]] === 1 && i - from < MAX_WORD) i++;
    if (i >= end) return this.fail(Trouble.ranOut, end);
    const word = String.fromCharCode(...bytes.subarray(from, i));
    if (word === 'true' || word === 'false' || word === 'null') return i;
    if (!notANumber.test(word)) return this.fail(Trouble.malformed, from);
    this.badNumbers++;
    return i;
  }

  private deeper(): Uint8Array {
    const larger = new Uint8Array(this.stack.length * 2);
    larger.set(this.stack);
    this.stack = larger;
    return larger;
  }

  private fail(trouble: number, at: number): -1 {
    this.trouble = trouble;
    this.at = at;
    return -1;
  }
}

/** Index behind a number as the standard has it; -1 for anything else. */
function number(bytes: Uint8Array, from: number): number {
  let i = from;
  if (bytes[i] === MINUS) i++;
  if (bytes[i] === ZERO) i++;
  else {
    const digits = i;
    while (bytes[i] >= ZERO && bytes[i] <= 0x39) i++;
    if (i === digits) return -1;
  }
  if (bytes[i] === POINT) {
    const digits = ++i;
    while (bytes[i] >= ZERO && bytes[i] <= 0x39) i++;
    if (i === digits) return -1;
  }
  if ((bytes[i] | 0x20) === 0x65) {
    i++;
    if (bytes[i] === MINUS || bytes[i] === PLUS) i++;
    const digits = i;
    while (bytes[i] >= ZERO && bytes[i] <= 0x39) i++;
    if (i === digits) return -1;
  }
  return wordByte[bytes[i]] === 1 ? -1 : i;
}

function fourHex(bytes: Uint8Array, from: number): boolean {
  for (let i = from; i < from + 4; i++) {
    const lower = bytes[i] | 0x20;
    if (!((bytes[i] >= ZERO && bytes[i] <= 0x39) || (lower >= 0x61 && lower <= 0x66))) return false;
  }
  return true;
}
