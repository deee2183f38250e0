/** A stream of pieces as bytes to be asked for: so many at once, or so many in passing. */
export class PackedBytes {
  private readonly source: AsyncIterator<Uint8Array>;
  private piece: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Exactly so many, or undefined where nothing is left. Throws where the stream ends among them. */
  async take(count: number): Promise<Uint8Array | undefined> {
    const taken = new Uint8Array(count);
    let at = 0;
    for await (const part of this.pass(count, count)) {
      taken.set(part, at);
      at += part.length;
    }
    if (at === 0 && count > 0) return undefined;
    if (at < count) throw new Error('it ends early');
    return taken;
  }

  /** So many in parts of at most `most`; fewer where the stream ends. */
  async *pass(count: number, most: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      if (this.piece.length === 0) {
        const next = await this.source.next();
        if (next.done) return;
        this.piece = next.value;
        continue;
      }
      const part = this.piece.subarray(0, Math.min(left, most, this.piece.length));
      this.piece = this.piece.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
}
