/**
 * Reads one trace event into fields that are used again for the next: no object per event. Texts are only marked
 * by where they are in the bytes; whoever wants one interns it before the bytes move on.
 */
import { Buffer } from 'node:buffer';
import type { JsonCursor } from '../../../base/json/json-cursor.js';
import { KeyTable } from '../../../base/json/key-table.js';
import { ARG_COUNT, Arg, argumentKeys, TextArg } from './event-keys.js';
import type { Labels } from './labels.js';

// The hot switch uses these, so they are constants of this file (see json-cursor.ts).
const PH = 0;
const CAT = 1;
const NAME = 2;
const PID = 3;
const TID = 4;
const TS = 5;
const DUR = 6;
const ID = 7;
const ARGS = 8;
const NUMBERS = ARG_COUNT;

/** What the scanner says about an event (wasm/event-scanner.ts). */
const HAS_TIME = 1;
const HAS_DURATION = 2;
const HAS_ARGUMENTS = 4;
const HAS_TEXTS = 8;
const WORD_AS_PID = 16;
const WORD_AS_TID = 32;
const ESCAPED_NAME = 64;

export const eventKeys = new KeyTable([
  ['ph', PH],
  ['cat', CAT],
  ['name', NAME],
  ['pid', PID],
  ['tid', TID],
  ['ts', TS],
  ['dur', DUR],
  ['id', ID],
  ['args', ARGS],
]);

/** Whether this is a key that events have. */
export const isEventKey = (bytes: Uint8Array, from: number, to: number): boolean =>
  eventKeys.find(bytes, from, to) >= 0;

/** How events of a kind begin behind their brace, as Kineto writes them. */
const beginnings = {
  ops: ['\n    "ph": "X", "cat": "cpu_op", '],
  frames: ['\n    "ph": "X", "cat": "python_function", '],
  flows: ['\n    "ph": "s", ', '\n    "ph": "f", '],
} as const;

const OP = 0;
const FRAME = 1;
/** Categories of which some questions need little or nothing. */
export const shortenedCategories = new KeyTable([
  ['cpu_op', OP],
  ['python_function', FRAME],
]);

/** What nobody will ask for. Times of the first event are read all the same: all others are counted from it. */
export interface Unwanted {
  readonly ops: boolean;
  readonly frames: boolean;
  readonly flows: boolean;
  readonly opArguments: boolean;
  readonly frameArguments: boolean;
  /** Strides and scalars of operators: they vary from call to call, and only running one again needs them. */
  readonly opValues: boolean;
}

const nothing: Unwanted = {
  ops: false,
  frames: false,
  flows: false,
  opArguments: false,
  frameArguments: false,
  opValues: true,
};

/** A stretch of bytes inside the event. `to` is 0 when the event does not have it. */
export class TextMark {
  from = 0;
  to = 0;
  escaped = false;
  /**
   * Marks with the same key have the same text, and their events the same arguments, except for those that number things
   * (wasm/holes.ts). 0 where nothing is known of it.
   */
  key = 0;
}

export class EventReader {
  /** First byte of `ph`: X, B, E, i, s, t, f, M … 0 when there is none. */
  phase = 0;
  readonly category = new TextMark();
  readonly name = new TextMark();
  /** Numbers as they are; text became a number in Labels. NaN when missing. */
  pid = Number.NaN;
  tid = Number.NaN;
  id = Number.NaN;
  hasTime = false;
  micros = 0;
  nanos = 0;
  hasDuration = false;
  durationNs = 0;
  private readonly ownNumbers = new Float64Array(ARG_COUNT).fill(Number.NaN);
  /** Numeric arguments by Arg, NaN when missing. Good until the next event is read. */
  numbers: Float64Array = this.ownNumbers;
  readonly argumentName = new TextMark();
  readonly kind = new TextMark();
  readonly labels = new TextMark();
  readonly shapes = new TextMark();
  readonly types = new TextMark();
  readonly strides = new TextMark();
  readonly values = new TextMark();
  readonly stack = new TextMark();
  readonly collective = new TextMark();
  readonly elementType = new TextMark();
  readonly groupName = new TextMark();
  readonly groupRanks = new TextMark();
  /** By TextArg. Grids and blocks become numbers. */
  private readonly textArguments: readonly TextMark[] = [
    ...[this.argumentName, this.kind, this.labels, this.shapes, this.types, this.stack],
    ...[new TextMark(), new TextMark()],
    ...[this.collective, this.elementType, this.groupName, this.groupRanks, this.strides, this.values],
  ];
  /** Nobody wants this event: nothing of it was read. */
  passedOver = false;
  /** The first time of the file is known, so events may be passed over. */
  sawTime = false;
  /** Arguments were left here, which the next event need not have. */
  private hasArguments = false;
  private readonly unwantedBeginnings: readonly Uint8Array[];

  constructor(
    private readonly names: Labels,
    private readonly unwanted: Unwanted = nothing,
  ) {
    const kinds = (['ops', 'frames', 'flows'] as const).filter(kind => unwanted[kind]);
    this.unwantedBeginnings = kinds.flatMap(kind => beginnings[kind].map(text => Buffer.from(text)));
  }

  /** Reads the event whose opening brace the cursor has passed. The cursor's trouble says whether that worked. */
  read(cursor: JsonCursor): void {
    const brace = cursor.pos - 1;
    this.clear();
    let category = -1;
    while (cursor.nextKey()) {
      switch (eventKeys.find(cursor.bytes, cursor.textFrom, cursor.textTo)) {
        case PH:
          if (cursor.readText() && cursor.textTo === cursor.textFrom + 1)
            this.phase = cursor.bytes[cursor.textFrom];
          if (this.unwanted.flows && this.sawTime && isFlow(this.phase)) this.passOver(cursor, brace);
          break;
        case CAT:
          markText(cursor, this.category);
          category = shortenedCategories.find(cursor.bytes, this.category.from, this.category.to);
          if (category >= 0 && this.sawTime && this.isOfNoUse(category)) this.passOver(cursor, brace);
          break;
        case NAME:
          markText(cursor, this.name);
          break;
        case PID:
          this.pid = this.names.read(cursor);
          break;
        case TID:
          this.tid = this.names.read(cursor);
          break;
        case TS:
          if ((this.hasTime = cursor.readDecimal())) {
            this.micros = cursor.units;
            this.nanos = cursor.thousandths;
          }
          break;
        case DUR:
          if ((this.hasDuration = cursor.readDecimal()))
            this.durationNs = cursor.units * 1000 + cursor.thousandths;
          break;
        case ID:
          this.id = cursor.readNumber();
          break;
        case ARGS:
          if (category >= 0 && this.needsNoArguments(category)) cursor.skipValue();
          else if (cursor.enterObject()) this.readArguments(cursor);
          break;
        default:
          cursor.skipValue();
      }
      if (this.passedOver) return;
    }
    if (this.hasTime && cursor.trouble === 0) this.sawTime = true;
  }

  /** Takes over an event from the memory of the scanner, whose layout wasm/event-scanner.ts describes. */
  takeScanned(
    bytes: Uint8Array,
    fields: Int32Array,
    values: Float64Array,
    numbers: Float64Array,
    texts: Int32Array,
  ): void {
    const flags = fields[1];
    this.clear();
    this.phase = fields[0];
    this.category.from = fields[4];
    this.category.to = fields[5];
    this.category.escaped = false;
    this.category.key = fields[12] === 0 ? 0 : fields[12] + 1;
    this.name.key = fields[12];
    this.name.from = fields[6];
    this.name.to = fields[7];
    this.name.escaped = (flags & ESCAPED_NAME) !== 0;
    this.pid = values[0];
    this.tid = values[1];
    this.id = values[2];
    this.hasTime = (flags & HAS_TIME) !== 0;
    this.micros = values[3];
    this.nanos = values[4];
    this.hasDuration = (flags & HAS_DURATION) !== 0;
    this.durationNs = values[5];
    if ((flags & (WORD_AS_PID | WORD_AS_TID)) !== 0) this.nameScanned(bytes, fields);
    if ((flags & HAS_ARGUMENTS) !== 0) this.numbers = numbers;
    if ((flags & HAS_TEXTS) === 0) return;
    this.hasArguments = true;
    this.textArguments.forEach((mark, i) => {
      mark.from = texts[i * 3];
      mark.to = texts[i * 3 + 1];
      mark.escaped = texts[i * 3 + 2] !== 0;
    });
  }

  /** Words become numbers in the order in which they are written. */
  private nameScanned(bytes: Uint8Array, fields: Int32Array): void {
    const pid = () => {
      if (fields[9] !== 0) this.pid = this.names.numberOf(bytes, fields[8], fields[9]);
    };
    if (fields[8] < fields[10]) pid();
    if (fields[11] !== 0) this.tid = this.names.numberOf(bytes, fields[10], fields[11]);
    if (fields[8] >= fields[10]) pid();
  }

  /** Nobody wants the event with this brace, as its first bytes tell. Not every one is told like that. */
  isUnwanted(bytes: Uint8Array, brace: number): boolean {
    return this.sawTime && this.unwantedBeginnings.some(beginning => beginsWith(bytes, brace + 1, beginning));
  }

  private isOfNoUse(category: number): boolean {
    return category === OP ? this.unwanted.ops : category === FRAME && this.unwanted.frames;
  }

  /** Known only where the category comes before the arguments, as all writers have it. */
  private needsNoArguments(category: number): boolean {
    return category === OP ? this.unwanted.opArguments : category === FRAME && this.unwanted.frameArguments;
  }

  private passOver(cursor: JsonCursor, brace: number): void {
    this.passedOver = true;
    cursor.pos = brace;
    cursor.skipValue();
  }

  /**
   * Becomes the whole of an event given as beginning and end. Its name comes from the beginning, whose bytes are gone
   * by now and are handed on beside; other texts of such events are not kept.
   */
  resume(numbers: Float64Array, nameLength: number, durationNs: number): void {
    const { pid, tid } = this;
    this.clear();
    this.pid = pid;
    this.tid = tid;
    this.hasArguments = true;
    this.numbers.set(numbers);
    this.name.from = 0;
    this.name.to = nameLength;
    this.name.escaped = false;
    this.hasDuration = true;
    this.durationNs = durationNs;
  }

  private readArguments(cursor: JsonCursor): void {
    this.hasArguments = true;
    while (cursor.nextKey()) {
      const key = argumentKeys.find(cursor.bytes, cursor.textFrom, cursor.textTo);
      if (key < 0) cursor.skipValue();
      else if (key < NUMBERS) this.numbers[key] = cursor.readNumber();
      else this.readTextArgument(cursor, key);
    }
  }

  private readTextArgument(cursor: JsonCursor, key: number): void {
    const mark = this.textArguments[key - TextArg.name];
    switch (key) {
      case TextArg.shapes:
      case TextArg.types:
        markValue(cursor, mark);
        break;
      case TextArg.strides:
      case TextArg.values:
        if (this.unwanted.opValues) cursor.skipValue();
        else markValue(cursor, mark);
        break;
      case TextArg.grid:
        this.readTriple(cursor, Arg.gridX);
        break;
      case TextArg.block:
        this.readTriple(cursor, Arg.blockX);
        break;
      default:
        markText(cursor, mark);
    }
  }

  /** `[8, 1, 1]`. Anything else (ROCm calls have text here) is stepped over. */
  private readTriple(cursor: JsonCursor, first: number): void {
    const from = cursor.pos;
    cursor.skipValue();
    if (cursor.trouble !== 0 || cursor.bytes[from] !== 0x5b) return;
    let slot = first;
    let value = -1;
    for (let i = from + 1; i < cursor.pos && slot < first + 3; i++) {
      const digit = cursor.bytes[i] - 0x30;
      if (digit >= 0 && digit <= 9) value = (value < 0 ? 0 : value * 10) + digit;
      else if (value >= 0) {
        this.numbers[slot++] = value;
        value = -1;
      }
    }
  }

  private clear(): void {
    this.passedOver = false;
    this.phase = 0;
    this.category.to = 0;
    this.category.key = 0;
    this.name.to = 0;
    this.name.key = 0;
    this.pid = Number.NaN;
    this.tid = Number.NaN;
    this.id = Number.NaN;
    this.hasTime = false;
    this.hasDuration = false;
    this.durationNs = 0;
    this.numbers = this.ownNumbers;
    if (!this.hasArguments) return;
    this.hasArguments = false;
    this.numbers.fill(Number.NaN);
    for (const mark of this.textArguments) mark.to = 0;
  }
}

function beginsWith(bytes: Uint8Array, at: number, beginning: Uint8Array): boolean {
  let i = 0;
  while (i < beginning.length && bytes[at + i] === beginning[i]) i++;
  return i === beginning.length;
}

/** Arrows: s, t, f. */
const isFlow = (phase: number): boolean => phase === 0x73 || phase === 0x74 || phase === 0x66;

function markText(cursor: JsonCursor, mark: TextMark): void {
  if (!cursor.readText()) return;
  mark.from = cursor.textFrom;
  mark.to = cursor.textTo;
  mark.escaped = cursor.textEscaped;
}

/** Marks a value of any kind, brackets and all. */
function markValue(cursor: JsonCursor, mark: TextMark): void {
  mark.from = cursor.pos;
  cursor.skipValue();
  mark.to = cursor.trouble === 0 ? cursor.pos : 0;
}
