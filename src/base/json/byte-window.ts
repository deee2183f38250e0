/**
 * A sliding view of a byte stream: what has come but is not used up yet, in one piece. Chunks are added behind,
 * used bytes dropped in front, and a value cut by a chunk's end is whole again once the next chunk is there.
 */
const SPARE_BYTES = 2;

export class ByteWindow {
  bytes: Uint8Array;
  start = 0;
  end = 0;
  /** How many bytes of the stream were dropped in front: where `start` is in the whole. */
  private dropped = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
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
    if (kept.length + wanted > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.bytes.length * 2, kept.length + wanted));
      larger.set(kept);
      this.bytes = larger;
    } else this.bytes.copyWithin(0, this.start, this.end);
    this.dropped += this.start;
    this.end = kept.length;
    this.start = 0;
  }
}
