/** Text as JSON writes it, turned into plain UTF-8 bytes in a buffer that is used again and again. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LETTER_U = 0x75;
const REPLACEMENT = 0xfffd;
const escapes: Record<number, number> = {
  34: 34, // "
  47: 47, // /
  92: 92, // \
  98: 8, // b
  102: 12, // f
  110: 10, // n
  114: 13, // r
  116: 9, // t
};

export class JsonText {
  bytes = new Uint8Array(1024);
  length = 0;

  /** Undoes the escapes of a string's inside. Those the standard does not know are kept as written. */
  unescape(source: Uint8Array, from: number, to: number): void {
    // No escape is longer decoded than written, so the source's length is enough.
    this.start(to - from + 4);
    for (let i = from; i < to; i++) {
      const byte = source[i];
      if (byte !== BACKSLASH || i + 1 >= to) {
        this.bytes[this.length++] = byte;
        continue;
      }
      const letter = source[++i];
      const plain = escapes[letter];
      if (plain !== undefined) {
        this.bytes[this.length++] = plain;
        continue;
      }
      const unit = letter === LETTER_U ? hexUnit(source, i + 1, to) : -1;
      if (unit < 0) {
        this.bytes[this.length++] = BACKSLASH;
        this.bytes[this.length++] = letter;
        continue;
      }
      i += 4;
      let codePoint = unit;
      if (unit >= 0xd800 && unit < 0xe000) {
        const low =
          source[i + 1] === BACKSLASH && source[i + 2] === LETTER_U ? hexUnit(source, i + 3, to) : -1;
        if (unit < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
          codePoint = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        } else codePoint = REPLACEMENT;
      }
      this.pushCodePoint(codePoint);
    }
  }

  /** Drops white space outside strings, so that two writers' spacing gives one text. */
  compact(source: Uint8Array, from: number, to: number): void {
    this.start(to - from);
    let inString = false;
    for (let i = from; i < to; i++) {
      const byte = source[i];
      if (byte === QUOTE) inString = !inString;
      else if (!inString && byte <= SPACE) continue;
      this.bytes[this.length++] = byte;
      if (inString && byte === BACKSLASH && i + 1 < to) this.bytes[this.length++] = source[++i];
    }
  }

  private start(capacity: number): void {
    this.length = 0;
    if (this.bytes.length < capacity) this.bytes = new Uint8Array(Math.max(capacity, this.bytes.length * 2));
  }

  private pushCodePoint(code: number): void {
    if (code < 0x80) this.bytes[this.length++] = code;
    else if (code < 0x800) {
      this.bytes[this.length++] = 0xc0 | (code >> 6);
      this.bytes[this.length++] = 0x80 | (code & 0x3f);
    } else if (code < 0x10000) {
      this.bytes[this.length++] = 0xe0 | (code >> 12);
      this.bytes[this.length++] = 0x80 | ((code >> 6) & 0x3f);
      this.bytes[this.length++] = 0x80 | (code & 0x3f);
    } else {
      this.bytes[this.length++] = 0xf0 | (code >> 18);
      this.bytes[this.length++] = 0x80 | ((code >> 12) & 0x3f);
      this.bytes[this.length++] = 0x80 | ((code >> 6) & 0x3f);
      this.bytes[this.length++] = 0x80 | (code & 0x3f);
    }
  }
}

/** Four hexadecimal digits, or -1. */
function hexUnit(source: Uint8Array, from: number, to: number): number {
  if (from + 4 > to) return -1;
  let value = 0;
  for (let i = from; i < from + 4; i++) {
    const byte = source[i];
    const lower = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30;
    else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57;
    else return -1;
  }
  return value;
}
