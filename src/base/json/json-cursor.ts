/**
 * Walks JSON as bytes, value by value, without building anything. The caller says what it wants next; what it does
 * not want is stepped over. Nesting is counted, never recursed into, so depth costs nothing.
 *
 * The bytes may stop in the middle of a value. Then `trouble` becomes `ranOut` and every further step does nothing:
 * the caller checks once per object, not once per step, and tries again when more bytes have come.
 */
import { parseDecimal } from './decimal.js';
import { ascii, endOfNested, endOfString } from './stepping.js';

export const Trouble = { none: 0, ranOut: 1, malformed: 2 } as const;

// Written out here, not imported: an imported constant is loaded anew at every use, which costs a fifth of the speed.
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes at which a number or a word (true, null, NaN) is over. */
const endsWord = new Uint8Array(256);
for (const byte of new TextEncoder().encode(',}]:"{[ \n\r\t')) endsWord[byte] = 1;

/** Bytes a string reader may pass without a thought: no quote, no backslash. */
const ordinary = new Uint8Array(256).fill(1);
ordinary[QUOTE] = 0;
ordinary[BACKSLASH] = 0;

const powersOfTen = Float64Array.from({ length: 16 }, (_, power) => 10 ** power);

export class JsonCursor {
  bytes: Uint8Array = new Uint8Array(0);
  pos = 0;
  end = 0;
  trouble = 0;
  /** The last key or text, without its quotes, and whether it holds escapes. */
  textFrom = 0;
  textTo = 0;
  textEscaped = false;
  /** The last decimal, split so that neither half loses digits: units and thousandths. */
  units = 0;
  thousandths = 0;
  /** Decimals that had more than three fractional digits, or an exponent. */
  roundedDecimals = 0;
  exponentDecimals = 0;

  /**
   * Sets out at `pos`. Two quotes are put behind the end, so `bytes` must have room for them: every loop stops at a
   * quote, and need not ask at each byte whether the end has come.
   */
  reset(bytes: Uint8Array, pos: number, end: number): void {
    if (end + 2 > bytes.length) throw new Error('no room for the quotes behind the end');
    bytes[end] = QUOTE;
    bytes[end + 1] = QUOTE;
    this.bytes = bytes;
    this.pos = pos;
    this.end = end;
    this.trouble = 0;
  }

  /** Steps to the next key of the object we are in, and over its colon. False at the end of the object. */
  nextKey(): boolean {
    if (this.trouble !== 0) return false;
    const bytes = this.bytes;
    const end = this.end;
    let i = this.pos;
    while (bytes[i] !== QUOTE) {
      const byte = bytes[i];
      if (byte === CLOSE_BRACE) {
        this.pos = i + 1;
        return false;
      }
      if (byte > SPACE && byte !== COMMA) return this.fail(Trouble.malformed, i);
      i++;
    }
    if (i >= end) return this.fail(Trouble.ranOut, end);
    this.textFrom = ++i;
    while (bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
    if (i >= end) return this.fail(Trouble.ranOut, end);
    this.textTo = i++;
    while (bytes[i] <= SPACE) i++;
    if (i >= end) return this.fail(Trouble.ranOut, end);
    if (bytes[i++] !== COLON) return this.fail(Trouble.malformed, i - 1);
    while (bytes[i] <= SPACE) i++;
    if (i >= end) return this.fail(Trouble.ranOut, end);
    this.pos = i;
    return true;
  }

  /** Enters an object. False, and stepped over, when the value is something else. */
  enterObject(): boolean {
    if (this.bytes[this.pos] === OPEN_BRACE) {
      this.pos++;
      return true;
    }
    this.skipValue();
    return false;
  }

  skipValue(): void {
    const bytes = this.bytes;
    const end = this.end;
    let i = this.pos;
    const first = bytes[i];
    if (first === QUOTE) i = endOfString(bytes, i + 1);
    else if (first === OPEN_BRACE || first === OPEN_BRACKET) i = endOfNested(bytes, i, end);
    else {
      while (endsWord[bytes[i]] === 0) i++;
      if (i === this.pos) {
        this.fail(Trouble.malformed, i);
        return;
      }
      // The end of the bytes may be the middle of the word.
      if (i === end) i++;
    }
    if (i > end) this.fail(Trouble.ranOut, end);
    else this.pos = i;
  }

  /** Reads a string. False, and stepped over, when the value is something else. */
  readText(): boolean {
    const bytes = this.bytes;
    const end = this.end;
    let i = this.pos;
    if (bytes[i] !== QUOTE) {
      this.skipValue();
      return false;
    }
    this.textFrom = ++i;
    this.textEscaped = false;
    while (true) {
      while (ordinary[bytes[i]] === 1) i++;
      if (i >= end) return this.fail(Trouble.ranOut, end);
      if (bytes[i] === QUOTE) break;
      this.textEscaped = true;
      i += 2;
    }
    this.textTo = i;
    this.pos = i + 1;
    return true;
  }

  /** Reads a number, plain or quoted (ROCm quotes many). NaN when the value is something else. */
  readNumber(): number {
    const bytes = this.bytes;
    const end = this.end;
    let i = this.pos;
    const negative = bytes[i] === MINUS;
    if (negative) i++;
    const from = i;
    let value = 0;
    let digit = 0;
    while ((digit = bytes[i] - ZERO) >= 0 && digit <= 9) {
      value = value * 10 + digit;
      i++;
    }
    let digits = i - from;
    if (digits > 0 && bytes[i] === POINT) {
      const point = i++;
      while ((digit = bytes[i] - ZERO) >= 0 && digit <= 9) {
        value = value * 10 + digit;
        i++;
      }
      const places = i - point - 1;
      digits += places;
      // Up to 15 digits both sides are exact, and one division of exact numbers rounds as the standard wants.
      if (digits <= 15) value /= powersOfTen[places];
    }
    if (digits === 0 || digits > 15 || i >= end || endsWord[bytes[i]] === 0) return this.readUnusualNumber();
    this.pos = i;
    return negative ? -value : value;
  }

  /** Reads a decimal into `units` and `thousandths`, digit by digit: a double cannot hold both. */
  readDecimal(): boolean {
    const bytes = this.bytes;
    const end = this.end;
    let i = this.pos;
    const from = i;
    let units = 0;
    let thousandths = 0;
    let digit = 0;
    while ((digit = bytes[i] - ZERO) >= 0 && digit <= 9) {
      units = units * 10 + digit;
      i++;
    }
    const unitDigits = i - from;
    if (bytes[i] === POINT) {
      const point = i++;
      while ((digit = bytes[i] - ZERO) >= 0 && digit <= 9) {
        if (i - point <= 3) thousandths = thousandths * 10 + digit;
        i++;
      }
      const places = i - point - 1;
      if (places === 1) thousandths *= 100;
      else if (places === 2) thousandths *= 10;
      if (places > 3) return this.readUnusualDecimal();
    }
    if (unitDigits === 0 || unitDigits > 15 || i >= end || endsWord[bytes[i]] === 0)
      return this.readUnusualDecimal();
    this.units = units;
    this.thousandths = thousandths;
    this.pos = i;
    return true;
  }

  private readUnusualNumber(): number {
    const text = this.wordOrText();
    return text === '' ? Number.NaN : Number(text);
  }

  private readUnusualDecimal(): boolean {
    const text = this.wordOrText();
    const parsed = parseDecimal(text);
    if (!parsed) return false;
    this.units = parsed.units;
    this.thousandths = parsed.thousandths;
    if (parsed.rounded) this.roundedDecimals++;
    if (parsed.exponent) this.exponentDecimals++;
    return true;
  }

  /** A scalar as text, quoted or not; empty for null, nested values and when the bytes ran out. */
  private wordOrText(): string {
    const from = this.pos;
    const first = this.bytes[from];
    if (first === QUOTE) {
      return this.readText() ? ascii(this.bytes, this.textFrom, this.textTo).trim() : '';
    }
    this.skipValue();
    if (this.trouble !== 0 || first === OPEN_BRACE || first === OPEN_BRACKET) return '';
    const word = ascii(this.bytes, from, this.pos);
    return word === 'null' ? '' : word;
  }

  /** Nothing more can be read here. Always false. */
  fail(trouble: number, at: number): false {
    this.trouble = trouble;
    this.pos = at;
    return false;
  }
}
