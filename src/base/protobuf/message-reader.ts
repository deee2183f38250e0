/**
 * Reads the fields of a protobuf message one after another, without objects for them. Whole numbers come as two halves of
 * 32 bits, because times and ids need all 64. Nothing outside the message is read, whatever its lengths say.
 */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const HALF = 2 ** 32;
const MOST_FIELD = 2 ** 29;

const decoder = new TextDecoder();

export class MessageReader {
  private bytes: Uint8Array = new Uint8Array(0);
  pos = 0;
  private end = 0;
  /** Of the last field: its number, and whether its value is bytes. */
  field = 0;
  isBytes = false;
  isDouble = false;
  low = 0;
  high = 0;
  /** Where its bytes are. */
  from = 0;
  to = 0;
  /** What is there is not a message. */
  damaged = false;

  of(bytes: Uint8Array, from = 0, to = bytes.length): this {
    this.bytes = bytes;
    this.pos = from;
    this.end = to;
    this.damaged = false;
    return this;
  }

  /** False at the end of the message, or where it is damaged. */
  next(): boolean {
    if (this.pos >= this.end || this.damaged) return false;
    if (!this.varint()) return this.fail();
    const tag = this.low;
    this.field = Math.floor((this.high * HALF + tag) / 8);
    if (this.field === 0 || this.field >= MOST_FIELD) return this.fail();
    const type = tag & 7;
    this.isBytes = type === BYTES;
    this.isDouble = type === FIXED64;
    if (type === VARINT) return this.varint() || this.fail();
    if (type === FIXED64 || type === FIXED32) return this.fixed(type === FIXED64 ? 8 : 4);
    if (type !== BYTES || !this.varint() || this.high > 0 || this.low > this.end - this.pos)
      return this.fail();
    this.from = this.pos;
    this.to = this.pos += this.low;
    return true;
  }

  /** The value as a whole number; beyond 2^53 rounded. */
  get whole(): number {
    return this.high * HALF + this.low;
  }

  /** The value as an int64. */
  get signed(): number {
    return this.high < HALF / 2 ? this.whole : (this.high - HALF) * HALF + this.low;
  }

  get double(): number {
    const view = new DataView(new ArrayBuffer(8));
    view.setUint32(0, this.low, true);
    view.setUint32(4, this.high, true);
    return view.getFloat64(0, true);
  }

  /** A number of 64 bits as a key: exact, where a number of JavaScript is not. */
  get key(): number | string {
    return this.high < 2 ** 21 ? this.whole : `${this.high}:${this.low}`;
  }

  get text(): string {
    return decoder.decode(this.bytes.subarray(this.from, this.to));
  }

  private varint(): boolean {
    const { bytes, end } = this;
    let at = this.pos;
    if (at >= end) return false;
    let byte = bytes[at++];
    let low = byte & 0x7f;
    let high = 0;
    if (byte >= 0x80) {
      // Shifts keep 32 bits: seven at a time into the lower half, then into the upper one.
      let shift = 7;
      do {
        if (at >= end || shift > 63) return false;
        byte = bytes[at++];
        const part = byte & 0x7f;
        if (shift < 28) low |= part << shift;
        else if (shift === 28) {
          low |= (part & 0x0f) << 28;
          high = part >> 4;
        } else high |= part << (shift - 32);
        shift += 7;
      } while (byte >= 0x80);
    }
    this.low = low >>> 0;
    this.high = high >>> 0;
    this.pos = at;
    return true;
  }

  private fixed(size: number): boolean {
    if (this.end - this.pos < size) return this.fail();
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.pos, size);
    this.low = view.getUint32(0, true);
    this.high = size === 8 ? view.getUint32(4, true) : 0;
    this.pos += size;
    return true;
  }

  private fail(): false {
    this.damaged = true;
    return false;
  }
}
