/** One record (https://www.sqlite.org/fileformat2.html#record_format): which values are text, and a copy with some replaced. */
import { damage } from './walk-rows.js';

const SIZE = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];
const FIRST_BLOB = 12;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class RecordEditor {
  private bytes: Uint8Array = new Uint8Array(0);
  private types = new Float64Array(64);
  private offsets = new Float64Array(64);
  private count = 0;
  private at = 0;
  private readonly replaced = new Map<number, Uint8Array>();
  private out = new Uint8Array(4096);
  /** Where the values end; what a record holds behind them is nobody's. */
  end = 0;
  /** True when a value is text or binary. */
  hasText = false;

  read(bytes: Uint8Array, from: number, to: number): void {
    this.bytes = bytes;
    this.count = 0;
    this.hasText = false;
    if (this.replaced.size > 0) this.replaced.clear();
    this.at = from;
    const headerEnd = from + this.varint(to);
    if (headerEnd > to || headerEnd < this.at) throw damage();
    let body = headerEnd;
    while (this.at < headerEnd) {
      let type = bytes[this.at];
      if (type < 0x80) this.at++;
      else type = this.varint(headerEnd);
      if (type === 10 || type === 11) throw damage();
      if (this.count === this.types.length) this.grow();
      this.types[this.count] = type;
      this.offsets[this.count++] = body;
      if (type >= FIRST_BLOB) {
        this.hasText = true;
        body += Math.floor((type - FIRST_BLOB) / 2);
      } else body += SIZE[type];
    }
    if (body > to) throw damage();
    this.end = body;
  }

  private varint(limit: number): number {
    let value = 0;
    for (let n = 0; n < 5; n++) {
      if (this.at >= limit) throw damage();
      const b = this.bytes[this.at++];
      value = value * 128 + (b & 0x7f);
      if (b < 0x80) return value;
    }
    throw damage();
  }

  get columns(): number {
    return this.count;
  }

  isText(column: number): boolean {
    return column < this.count && this.types[column] > FIRST_BLOB && this.types[column] % 2 === 1;
  }

  /** Binary values of at least one byte. */
  isBlob(column: number): boolean {
    return column < this.count && this.types[column] > FIRST_BLOB && this.types[column] % 2 === 0;
  }

  text(column: number): string {
    if (!this.isText(column)) return '';
    const from = this.offsets[column];
    return decoder.decode(this.bytes.subarray(from, from + (this.types[column] - 13) / 2));
  }

  /** Bytes of a binary value; good until the next record is read. */
  blob(column: number): Uint8Array {
    if (!this.isBlob(column)) return new Uint8Array(0);
    const from = this.offsets[column];
    return this.bytes.subarray(from, from + (this.types[column] - FIRST_BLOB) / 2);
  }

  /** A whole number, as far as a double holds it; NaN for anything else. */
  number(column: number): number {
    const type = column < this.count ? this.types[column] : 0;
    if (type === 8 || type === 9) return type - 8;
    if (type < 1 || type > 6) return Number.NaN;
    let at = this.offsets[column];
    let value = (this.bytes[at++] << 24) >> 24;
    for (let left = SIZE[type] - 1; left > 0; left--) value = value * 256 + this.bytes[at++];
    return value;
  }

  /** Puts another text here, or other bytes where a binary value was. */
  replace(column: number, value: string | Uint8Array): void {
    this.replaced.set(column, typeof value === 'string' ? encoder.encode(value) : value);
  }

  get changed(): boolean {
    return this.replaced.size > 0;
  }

  /** The record with its replacements; good until the next one is made. */
  build(): Uint8Array {
    const types = Array.from({ length: this.count }, (_, c) => {
      const fresh = this.replaced.get(c);
      if (!fresh) return this.types[c];
      return (this.isBlob(c) ? FIRST_BLOB : FIRST_BLOB + 1) + fresh.length * 2;
    });
    return this.assemble(types, c => {
      const fresh = this.replaced.get(c);
      if (fresh) return fresh;
      const end = c + 1 < this.count ? this.offsets[c + 1] : this.end;
      return this.bytes.subarray(this.offsets[c], end);
    });
  }

  private assemble(types: readonly number[], value: (column: number) => Uint8Array): Uint8Array {
    const header: number[] = [];
    for (const type of types) pushVarint(header, type);
    // The header's length counts itself.
    const own = header.length + 1 < 0x80 ? 1 : header.length + 2 < 0x4000 ? 2 : 3;
    const length: number[] = [];
    pushVarint(length, header.length + own);
    const values = types.map((_, c) => value(c));
    const size = length.length + header.length + values.reduce((sum, v) => sum + v.length, 0);
    if (this.out.length < size) this.out = new Uint8Array(Math.max(size, this.out.length * 2));
    this.out.set(length);
    this.out.set(header, length.length);
    let at = length.length + header.length;
    for (const bytes of values) {
      this.out.set(bytes, at);
      at += bytes.length;
    }
    return this.out.subarray(0, size);
  }

  private grow(): void {
    const wider = (old: Float64Array) => {
      const array = new Float64Array(old.length * 2);
      array.set(old);
      return array;
    };
    this.types = wider(this.types);
    this.offsets = wider(this.offsets);
  }
}

/** A row of sqlite_master. */
export function schemaRecord(
  type: string,
  name: string,
  table: string,
  root: number,
  sql: string | undefined,
): Uint8Array {
  const texts = [type, name, table, sql].map(text => (text === undefined ? undefined : encoder.encode(text)));
  const header: number[] = [];
  for (const text of texts.slice(0, 3)) pushVarint(header, 13 + text!.length * 2);
  header.push(4);
  pushVarint(header, texts[3] ? 13 + texts[3].length * 2 : 0);
  const parts = [
    Uint8Array.of(header.length + 1, ...header),
    ...texts.slice(0, 3),
    Uint8Array.of(root >>> 24, (root >>> 16) & 255, (root >>> 8) & 255, root & 255),
    texts[3],
  ];
  const record = new Uint8Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0));
  let at = 0;
  for (const part of parts) {
    if (part) record.set(part, at);
    at += part?.length ?? 0;
  }
  return record;
}

/** Numbers below 2^35: lengths and types. */
export function pushVarint(into: number[], value: number): void {
  const groups: number[] = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    groups.unshift((rest % 128) | 0x80);
  into.push(...groups);
}
