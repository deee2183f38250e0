/**
 * Walks JSON as bytes, value by value, without building anything. The caller says what it wants next; what it does
 * not want is stepped over. All of it is held against the standard on the way (see strict-value.ts).
 *
 * The bytes may stop in the middle of a value. Then `trouble` becomes `ranOut` and every further step does nothing:
 * the caller checks once per object, not once per step, and tries again when more bytes have come.
 */
import { parseDecimal } from './decimal.js';
import { StrictValue, Trouble } from './strict-value.js';

export { Trouble };

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

/** Bytes a string reader may pass without a thought. */
const plain = new Uint8Array(256).fill(1, SPACE, 0x80);
plain[QUOTE] = 0;
plain[BACKSLASH] = 0;

const white = new Uint8Array(256);
for (const byte of new TextEncoder().encode(' \n\r\t')) white[byte] = 1;

const powersOfTen = Float64Array.from({ length: 16 }, (_, power) => 10 ** power);

export class JsonCursor {
  /** What steps over whole values, and counts what is odd about them. */
  readonly strict = new StrictValue();
  bytes: Uint8Array = new Uint8Array(0);
  pos = 0;
  end = 0;
  trouble = 0;
  /** The last key or text, without its quotes, and whether it may hold escapes. */
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

  /**
   * Steps to the next key of the object we are in, and over its colon. False at the end of the object. The first key
   * follows the brace, every other one a comma; where the byte before is gone with the last window, both will do.
   */
  nextKey(): boolean {
    if (this.trouble !== 0) return false;
    const bytes = this.bytes;
    const end = this.end;
    let i = this.pos;
    const isFirst = i > 0 && bytes[i - 1] === OPEN_BRACE;
    while (white[bytes[i]] === 1) i++;
    if (bytes[i] === CLOSE_BRACE && i < end) {
      this.pos = i + 1;
      return false;
    }
    if (bytes[i] === COMMA && !isFirst) {
      i++;
      while (white[bytes[i]] === 1) i++;
    } else if (!isFirst && this.pos > 0) return this.fail(Trouble.malformed, i);
    if (bytes[i] !== QUOTE || i >= end) return this.fail(Trouble.malformed, i);
    this.textFrom = ++i;
    while (plain[bytes[i]] === 1) i++;
    i = bytes[i] === QUOTE ? i + 1 : this.strict.restOfText(bytes, i, end);
    if (i < 0) return this.fail(this.strict.trouble, this.strict.at);
    this.textTo = i - 1;
    while (white[bytes[i]] === 1) i++;
    if (bytes[i] !== COLON || i >= end) return this.fail(Trouble.malformed, i);
    i++;
    while (white[bytes[i]] === 1) i++;
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
    const { strict } = this;
    const after = strict.end(this.bytes, this.pos, this.end);
    if (after < 0) this.fail(strict.trouble, strict.at);
    else this.pos = after;
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
    while (plain[bytes[i]] === 1) i++;
    this.textEscaped = bytes[i] !== QUOTE;
    i = this.textEscaped ? this.strict.restOfText(bytes, i, end) : i + 1;
    if (i < 0) return this.fail(this.strict.trouble, this.strict.at);
    if (i > end) return this.fail(Trouble.ranOut, end);
    this.textTo = i - 1;
    this.pos = i;
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
    // No number begins with a zero that means nothing.
    if (digits > 1 && bytes[from] === ZERO) return this.readUnusualNumber();
    if (digits > 0 && bytes[i] === POINT) {
      const point = i++;
      while ((digit = bytes[i] - ZERO) >= 0 && digit <= 9) {
        value = value * 10 + digit;
        i++;
      }
      const places = i - point - 1;
      if (places === 0) return this.readUnusualNumber();
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
    if (unitDigits > 1 && bytes[from] === ZERO) return this.readUnusualDecimal();
    if (bytes[i] === POINT) {
      const point = i++;
      while ((digit = bytes[i] - ZERO) >= 0 && digit <= 9) {
        if (i - point <= 3) thousandths = thousandths * 10 + digit;
        i++;
      }
      const places = i - point - 1;
      if (places === 1) thousandths *= 100;
      else if (places === 2) thousandths *= 10;
      if (places > 3 || places === 0) return this.readUnusualDecimal();
    }
    // Sixteen digits, as microseconds since 1970 have, may be more than a double holds.
    const isExact = unitDigits <= 15 || (unitDigits === 16 && units <= Number.MAX_SAFE_INTEGER);
    if (unitDigits === 0 || !isExact || i >= end || endsWord[bytes[i]] === 0)
      return this.readUnusualDecimal();
    this.units = units;
    this.thousandths = thousandths;
    this.pos = i;
    return true;
  }

  private readUnusualNumber(): number {
    const text = this.wordOrText();
    const value = text === '' ? Number.NaN : Number(text);
    return Number.isFinite(value) ? value : Number.NaN;
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

  /** Nothing more can be read here. Always false. What is wrong at the very end may only be cut. */
  private fail(trouble: number, at: number): false {
    this.trouble = at >= this.end ? Trouble.ranOut : trouble;
    this.pos = Math.min(at, this.end);
    return false;
  }
}

/** Numbers and other short words; longer than any of them is cut. */
function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, Math.min(to, from + 400)));
}
