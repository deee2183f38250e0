/** Interns the texts of events: undoes escapes, cuts what is absurdly long, bounds what is kept of long arguments. */
import { NONE } from '../../../base/column.js';
import { JsonText } from '../../../base/json/json-text.js';
import type { NoteCounter } from '../../../base/notes.js';
import { StringTable } from '../../../base/string-table.js';
import type { TextMark } from './event-reader.js';
import { KnownByShape } from './known-by-shape.js';

const MAX_NAME_BYTES = 64 * 1024;
/** Distinct shapes, types and stacks together. They repeat, so real files stay far below. */
export const MAX_DETAIL_BYTES = 256 * 1024 * 1024;

export class TextStore {
  /** What the marks point into. */
  bytes: Uint8Array = new Uint8Array(0);
  private readonly known = new KnownByShape();
  private readonly plain = new JsonText();
  /** Values as written, so that a repeated one is recognized without being compacted again. */
  private readonly written = new StringTable();
  private readonly compacted: number[] = [];
  /** How much room distinct details have taken. */
  detailBytes = 0;
  private detailsFull = false;

  constructor(
    private readonly strings: StringTable,
    private readonly notes: NoteCounter,
  ) {}

  /** A name. The empty text when there is none. */
  name(mark: TextMark): number {
    const known = this.known.find(mark.key);
    if (known >= 0) return known;
    const id = this.intern(mark);
    this.known.keep(mark.key, id);
    return id;
  }

  private intern(mark: TextMark): number {
    const { bytes } = this;
    if (mark.to === 0) return this.strings.internBytes(bytes, 0, 0);
    const to = this.cut(mark.from, mark.to);
    if (!mark.escaped) return this.strings.internBytes(bytes, mark.from, to);
    this.plain.unescape(bytes, mark.from, to);
    return this.strings.internBytes(this.plain.bytes, 0, this.plain.length);
  }

  /** A long text that may be left out once there is too much of it. */
  detail(mark: TextMark): number {
    if (mark.to <= mark.from || this.detailsFull) return NONE;
    const before = this.strings.size;
    const id = this.name(mark);
    if (this.strings.size !== before) this.spend(mark.to - mark.from);
    return id;
  }

  /** A JSON value (shapes, types) without its white space. */
  value(mark: TextMark): number {
    if (mark.to === 0 || this.detailsFull) return NONE;
    const id = this.written.internBytes(this.bytes, mark.from, mark.to);
    if (id === this.compacted.length) {
      this.plain.compact(this.bytes, mark.from, mark.to);
      this.compacted.push(this.strings.internBytes(this.plain.bytes, 0, this.plain.length));
      this.spend((mark.to - mark.from) * 2);
    }
    return this.compacted[id];
  }

  private cut(from: number, to: number): number {
    if (to - from <= MAX_NAME_BYTES) return to;
    this.notes.add('name-cut', 'info', `Names longer than ${MAX_NAME_BYTES / 1024} KiB were truncated`);
    let end = from + MAX_NAME_BYTES;
    // Not in the middle of a character.
    while (end > from && (this.bytes[end] & 0xc0) === 0x80) end--;
    return end;
  }

  private spend(bytes: number): void {
    this.detailBytes += bytes;
    if (this.detailBytes < MAX_DETAIL_BYTES) return;
    this.detailsFull = true;
    this.notes.add(
      'details-full',
      'loss',
      `Shapes, types and stacks were left out after the first ${MAX_DETAIL_BYTES / 1024 / 1024} MB of distinct values`,
    );
  }
}
