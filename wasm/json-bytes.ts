/**
 * JSON as bytes: steps over values by the letter of the standard, finds the ends of texts 16 bytes at a time, reads plain
 * numbers. What is odd (escapes beyond one letter, bytes beyond ASCII, words that are no JSON, long numbers) is refused
 * with -1, and so is what goes on behind `end`. Behind that are two quotes and, at the end of the memory, zeros: at one
 * of them every loop stops.
 */
import { ANY, addHole } from './holes';

const QUOTE: i32 = 0x22;
const COMMA: i32 = 0x2c;
const MINUS: i32 = 0x2d;
const POINT: i32 = 0x2e;
const ZERO: i32 = 0x30;
const COLON: i32 = 0x3a;
const OPEN_BRACKET: i32 = 0x5b;
const BACKSLASH: i32 = 0x5c;
const OPEN_BRACE: i32 = 0x7b;
const CLOSE_BRACE: i32 = 0x7d;
const MAX_DEPTH: i32 = 60;
const MAX_DIGITS: i32 = 15;

/** The largest whole number up to which a double holds all. */
const MAX_EXACT: i64 = (1 << 53) - 1;

/** Whether the text that was read last has escapes. */
export let escaped: i32 = 0;
/** The number or decimal that was read last. */
export let number: f64 = 0;
export let units: f64 = 0;
export let thousandths: i32 = 0;

/** A number as `number`. Signs, fractions and up to 15 digits, in which all of it is exact. */
export function readNumber(i: i32, end: i32): i32 {
  const negative = load<u8>(i) === MINUS;
  if (negative) i++;
  const from = i;
  let value: i64 = 0;
  let digit = <i32>load<u8>(i) - ZERO;
  while (<u32>digit <= 9) {
    value = value * 10 + digit;
    digit = <i32>load<u8>(++i) - ZERO;
  }
  let digits = i - from;
  if (digits === 0 || (digits > 1 && load<u8>(from) === ZERO)) return -1;
  let places = 0;
  if (load<u8>(i) === POINT) {
    const point = i;
    digit = <i32>load<u8>(++i) - ZERO;
    while (<u32>digit <= 9) {
      value = value * 10 + digit;
      digit = <i32>load<u8>(++i) - ZERO;
    }
    places = i - point - 1;
    if (places === 0) return -1;
    digits += places;
  }
  if (digits > MAX_DIGITS || i >= end || !endsNumber(i)) return -1;
  number = places === 0 ? <f64>value : <f64>value / powerOfTen(places);
  if (negative) number = -number;
  return i;
}

/** A decimal of at most 16 digits and three behind the point, as `units` and `thousandths`. */
export function readDecimal(i: i32, end: i32): i32 {
  const from = i;
  let whole: i64 = 0;
  let digit = <i32>load<u8>(i) - ZERO;
  while (<u32>digit <= 9) {
    whole = whole * 10 + digit;
    digit = <i32>load<u8>(++i) - ZERO;
  }
  const digits = i - from;
  if (digits === 0 || (digits > 1 && load<u8>(from) === ZERO)) return -1;
  if (digits > MAX_DIGITS && (digits > MAX_DIGITS + 1 || whole > MAX_EXACT)) return -1;
  let fraction = 0;
  if (load<u8>(i) === POINT) {
    const point = i;
    digit = <i32>load<u8>(++i) - ZERO;
    while (<u32>digit <= 9) {
      fraction = fraction * 10 + digit;
      digit = <i32>load<u8>(++i) - ZERO;
    }
    const places = i - point - 1;
    if (places === 0 || places > 3) return -1;
    if (places === 1) fraction *= 100;
    else if (places === 2) fraction *= 10;
  }
  if (i >= end || !endsNumber(i)) return -1;
  units = <f64>whole;
  thousandths = fraction;
  return i;
}

/** Exact up to 10^22. */
function powerOfTen(power: i32): f64 {
  let value: f64 = 1;
  for (let i = 0; i < power; i++) value *= 10;
  return value;
}

function endsNumber(i: i32): bool {
  const byte: i32 = load<u8>(i);
  return byte === COMMA || byte === CLOSE_BRACE || isSpace(byte);
}

/**
 * Index behind a value that begins here, or behind the object whose member ended here (`inside` 1). By the letter of the
 * standard; what is odd about texts, numbers and words is for the other reader. Numbers in objects down to `deepest` are
 * holes.
 */
export function skip(start: i32, end: i32, inside: i32, deepest: i32): i32 {
  let i = start;
  let depth = inside;
  /** Bit by bit: 1 for an object, 0 for a list. */
  let kinds: u64 = inside;
  let isValue = inside === 0;
  while (true) {
    if (isValue) {
      i = pastSpace(i);
      if (i >= end) return -1;
      const first: i32 = load<u8>(i);
      if (first === QUOTE) {
        i = textEnd(i + 1);
        if (i < 0) return -1;
        i++;
      } else if (first === OPEN_BRACKET || first === OPEN_BRACE) {
        i = pastSpace(i + 1);
        if (load<u8>(i) === first + 2) i++;
        else {
          if (depth === MAX_DEPTH) return -1;
          depth++;
          kinds = (kinds << 1) | <u64>(first === OPEN_BRACE);
          if (first === OPEN_BRACE) {
            i = pastKey(i);
            if (i < 0) return -1;
          }
          continue;
        }
      } else {
        const from = i;
        const isNumber = <u32>(first - ZERO) <= 9 || first === MINUS;
        i = isNumber ? pastNumber(i) : pastWord(i);
        if (i < 0) return -1;
        if (isNumber && depth <= deepest && (depth === 0 || kinds & 1)) addHole(from, i, ANY);
      }
      if (depth === 0) return i <= end ? i : -1;
    }
    i = pastSpace(i);
    if (i >= end) return -1;
    const byte: i32 = load<u8>(i);
    const isObject = <i32>(kinds & 1);
    if (byte === COMMA) {
      i++;
      if (isObject) {
        i = pastKey(pastSpace(i));
        if (i < 0) return -1;
      }
      isValue = true;
    } else {
      if (byte !== (isObject ? CLOSE_BRACE : OPEN_BRACKET + 2)) return -1;
      i++;
      kinds >>= 1;
      if (--depth === 0) return i;
      isValue = false;
    }
  }
}

/** Index behind the key that begins here, and its colon. */
function pastKey(i: i32): i32 {
  if (load<u8>(i) !== QUOTE) return -1;
  const to = textEnd(i + 1);
  return to < 0 ? -1 : pastColon(to + 1);
}

export function pastColon(i: i32): i32 {
  i = pastSpace(i);
  return load<u8>(i) === COLON ? pastSpace(i + 1) : -1;
}

export function pastNumber(i: i32): i32 {
  if (load<u8>(i) === MINUS) i++;
  if (load<u8>(i) === ZERO) i++;
  else {
    const from = i;
    i = pastDigits(i);
    if (i === from) return -1;
  }
  if (load<u8>(i) === POINT) {
    const from = ++i;
    i = pastDigits(i);
    if (i === from) return -1;
  }
  if ((load<u8>(i) | 0x20) === 0x65) {
    i++;
    const sign: i32 = load<u8>(i);
    if (sign === MINUS || sign === 0x2b) i++;
    const from = i;
    i = pastDigits(i);
    if (i === from) return -1;
  }
  return isWordByte(load<u8>(i)) ? -1 : i;
}

function pastDigits(i: i32): i32 {
  while (<u32>(<i32>load<u8>(i) - ZERO) <= 9) i++;
  return i;
}

/** true, false, null. */
function pastWord(i: i32): i32 {
  const word = load<u32>(i);
  if (word === 0x65757274 || word === 0x6c6c756e) i += 4;
  else if (word === 0x736c6166 && load<u8>(i + 4) === 0x65) i += 5;
  else return -1;
  return isWordByte(load<u8>(i)) ? -1 : i;
}

/** Bytes that would make a number or word another one. */
function isWordByte(byte: i32): bool {
  return (
    <u32>(byte - ZERO) <= 9 ||
    <u32>((byte | 0x20) - 0x61) <= 25 ||
    byte === 0x2b ||
    byte === MINUS ||
    byte === POINT
  );
}

/**
 * Index of the quote that closes a text, from the first byte behind the one that opened it. -1 for a text with bytes
 * beyond ASCII, control characters or escapes other than those of one letter.
 */
export function textEnd(i: i32): i32 {
  escaped = 0;
  while (true) {
    const block = v128.load(i);
    // As signed numbers, bytes beyond ASCII are less than a space too.
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(block, i8x16.splat(0x22)), i8x16.eq(block, i8x16.splat(0x5c))),
        i8x16.lt_s(block, i8x16.splat(0x20)),
      ),
    );
    if (special === 0) {
      i += 16;
      continue;
    }
    i += ctz(special);
    const byte: i32 = load<u8>(i);
    if (byte === QUOTE) return i;
    if (byte !== BACKSLASH) return -1;
    if (!isEscape(load<u8>(i + 1))) return -1;
    escaped = 1;
    i += 2;
  }
}

/** " \ / b f n r t */
function isEscape(byte: i32): bool {
  return (
    byte === QUOTE ||
    byte === BACKSLASH ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  );
}

export function pastSpace(i: i32): i32 {
  while (isSpace(load<u8>(i))) i++;
  return i;
}

function isSpace(byte: i32): bool {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The meaning of a key, or -1. */
export function find(table: i32, mask: i32, from: i32, to: i32): i32 {
  const length = to - from;
  if (length === 0 || length > 48) return -1;
  let slot = (length * 37 + <i32>load<u8>(from) * 5 + <i32>load<u8>(to - 1) * 11) & mask;
  while (true) {
    const entry = table + (slot << 6);
    const own: i32 = load<u8>(entry + 1);
    if (own === 0) return -1;
    if (own === length && isSame(entry + 2, from, length)) return load<u8>(entry);
    slot = (slot + 1) & mask;
  }
}

function isSame(a: i32, b: i32, length: i32): bool {
  let i = 0;
  for (; i + 8 <= length; i += 8) if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  for (; i < length; i++) if (load<u8>(a + i) !== load<u8>(b + i)) return false;
  return true;
}
