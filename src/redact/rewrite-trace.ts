/**
 * Passes a trace through, in whatever pieces its bytes come. Bytes that need no change are copied as they are; a text
 * that does is written anew between them. What is held at a time is one event, or one value of the metadata.
 *
 * Importers read on past damage and count it. Here everything that is not JSON by the letter is refused: past damage
 * nobody can say what is a text and what is not.
 */
import { ByteWindow } from '../base/json/byte-window.js';
import { JsonCursor, Trouble } from '../base/json/json-cursor.js';
import { StringTable } from '../base/string-table.js';
import { UserError } from '../base/user-error.js';
import { isCategory, isKnownKey } from './allowed-trace.js';
import { StringTokens } from './string-tokens.js';
import type { TraceRules } from './trace-rules.js';

const SPACE = 0x20;
const COMMA = 0x2c;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
/** Real traces have about a hundred. */
const MAX_KEYS = 10_000;
const WINDOW_BYTES = 6 * 1024 * 1024;

const State = { opening: 0, metadata: 1, events: 2, done: 3 } as const;
/** What came last in the object or list we are in. */
const Place = { opened: 0, afterEntry: 1, afterComma: 2 } as const;

const isWhite = (byte: number): boolean => byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;

interface Token {
  from: number;
  to: number;
  /** What to write in its place, known already; undefined for a value, which a rule has to judge. */
  fresh: string | undefined;
  keys: string[];
}

export class TraceRewriter {
  private readonly window = new ByteWindow(WINDOW_BYTES);
  private readonly cursor = new JsonCursor();
  private readonly tokens = new StringTokens();
  private state: number = State.opening;
  private place: number = Place.opened;
  private markBytes = 0;
  private bareArray = false;
  private enough = 0;
  /** Everything of the window in front of this has been passed on. */
  private copied = 0;
  sawEvents = false;

  /** `emit` must use up the bytes before it returns. */
  constructor(
    private readonly rules: TraceRules,
    private readonly emit: (bytes: Uint8Array) => void,
  ) {}

  append(chunk: Uint8Array): void {
    if (this.state === State.done) refuseMore(chunk);
    else {
      this.window.append(chunk);
      if (this.window.length >= this.enough) this.advance();
    }
  }

  finish(): void {
    if (this.enough > 0) this.advance();
    if (this.state !== State.done) throw damagedTrace();
  }

  private advance(): void {
    const { window, cursor } = this;
    cursor.reset(window.bytes, window.start, window.end);
    this.copied = window.start;
    this.enough = 0;
    while (this.state !== State.done && this.step()) window.start = cursor.pos;
    this.copyUpTo(window.start);
    if (this.state === State.done) {
      refuseMore(window.bytes.subarray(window.start, window.end));
      return;
    }
    if (cursor.trouble === Trouble.malformed) throw damagedTrace();
    if (window.length > MAX_VALUE_BYTES) {
      throw new UserError(
        'too-large',
        `The trace contains a value larger than ${MAX_VALUE_BYTES / 1024 / 1024} MiB, which no profiler writes.`,
        'Capture again, or remove that value by hand.',
      );
    }
    if (window.length > WINDOW_BYTES / 2) this.enough = Math.min(window.length * 2, MAX_VALUE_BYTES + 1);
  }

  /** One event, one metadata value or one piece of punctuation. False when more bytes are needed. */
  private step(): boolean {
    const { cursor } = this;
    const { bytes, end } = cursor;
    while (cursor.pos < end && isWhite(bytes[cursor.pos])) cursor.pos++;
    if (cursor.pos >= end) return false;
    const byte = bytes[cursor.pos];
    if (this.state === State.opening) return this.open(byte);
    if (byte === COMMA) {
      if (this.place !== Place.afterEntry) throw damagedTrace();
      this.place = Place.afterComma;
      cursor.pos++;
      return true;
    }
    if (byte === (this.state === State.events ? CLOSE_BRACKET : CLOSE_BRACE)) return this.close();
    if (this.place === Place.afterEntry) throw damagedTrace();
    cursor.strict.clear();
    if (!(this.state === State.events ? this.stepEvent() : this.stepMetadata())) return false;
    if (cursor.strict.badTexts > 0 || cursor.strict.badNumbers > 0) throw damagedTrace();
    return true;
  }

  private open(byte: number): boolean {
    const { markBytes } = this;
    if (this.window.offsetOf(this.cursor.pos) === markBytes && byte === BYTE_ORDER_MARK[markBytes])
      this.markBytes++;
    else if (markBytes > 0 && markBytes < BYTE_ORDER_MARK.length) throw damagedTrace();
    else if (byte === OPEN_BRACE) this.state = State.metadata;
    else if (byte === OPEN_BRACKET) {
      this.state = State.events;
      this.bareArray = true;
      this.sawEvents = true;
    } else throw damagedTrace();
    this.cursor.pos++;
    return true;
  }

  private close(): boolean {
    if (this.place === Place.afterComma) throw damagedTrace();
    const wasList = this.state === State.events;
    this.state = wasList && !this.bareArray ? State.metadata : State.done;
    this.place = Place.afterEntry;
    this.cursor.pos++;
    return true;
  }

  private stepEvent(): boolean {
    const { cursor } = this;
    const from = cursor.pos;
    if (cursor.bytes[from] !== OPEN_BRACE) throw damagedTrace();
    cursor.skipValue();
    if (cursor.trouble !== Trouble.none) return this.again(from);
    this.rewriteEvent(from, cursor.pos);
    this.place = Place.afterEntry;
    return true;
  }

  private stepMetadata(): boolean {
    const { cursor, rules } = this;
    const { bytes } = cursor;
    const begin = cursor.pos;
    if (bytes[begin] !== QUOTE) throw damagedTrace();
    let from = cursor.strict.key(bytes, begin, cursor.end);
    while (from > 0 && isWhite(bytes[from])) from++;
    if (from < 0 || from >= cursor.end)
      return this.again(begin, from < 0 ? cursor.strict.trouble : Trouble.ranOut);
    const textFrom = begin + 1;
    const textTo = cursor.strict.keyEnd;
    const key = latin1(bytes, textFrom, textTo);
    cursor.pos = from;
    if (key === 'traceEvents' && bytes[from] === OPEN_BRACKET) {
      this.state = State.events;
      this.place = Place.opened;
      this.sawEvents = true;
      cursor.pos++;
      return true;
    }
    cursor.skipValue();
    if (cursor.trouble !== Trouble.none) return this.again(begin);
    this.place = Place.afterEntry;
    if (rules.keepsMetadata(key)) this.rewriteStrings(key, from, cursor.pos);
    else {
      const fresh = rules.metadataKey(key);
      if (fresh !== undefined) this.replace(textFrom, textTo, fresh);
      const other = rules.otherMetadata(key, new TextDecoder().decode(bytes.subarray(from, cursor.pos)));
      if (other !== undefined) this.replace(from, cursor.pos, other);
    }
    return true;
  }

  private again(from: number, trouble: number = this.cursor.trouble): false {
    if (trouble === Trouble.malformed) throw damagedTrace();
    this.cursor.pos = from;
    return false;
  }

  private readonly eventKey = (key: string, above: readonly string[]) => this.rules.key(key, above);
  private readonly found: Token[] = [];
  private readonly keyNames = new KeyNames();

  /** `keyFor` gives another name for a key, or undefined when it stays; such keys need not be looked at again. */
  private collect(
    from: number,
    to: number,
    keyFor: (key: string, above: readonly string[]) => string | undefined,
  ): number {
    const { tokens, found, cursor } = this;
    let count = 0;
    const above: string[] = [];
    tokens.scan(cursor.bytes, from, to, (textFrom, textTo, isKey) => {
      const token = (found[count] ??= { from: 0, to: 0, fresh: undefined, keys: [] });
      token.keys.length = tokens.depth;
      for (let d = 0; d < tokens.depth; d++)
        token.keys[d] = this.keyNames.get(cursor.bytes, tokens.keys[d].from, tokens.keys[d].to);
      token.fresh = undefined;
      if (isKey) {
        above.length = Math.max(0, tokens.depth - 1);
        for (let d = 0; d < above.length; d++) above[d] = token.keys[d];
        token.fresh = keyFor(this.keyNames.get(cursor.bytes, textFrom, textTo), above);
        if (token.fresh === undefined) return;
      }
      token.from = textFrom;
      token.to = textTo;
      count++;
    });
    return count;
  }

  private rewriteEvent(from: number, to: number): void {
    const { rules, found } = this;
    const { bytes } = this.cursor;
    const count = this.collect(from, to, this.eventKey);
    let category = '';
    let phase = '';
    for (let t = 0; t < count; t++) {
      const { keys } = found[t];
      if (keys.length !== 1 || found[t].fresh !== undefined) continue;
      if (keys[0] === 'cat')
        category = this.keyNames.get(bytes, found[t].from, Math.min(found[t].to, found[t].from + 200));
      else if (keys[0] === 'ph')
        phase = this.keyNames.get(bytes, found[t].from, Math.min(found[t].to, found[t].from + 8));
    }
    for (let t = 0; t < count; t++) {
      const token = found[t];
      const { keys } = token;
      const rule =
        keys[0] === 'args' && keys.length > 1
          ? rules.argument(keys)
          : rules.ownText(keys[0] ?? '', category, phase);
      this.rewrite(
        token,
        rule,
        () => `${isCategory(category) ? category || phase : 'event'} ${placeOf(keys)}`,
      );
    }
  }

  private rewriteStrings(top: string, from: number, to: number): void {
    const { rules, found } = this;
    const count = this.collect(from, to, key => rules.innerKey(key));
    for (let t = 0; t < count; t++)
      this.rewrite(found[t], rules.metadataText(top, found[t].keys), () => `metadata ${top}`);
  }

  private rewrite(token: Token, rule: Parameters<TraceRules['apply']>[0], where: () => string): void {
    const raw = latin1(this.cursor.bytes, token.from, token.to);
    const fresh = token.fresh ?? this.rules.apply(rule, raw, where);
    if (fresh !== undefined) this.replace(token.from, token.to, fresh);
  }

  private replace(from: number, to: number, text: string): void {
    this.copyUpTo(from);
    this.emit(new TextEncoder().encode(text));
    this.copied = to;
  }

  private copyUpTo(end: number): void {
    if (end > this.copied) this.emit(this.window.bytes.subarray(this.copied, end));
    this.copied = Math.max(end, this.copied);
  }
}

/** Keys repeat with every event: each is turned into text once. */
class KeyNames {
  private table = new StringTable();
  private texts: string[] = [];

  get(bytes: Uint8Array, from: number, to: number): string {
    const id = this.table.internBytes(bytes, from, to);
    if (id < this.texts.length) return this.texts[id];
    const text = latin1(bytes, from, to);
    if (id < MAX_KEYS) this.texts.push(text);
    else {
      this.table = new StringTable();
      this.texts = [];
    }
    return text;
  }
}

const latin1 = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');

/** Where a text stood, in words of the format: keys of one's own are not repeated. */
function placeOf(keys: readonly string[]): string {
  const known = keys.filter((key, d) => isKnownKey(key, keys.slice(0, d)));
  return known.length === keys.length ? keys.join('.') : [...known, 'other keys'].join('.');
}

/** Behind the closing bracket nothing belongs to the trace. */
function refuseMore(bytes: Uint8Array): void {
  if (!bytes.every(isWhite)) throw damagedTrace();
}

function damagedTrace(): UserError {
  return new UserError(
    'damaged',
    'The trace is damaged or truncated and cannot be copied completely.',
    'Copy or capture it again. A complete trace ends with a closing bracket.',
  );
}
