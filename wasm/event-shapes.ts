/**
 * One event is written like many others: only times and a few numbers differ. The shape of an event is its bytes with
 * holes where those numbers are. An event that has the bytes of a shape between its holes, and in them numbers that are
 * read the same way, means what the one did from which the shape was learned: nothing else of it needs to be looked at.
 *
 * Steps and layers repeat, so the shapes before an event tell which one to try. When there are too many shapes all are
 * forgotten. A shape in memory:
 *
 *   length · holes · marks · flags · phase · hash   then values, numbers, holes, marks, bytes
 */
import { ANY, ARGUMENT, DURATION, HOLE_BYTES, holes, ID, MAX_HOLES, TIME } from './holes';
import { number, pastNumber, readDecimal, readNumber, thousandths, units } from './json-bytes';
import {
  BY_CONTENT,
  BY_FEW,
  BY_LAST,
  BY_MANY,
  FIELDS,
  HAS_ARGUMENTS,
  HAS_TEXTS,
  HOLES,
  INPUT,
  MAX_SHAPES,
  NUMBER_BYTES,
  NUMBERS,
  RECENT,
  SHAPE_BYTES,
  SHAPES,
  TEXT_COUNT,
  TEXTS,
  UNWANTED,
  VALUE_BYTES,
  VALUES,
} from './layout';

const OWN_VALUES: i32 = 32;
const OWN_NUMBERS: i32 = OWN_VALUES + VALUE_BYTES;
/** Of a hole: from, to (from the brace), what it holds. */
const OWN_HOLES: i32 = OWN_NUMBERS + NUMBER_BYTES;
/** Of a mark: where it is kept, from, to (from the brace), holes before it, escaped. */
const OWN_MARKS: i32 = OWN_HOLES + MAX_HOLES * HOLE_BYTES;
const MARK_BYTES: i32 = 20;
const MAX_MARKS: i32 = 4 + TEXT_COUNT;
const OWN_BYTES: i32 = OWN_MARKS + MAX_MARKS * MARK_BYTES;
const MAX_LENGTH: i32 = SHAPE_BYTES - OWN_BYTES - 16;

const MIX: u64 = (0x9e3779b9 << 32) | 0x7f4a7c15;
const MAX_GENERATION: i32 = 500000;
const CONTENT_MASK: i32 = 8191;

/** How many of the last shapes tell which comes next. */
const FEW: i32 = 4;
const MANY: i32 = 10;
const FACTOR: i32 = 0x01000193;
const FEW_POWER: i32 = FACTOR ** (FEW - 1);
const MANY_POWER: i32 = FACTOR ** (MANY - 1);

let shapes: i32 = 0;
/** How often all were forgotten. */
let generation: i32 = 0;
/** The last shape, counted from 1, and what tells the last few and many apart. */
let last: i32 = 0;
let few: i32 = 0;
let many: i32 = 0;
let count: i32 = 0;

/** Index behind the event if it has a shape that is expected here, else -1. Which one, `last` says then. */
export function matchExpected(brace: i32, end: i32): i32 {
  const byMany = expectedBy(many, BY_MANY);
  let found = byMany;
  let after = found === 0 ? -1 : match(found, brace, end);
  if (after < 0) {
    const byFew = expectedBy(few, BY_FEW);
    found = byFew;
    if (found !== 0 && found !== byMany) after = match(found, brace, end);
    if (after < 0) {
      found = expectedBy(last, BY_LAST);
      if (found !== 0 && found !== byFew && found !== byMany) after = match(found, brace, end);
    }
  }
  if (after > 0) remember(found);
  return after;
}

/** Learns the shape of the event that was just read in full. */
export function learn(brace: i32, after: i32, flags: i32): void {
  const length = after - brace;
  if (holes > MAX_HOLES || length > MAX_LENGTH) {
    follow(0);
    return;
  }
  const hash = hashOf(brace, after);
  let slot = hash & CONTENT_MASK;
  let found: i32 = load<u16>(BY_CONTENT + (slot << 1));
  while (found !== 0) {
    const shape = placeOf(found);
    if (load<i32>(shape, 20) === hash && load<i32>(shape, 4) === holes && load<i32>(shape, 12) === flags)
      break;
    slot = (slot + 1) & CONTENT_MASK;
    found = load<u16>(BY_CONTENT + (slot << 1));
  }
  if (found === 0) {
    if (shapes === MAX_SHAPES) {
      forget();
      return;
    }
    found = ++shapes;
    store<u16>(BY_CONTENT + (slot << 1), <u16>found);
    write(placeOf(found), brace, length, hash, flags);
  }
  remember(found);
}

/** What nobody could read ends the row of shapes. */
export function loseTrack(): void {
  follow(0);
}

function write(shape: i32, brace: i32, length: i32, hash: i32, flags: i32): void {
  store<i32>(shape, length);
  store<i32>(shape, holes, 4);
  store<i32>(shape, flags, 12);
  store<i32>(shape, load<i32>(FIELDS), 16);
  store<i32>(shape, hash, 20);
  copy(VALUES, shape + OWN_VALUES, VALUE_BYTES);
  copy(NUMBERS, shape + OWN_NUMBERS, NUMBER_BYTES);
  for (let i = 0; i < holes; i++) {
    const hole = HOLES + i * HOLE_BYTES;
    const own = shape + OWN_HOLES + i * HOLE_BYTES;
    store<i32>(own, load<i32>(hole) - brace);
    store<i32>(own, load<i32>(hole, 4) - brace, 4);
    store<i32>(own, load<i32>(hole, 8), 8);
  }
  let marks = 0;
  if (flags !== UNWANTED) {
    for (let at = FIELDS + 16; at < FIELDS + 48; at += 8) marks = writeMark(shape, marks, at, brace, 0);
    for (let at = TEXTS; at < TEXTS + TEXT_COUNT * 12; at += 12)
      marks = writeMark(shape, marks, at, brace, load<i32>(at, 8));
  }
  store<i32>(shape, marks, 8);
  memory.copy(shape + OWN_BYTES, brace, length);
}

function writeMark(shape: i32, marks: i32, mark: i32, brace: i32, escaped: i32): i32 {
  if (load<i32>(mark, 4) === 0) return marks;
  const from = load<i32>(mark) + INPUT;
  let before = 0;
  while (before < holes && load<i32>(HOLES + before * HOLE_BYTES) < from) before++;
  const own = shape + OWN_MARKS + marks * MARK_BYTES;
  store<i32>(own, mark);
  store<i32>(own, from - brace, 4);
  store<i32>(own, load<i32>(mark, 4) + INPUT - brace, 8);
  store<i32>(own, before, 12);
  store<i32>(own, escaped, 16);
  return marks + 1;
}

/** Index behind the event, or -1. */
function match(which: i32, brace: i32, end: i32): i32 {
  const shape = placeOf(which);
  const flags = load<i32>(shape, 12);
  const bytes = shape + OWN_BYTES;
  const count = load<i32>(shape, 4);
  // Most that do not match differ in their names, which come before the first hole.
  const first = count > 0 ? load<i32>(shape + OWN_HOLES) : load<i32>(shape);
  if (brace + first > end || !isSame(bytes, brace, first)) return -1;
  if (flags !== UNWANTED) {
    copy(shape + OWN_VALUES, VALUES, VALUE_BYTES);
    if (flags & HAS_ARGUMENTS) copy(shape + OWN_NUMBERS, NUMBERS, NUMBER_BYTES);
  }
  let i = brace + first;
  let from = first;
  for (let h = 0; h < count; h++) {
    const hole = shape + OWN_HOLES + h * HOLE_BYTES;
    if (h > 0) {
      const length = load<i32>(hole) - from;
      if (i + length > end || !isSame(bytes + from, i, length)) return -1;
      i += length;
    }
    // How far marks behind this hole will have moved is known when it has been passed.
    i = readHole(load<i32>(hole, 8), i, end);
    if (i < 0) return -1;
    from = load<i32>(hole, 4);
    store<i32>(HOLES + h * 4, i - brace - from);
  }
  const rest = load<i32>(shape) - from;
  if (count > 0) {
    if (i + rest > end || !isSame(bytes + from, i, rest)) return -1;
    i += rest;
  }
  if (flags !== UNWANTED) writeFound(shape, brace, flags);
  return i;
}

function readHole(holds: i32, i: i32, end: i32): i32 {
  if (holds === ANY) return pastNumber(i);
  if (holds === TIME) {
    i = readDecimal(i, end);
    store<f64>(VALUES + 24, units);
    store<f64>(VALUES + 32, <f64>thousandths);
  } else if (holds === DURATION) {
    i = readDecimal(i, end);
    store<f64>(VALUES + 40, units * 1000 + <f64>thousandths);
  } else {
    i = readNumber(i, end);
    store<f64>(holds === ID ? VALUES + 16 : NUMBERS + ((holds - ARGUMENT) << 3), number);
  }
  return i;
}

/** What the scanner would have left, had it read the event in full. */
function writeFound(shape: i32, brace: i32, flags: i32): void {
  store<i32>(FIELDS, load<i32>(shape, 16));
  v128.store(FIELDS + 16, i64x2.splat(0));
  v128.store(FIELDS + 32, i64x2.splat(0));
  if (flags & HAS_TEXTS) for (let at = 0; at < TEXT_COUNT * 12; at += 8) store<i64>(TEXTS + at, 0);
  const marks = load<i32>(shape, 8);
  for (let m = 0; m < marks; m++) {
    const own = shape + OWN_MARKS + m * MARK_BYTES;
    const before = load<i32>(own, 12);
    const moved = brace - INPUT + (before === 0 ? 0 : load<i32>(HOLES + (before - 1) * 4));
    const mark = load<i32>(own);
    store<i32>(mark, load<i32>(own, 4) + moved);
    store<i32>(mark, load<i32>(own, 8) + moved, 4);
    if (mark >= TEXTS) store<i32>(mark, load<i32>(own, 16), 8);
  }
}

/** Two numbers tell texts of shapes apart, this and the next, also after all were forgotten. 0 when they run out. */
export function keyOfLast(): i32 {
  return generation < MAX_GENERATION ? generation * MAX_SHAPES * 2 + last * 2 : 0;
}

export function flagsOfLast(): i32 {
  return load<i32>(placeOf(last), 12);
}

function placeOf(shape: i32): i32 {
  return SHAPES + (shape - 1) * SHAPE_BYTES;
}

/** The shape that came next when last these came before. */
function expectedBy(before: i32, table: i32): i32 {
  return load<u16>(slotOf(before, table));
}

function slotOf(before: i32, table: i32): i32 {
  return table + (((before * 0x9e3779b1) >>> 19) << 1);
}

function remember(shape: i32): void {
  store<u16>(slotOf(many, BY_MANY), <u16>shape);
  store<u16>(slotOf(few, BY_FEW), <u16>shape);
  store<u16>(slotOf(last, BY_LAST), <u16>shape);
  follow(shape);
}

/** The last shapes are told apart by one number for a few of them, and one for many. */
function follow(shape: i32): void {
  few = (few - recent(FEW) * FEW_POWER) * FACTOR + shape;
  many = (many - recent(MANY) * MANY_POWER) * FACTOR + shape;
  last = shape;
  count = (count + 1) & 15;
  store<i32>(RECENT + (count << 2), shape);
}

/** The shape so many before, counted from 1. */
function recent(back: i32): i32 {
  return load<i32>(RECENT + (((count + 1 - back) & 15) << 2));
}

function forget(): void {
  memory.fill(BY_CONTENT, 0, SHAPES - BY_CONTENT);
  generation++;
  shapes = 0;
  last = 0;
  few = 0;
  many = 0;
}

/** Of the bytes between holes, eight at a time. */
function hashOf(brace: i32, after: i32): i32 {
  let hash: u64 = <u64>holes;
  let from = brace;
  for (let h = 0; h <= holes; h++) {
    const to = h === holes ? after : load<i32>(HOLES + h * HOLE_BYTES);
    for (; from + 8 <= to; from += 8) hash = mixed(hash ^ load<u64>(from));
    for (; from < to; from++) hash = mixed(hash ^ <u64>load<u8>(from));
    if (h < holes) from = load<i32>(HOLES + h * HOLE_BYTES, 4);
  }
  return <i32>(hash >>> 32);
}

function mixed(hash: u64): u64 {
  hash *= MIX;
  return hash ^ (hash >>> 29);
}

/** A multiple of 16 bytes. For so few, the instruction for it takes longer. */
function copy(from: i32, to: i32, bytes: i32): void {
  for (let at = 0; at < bytes; at += 16) v128.store(to + at, v128.load(from + at));
}

/** Compares 16 bytes at a time; what is read behind the end is not compared. */
function isSame(a: i32, b: i32, length: i32): bool {
  let i = 0;
  for (; i + 16 <= length; i += 16)
    if (v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  const left = length - i;
  if (left === 0) return true;
  const differs = i8x16.bitmask(i8x16.ne(v128.load(a + i), v128.load(b + i)));
  return (differs & ((1 << left) - 1)) === 0;
}
