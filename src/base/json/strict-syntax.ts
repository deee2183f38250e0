/**
 * Says whether bytes are JSON by the letter of RFC 8259, in whatever pieces they come. Importers read on past damage and
 * count it; whoever must not miss a byte asks here instead.
 */
const S = {
  value: 0,
  firstElement: 1,
  firstKey: 2,
  key: 3,
  colon: 4,
  after: 5,
  string: 6,
  escape: 7,
  hex: 8,
  minus: 9,
  zero: 10,
  integer: 11,
  point: 12,
  fraction: 13,
  exponent: 14,
  exponentSign: 15,
  exponentDigits: 16,
  literal: 17,
  done: 18,
} as const;
const OBJECT = 1;
const ARRAY = 2;
const MAX_DEPTH = 10_000;
const literals = ['true', 'false', 'null'].map(word => Buffer.from(word));
const escapes = new Set(Buffer.from('"\\/bfnrt'));
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isHex = (byte: number): boolean =>
  isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
/** States in which a number may end. */
const endsNumber = (state: number): boolean =>
  state === S.zero || state === S.integer || state === S.fraction || state === S.exponentDigits;

export class StrictSyntax {
  private state: number = S.value;
  private readonly containers: number[] = [];
  private isKey = false;
  private literal = literals[0];
  /** Bytes of the literal or hexadecimal digits of the escape seen so far. */
  private seen = 0;
  private position = 0;

  /** False as soon as the bytes cannot be the beginning of JSON any more. */
  push(bytes: Uint8Array): boolean {
    for (let i = 0; i < bytes.length; i++) {
      if (this.state === S.string) {
        // Most bytes of a trace: up to the next sign that means something.
        while (i < bytes.length && bytes[i] !== 0x22 && bytes[i] !== 0x5c && bytes[i] >= 0x20) i++;
        if (i === bytes.length) break;
      }
      const byte = bytes[i];
      if (this.position + i < 3 && byte === BYTE_ORDER_MARK[this.position + i]) continue;
      if (!this.take(byte)) return false;
    }
    this.position += bytes.length;
    return true;
  }

  /** Whether what came was one whole value. */
  finish(): boolean {
    return this.state === S.done || (this.containers.length === 0 && endsNumber(this.state));
  }

  private take(byte: number): boolean {
    switch (this.state) {
      case S.string:
        if (byte === 0x22) this.state = this.isKey ? S.colon : this.afterValue();
        else if (byte === 0x5c) this.state = S.escape;
        else return false;
        return true;
      case S.escape:
        this.seen = 0;
        this.state = byte === 0x75 ? S.hex : S.string;
        return byte === 0x75 || escapes.has(byte);
      case S.hex:
        if (++this.seen === 4) this.state = S.string;
        return isHex(byte);
      case S.literal:
        if (byte !== this.literal[this.seen++]) return false;
        if (this.seen === this.literal.length) this.state = this.afterValue();
        return true;
    }
    if (this.state >= S.minus && this.state <= S.exponentDigits) {
      if (this.takeOfNumber(byte)) return true;
      if (!endsNumber(this.state)) return false;
      this.state = this.afterValue();
    }
    return isSpace(byte) || this.takeSign(byte);
  }

  private takeOfNumber(byte: number): boolean {
    const { state } = this;
    if (isDigit(byte)) {
      if (state === S.zero) return false;
      if (state === S.minus) this.state = byte === 0x30 ? S.zero : S.integer;
      else if (state === S.point) this.state = S.fraction;
      else if (state === S.exponent || state === S.exponentSign) this.state = S.exponentDigits;
      return true;
    }
    if (byte === 0x2e && (state === S.zero || state === S.integer)) this.state = S.point;
    else if ((byte | 0x20) === 0x65 && endsNumber(state) && state !== S.exponentDigits)
      this.state = S.exponent;
    else if ((byte === 0x2b || byte === 0x2d) && state === S.exponent) this.state = S.exponentSign;
    else return false;
    return true;
  }

  private takeSign(byte: number): boolean {
    const { state, containers } = this;
    if (state === S.value || state === S.firstElement) {
      if (byte === 0x5d && state === S.firstElement) return this.close();
      return this.beginValue(byte);
    }
    if (state === S.key || state === S.firstKey) {
      if (byte === 0x7d && state === S.firstKey) return this.close();
      this.isKey = true;
      this.state = S.string;
      return byte === 0x22;
    }
    if (state === S.colon) {
      this.state = S.value;
      return byte === 0x3a;
    }
    if (state !== S.after) return false;
    const container = containers[containers.length - 1];
    if (byte === 0x2c) {
      this.state = container === OBJECT ? S.key : S.value;
      return true;
    }
    return byte === (container === OBJECT ? 0x7d : 0x5d) && this.close();
  }

  private beginValue(byte: number): boolean {
    if (byte === 0x22) {
      this.isKey = false;
      this.state = S.string;
    } else if (byte === 0x7b || byte === 0x5b) {
      this.containers.push(byte === 0x7b ? OBJECT : ARRAY);
      this.state = byte === 0x7b ? S.firstKey : S.firstElement;
      return this.containers.length <= MAX_DEPTH;
    } else if (byte === 0x2d) this.state = S.minus;
    else if (byte === 0x30) this.state = S.zero;
    else if (isDigit(byte)) this.state = S.integer;
    else {
      const literal = literals.find(word => word[0] === byte);
      if (!literal) return false;
      this.literal = literal;
      this.seen = 1;
      this.state = S.literal;
    }
    return true;
  }

  private close(): boolean {
    this.containers.pop();
    this.state = this.afterValue();
    return true;
  }

  private afterValue(): number {
    return this.containers.length === 0 ? S.done : S.after;
  }
}
