/**
 * Reads trace events as bytes, in AssemblyScript (https://www.assemblyscript.org), compiled by scripts/build-wasm.mjs.
 *
 * It reads what nearly every event looks like, exactly as events/event-reader.ts would, and leaves all others to it: an
 * event it does not understand in full, down to the last byte, it declines. What nobody wants is passed over here, held
 * against the standard all the same. Texts are looked at 16 bytes at a time.
 *
 * Bytes begin at INPUT and are followed by two quotes, so that every loop ends. What was found is left at fixed places.
 */

import { flagsOfLast, keyOfLast, learn, loseTrack, matchExpected } from './event-shapes';
import { ARGUMENT, addHole, clearHoles, DURATION, ID as ID_HOLE, spoilShape, TIME } from './holes';
import {
  escaped,
  find,
  number,
  pastColon,
  pastSpace,
  readDecimal,
  readNumber,
  skip,
  textEnd,
  thousandths,
  units,
} from './json-bytes';
import {
  ARGUMENT_KEYS,
  ARGUMENT_SLOTS,
  CATEGORIES,
  ESCAPED_NAME,
  EVENT_KEYS,
  FIELDS,
  HAS_ARGUMENTS,
  HAS_DURATION,
  HAS_TEXTS,
  HAS_TIME,
  INPUT,
  NUMBER_COUNT,
  NUMBERS,
  SLOTS,
  TEXT_COUNT,
  TEXTS,
  UNWANTED,
  VALUES,
  WORD_AS_PID,
  WORD_AS_TID,
} from './layout';

// For events/event-scanner.ts.
export {
  ARGUMENT_KEYS,
  ARGUMENT_SLOTS,
  CATEGORIES,
  EVENT_KEYS,
  FIELDS,
  INPUT,
  NUMBER_COUNT,
  NUMBERS,
  SLOTS,
  TEXT_COUNT,
  TEXTS,
  VALUES,
};

const FIRST_TEXT: i32 = 32;

/** Meanings of the keys of events and of the categories that are told apart, in the order of event-reader.ts. */
const PH: i32 = 0;
const CAT: i32 = 1;
const NAME: i32 = 2;
const PID: i32 = 3;
const TID: i32 = 4;
const TS: i32 = 5;
const DUR: i32 = 6;
const ID: i32 = 7;
const ARGS: i32 = 8;
const OP: i32 = 0;
const FRAME: i32 = 1;
const SHAPES: i32 = 35;
const TYPES: i32 = 36;
const GRID: i32 = 38;
const BLOCK: i32 = 39;
const STRIDES: i32 = 44;
const CONCRETE_VALUES: i32 = 45;
const GRID_X: i32 = 19;
const BLOCK_X: i32 = 22;

/** What is not wanted, as bits. */
const NO_OPS: i32 = 1;
const NO_FRAMES: i32 = 2;
const NO_FLOWS: i32 = 4;
const NO_OP_ARGUMENTS: i32 = 8;
const NO_FRAME_ARGUMENTS: i32 = 16;
const NO_OP_VALUES: i32 = 32;

/** How `next` ended. */
const WANTED: i32 = 1;
const DECLINED: i32 = 2;
const OVER: i32 = 0;

const QUOTE: i32 = 0x22;
const COMMA: i32 = 0x2c;
const ZERO: i32 = 0x30;
const OPEN_BRACKET: i32 = 0x5b;
const BACKSLASH: i32 = 0x5c;
const OPEN_BRACE: i32 = 0x7b;
const CLOSE_BRACE: i32 = 0x7d;
/** Numbers of processes from here on may stand for words (events/labels.ts). */
const FIRST_LABEL: f64 = 1099511627776;

let unwanted: i32 = 0;
let flags: i32 = 0;
let category: i32 = -1;

export function setUnwanted(bits: i32): void {
  unwanted = bits;
}

/**
 * Reads on at the brace of an event until there is one that somebody wants. What was passed over is counted, and where
 * the last event ended is left in FIELDS.
 */
export function next(brace: i32, end: i32): i32 {
  let passed = 0;
  let key = 0;
  let after = brace;
  let status = DECLINED;
  for (let at = brace; ; ) {
    let behind = matchExpected(at, end);
    key = 0;
    if (behind > 0) {
      flags = flagsOfLast();
      key = keyOfLast();
    } else {
      behind = readEvent(at, end);
      if (behind < 0) {
        loseTrack();
        break;
      }
      learn(at, behind, flags);
    }
    after = behind;
    if (flags !== UNWANTED) {
      status = WANTED;
      break;
    }
    passed++;
    at = pastSpace(behind);
    if (load<u8>(at) !== COMMA) {
      status = OVER;
      break;
    }
    at = pastSpace(at + 1);
    if (at >= end || load<u8>(at) !== OPEN_BRACE) {
      status = OVER;
      break;
    }
  }
  store<i32>(FIELDS + 4, flags);
  store<i32>(FIELDS + 8, after);
  store<i32>(FIELDS + 12, passed);
  store<i32>(FIELDS + 48, key);
  return status;
}

/** Index behind the event, or -1 where it is declined. Flags are negative where nobody wants it. */
function readEvent(brace: i32, end: i32): i32 {
  clear();
  clearHoles();
  category = -1;
  let seen = 0;
  let i = pastSpace(brace + 1);
  while (true) {
    if (load<u8>(i) !== QUOTE) return -1;
    const from = i + 1;
    const to = textEnd(from);
    if (to < 0) return -1;
    i = pastColon(to + 1);
    if (i < 0 || i >= end) return -1;
    const key = find(EVENT_KEYS, SLOTS - 1, from, to);
    if (key >= 0) {
      const bit = 1 << key;
      // Which of two counts is for the other reader to say.
      if (seen & bit) return -1;
      seen |= bit;
      i = readMember(key, i, end);
      if (flags === UNWANTED) return i < 0 ? -1 : skip(i, end, 1, 2);
    } else i = skip(i, end, 0, 0);
    if (i < 0) return -1;
    i = pastSpace(i);
    const byte = load<u8>(i);
    if (byte === CLOSE_BRACE) return i < end ? i + 1 : -1;
    if (byte !== COMMA) return -1;
    i = pastSpace(i + 1);
  }
}

/** Reads the value of a key that we know. Where it tells that nobody wants the event, flags become negative. */
function readMember(key: i32, i: i32, end: i32): i32 {
  let after = -1;
  switch (key) {
    case PH: {
      if (load<u8>(i) !== QUOTE || load<u8>(i + 2) !== QUOTE) return -1;
      const phase: i32 = load<u8>(i + 1);
      if (phase < 0x20 || phase >= 0x7f || phase === BACKSLASH || phase === QUOTE) return -1;
      store<i32>(FIELDS, phase);
      // Arrows: s, t, f.
      if (unwanted & NO_FLOWS && (phase === 0x73 || phase === 0x74 || phase === 0x66)) return passOver(i + 3);
      return i + 3;
    }
    case CAT: {
      after = readText(i, FIELDS + 16);
      if (after < 0 || escaped) return -1;
      category = find(CATEGORIES, SLOTS - 1, i + 1, after - 1);
      const isUnwanted = category === OP ? unwanted & NO_OPS : category === FRAME ? unwanted & NO_FRAMES : 0;
      return isUnwanted ? passOver(after) : after;
    }
    case NAME: {
      after = readText(i, FIELDS + 24);
      if (escaped) flags |= ESCAPED_NAME;
      return after;
    }
    case PID:
      return readPlace(i, VALUES, FIELDS + 32, WORD_AS_PID);
    case TID:
      return readPlace(i, VALUES + 8, FIELDS + 40, WORD_AS_TID);
    case TS:
      after = readDecimal(i, end);
      addHole(i, after, TIME);
      flags |= HAS_TIME;
      store<f64>(VALUES + 24, units);
      store<f64>(VALUES + 32, <f64>thousandths);
      return after;
    case DUR:
      after = readDecimal(i, end);
      addHole(i, after, DURATION);
      flags |= HAS_DURATION;
      store<f64>(VALUES + 40, units * 1000 + <f64>thousandths);
      return after;
    case ID:
      after = readNumber(i, end);
      addHole(i, after, ID_HOLE);
      store<f64>(VALUES + 16, number);
      return after;
    case ARGS:
      if (load<u8>(i) !== OPEN_BRACE) return -1;
      if (
        category === OP ? unwanted & NO_OP_ARGUMENTS : category === FRAME ? unwanted & NO_FRAME_ARGUMENTS : 0
      )
        return skip(i, end, 0, 1);
      return readArguments(i + 1, end);
  }
  return -1;
}

/** Words that became numbers by now would be remembered by the other reader, in this order. */
function passOver(after: i32): i32 {
  if (flags & (WORD_AS_PID | WORD_AS_TID)) return -1;
  flags = UNWANTED;
  return after;
}

function readArguments(start: i32, end: i32): i32 {
  flags |= HAS_ARGUMENTS;
  let seen: u32 = 0;
  let i = pastSpace(start);
  if (load<u8>(i) === CLOSE_BRACE) return i + 1;
  while (true) {
    if (load<u8>(i) !== QUOTE) return -1;
    const from = i + 1;
    const to = textEnd(from);
    if (to < 0) return -1;
    i = pastColon(to + 1);
    if (i < 0 || i >= end) return -1;
    const key = find(ARGUMENT_KEYS, ARGUMENT_SLOTS - 1, from, to);
    if (key < 0) i = skip(i, end, 0, 0);
    else if (key < NUMBER_COUNT) {
      const value = i;
      i = readNumber(i, end);
      addHole(value, i, ARGUMENT + key);
      // The last of two counts, which need not be the one in a hole.
      if (seen & (1 << key)) spoilShape();
      seen |= 1 << key;
      store<f64>(NUMBERS + (key << 3), number);
    } else i = readTextArgument(key, i, end);
    if (i < 0) return -1;
    i = pastSpace(i);
    const byte = load<u8>(i);
    if (byte === CLOSE_BRACE) return i + 1;
    if (byte !== COMMA) return -1;
    i = pastSpace(i + 1);
  }
}

function readTextArgument(key: i32, i: i32, end: i32): i32 {
  if (key === GRID) return readTriple(i, end, NUMBERS + (GRID_X << 3));
  if (key === BLOCK) return readTriple(i, end, NUMBERS + (BLOCK_X << 3));
  if ((key === STRIDES || key === CONCRETE_VALUES) && unwanted & NO_OP_VALUES) return skip(i, end, 0, 0);
  flags |= HAS_TEXTS;
  const mark = TEXTS + (key - FIRST_TEXT) * 12;
  if (key === SHAPES || key === TYPES || key === STRIDES || key === CONCRETE_VALUES) {
    const after = skip(i, end, 0, -1);
    store<i32>(mark, i - INPUT);
    store<i32>(mark + 4, after - INPUT);
    return after;
  }
  const after = readText(i, mark);
  store<i32>(mark + 8, escaped);
  return after;
}

/** `[8, 1, 1]`. Anything else is stepped over. */
function readTriple(from: i32, end: i32, first: i32): i32 {
  const after = skip(from, end, 0, -1);
  if (after < 0 || load<u8>(from) !== OPEN_BRACKET) return after;
  let slot = first;
  let value: f64 = -1;
  for (let i = from + 1; i < after && slot < first + 24; i++) {
    const digit = <i32>load<u8>(i) - ZERO;
    if (<u32>digit <= 9) value = (value < 0 ? 0 : value * 10) + <f64>digit;
    else if (value >= 0) {
      store<f64>(slot, value);
      slot += 8;
      value = -1;
    }
  }
  return after;
}

/** A process or thread: a number, or a word that becomes one. */
function readPlace(i: i32, value: i32, mark: i32, flag: i32): i32 {
  if (load<u8>(i) === QUOTE) {
    const after = readText(i, mark);
    if (escaped) return -1;
    flags |= flag;
    return after;
  }
  i = readNumber(i, i32.MAX_VALUE);
  store<f64>(value, number);
  return abs(number) < FIRST_LABEL ? i : -1;
}

/** Index behind the closing quote of the text that begins here. */
function readText(i: i32, mark: i32): i32 {
  if (load<u8>(i) !== QUOTE) return -1;
  const to = textEnd(i + 1);
  store<i32>(mark, i + 1 - INPUT);
  store<i32>(mark + 4, to - INPUT);
  return to < 0 ? -1 : to + 1;
}

/** Nothing is known of the next event. */
function clear(): void {
  flags = 0;
  store<i32>(FIELDS, 0);
  for (let at = FIELDS + 16; at < FIELDS + 48; at += 16) v128.store(at, i64x2.splat(0));
  const missing = f64x2.splat(NaN);
  for (let at = VALUES; at < VALUES + 24; at += 8) store<f64>(at, NaN);
  store<f64>(VALUES + 40, 0);
  for (let at = NUMBERS; at < NUMBERS + (NUMBER_COUNT + 1) * 8; at += 16) v128.store(at, missing);
  for (let at = TEXTS; at < TEXTS + TEXT_COUNT * 12; at += 8) store<i64>(at, 0);
}
