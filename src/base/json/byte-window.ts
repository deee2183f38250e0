/**
 * A sliding view of a byte stream: what has come but is not used up yet, in one piece. Chunks are added behind,
 * used bytes dropped in front, and a value cut by a chunk's end is whole again once the next chunk is there.
 */
const SPARE_BYTES = 2;

export class ByteWindow {
  bytes: Uint8Array;
  /** Where bytes lie unless they need more room. */
  private readonly home: Uint8Array;
  start = 0;
  end = 0;
  /** How many bytes of the stream were dropped in front: where `start` is in the whole. */
  private dropped = 0;

  /** How many bytes fit in before it grows, or where they are to lie until then. */
  constructor(capacity: number | Uint8Array) {
    this.home = typeof capacity === 'number' ? new Uint8Array(capacity) : capacity;
    this.bytes = this.home;
  }

  get length(): number {
    return this.end - this.start;
  }

  /** Where an index into `bytes` is in the stream. */
  offsetOf(index: number): number {
    return this.dropped + index;
  }

  append(chunk: Uint8Array): void {
    // The cursor puts two quotes behind the end.
    if (this.end + chunk.length + SPARE_BYTES > this.bytes.length) this.makeRoom(chunk.length + SPARE_BYTES);
    this.bytes.set(chunk, this.end);
    this.end += chunk.length;
  }

  private makeRoom(wanted: number): void {
    const kept = this.bytes.subarray(this.start, this.end);
    const needed = kept.length + wanted;
    if (this.bytes !== this.home && needed <= this.home.length) {
      this.home.set(kept);
      this.bytes = this.home;
    } else if (needed > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.bytes.length * 2, needed));
      larger.set(kept);
      this.bytes = larger;
    } else this.bytes.copyWithin(0, this.start, this.end);
    this.dropped += this.start;
    this.end = kept.length;
    this.start = 0;
  }
}
