/**
 * Writes protobuf messages one field after another (https://protobuf.dev/programming-guides/encoding). A nested message
 * gets its length once it is closed: four bytes are kept for it, and a length in more bytes than it needs is the same.
 */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const LENGTH_BYTES = 4;
const LOW_BITS = 2 ** 35;

const encoder = new TextEncoder();

export class MessageWriter {
  private bytes = new Uint8Array(1 << 16);
  private readonly view = () => new DataView(this.bytes.buffer);
  length = 0;

  /** Opens a nested message; what it returns closes it. */
  open(field: number): number {
    this.tag(field, BYTES);
    this.room(LENGTH_BYTES);
    this.length += LENGTH_BYTES;
    return this.length;
  }

  close(from: number): void {
    let rest = this.length - from;
    for (let i = LENGTH_BYTES; i > 0; i--) {
      this.bytes[from - i] = (rest & 0x7f) | (i > 1 ? 0x80 : 0);
      rest >>>= 7;
    }
    if (rest > 0) throw new Error('a message of more than 256 MB');
  }

  /** A whole number from 0 to 2^53. */
  whole(field: number, value: number): void {
    this.tag(field, VARINT);
    this.varint(value);
  }

  /** An int64: below 0 it takes ten bytes. */
  signed(field: number, value: number): void {
    this.tag(field, VARINT);
    if (value >= 0) this.varint(value);
    else this.bigVarint(BigInt.asUintN(64, BigInt(value)));
  }

  /** `high` × 2^35 + `low`, both whole: numbers beyond 2^53 without a bigint for each. */
  split(field: number, high: number, low: number): void {
    const carry = Math.floor(low / LOW_BITS);
    const top = high + carry;
    let rest = low - carry * LOW_BITS;
    this.tag(field, VARINT);
    if (top === 0) {
      this.varint(rest);
      return;
    }
    this.room(10);
    for (let i = 0; i < 5; i++) {
      this.bytes[this.length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.varint(top);
  }

  double(field: number, value: number): void {
    this.tag(field, FIXED64);
    this.room(8);
    this.view().setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A whole number from 0 to 2^53 in eight bytes. */
  fixed64(field: number, value: number): void {
    this.tag(field, FIXED64);
    this.room(8);
    this.view().setUint32(this.length, value % 2 ** 32, true);
    this.view().setUint32(this.length + 4, Math.floor(value / 2 ** 32), true);
    this.length += 8;
  }

  text(field: number, value: string): void {
    const bytes = encoder.encode(value);
    this.tag(field, BYTES);
    this.varint(bytes.length);
    this.room(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** What was written so far, as a copy; the writer begins anew. */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }

  private tag(field: number, type: number): void {
    this.varint(field * 8 + type);
  }

  private varint(value: number): void {
    this.room(10);
    let rest = value;
    while (rest >= 128) {
      this.bytes[this.length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.length++] = rest;
  }

  private bigVarint(value: bigint): void {
    this.room(10);
    let rest = value;
    while (rest >= 128n) {
      this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.length++] = Number(rest);
  }

  private room(bytes: number): void {
    if (this.length + bytes <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + bytes));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
