/** Steps over one value that is too large to be held, in as many pieces as it comes. */
export class ValueSkipper {
  private depth = 0;
  private inString = false;
  private escaped = false;

  /** Index after the value's end, or -1 while it goes on beyond `to`. Begins at the value's first byte. */
  skip(bytes: Uint8Array, from: number, to: number): number {
    for (let i = from; i < to; i++) {
      const byte = bytes[i];
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === 0x5c) this.escaped = true;
        else if (byte === 0x22) {
          this.inString = false;
          if (this.depth === 0) return i + 1;
        }
      } else if (byte === 0x22) this.inString = true;
      else if (byte === 0x7b || byte === 0x5b) this.depth++;
      else if (byte === 0x7d || byte === 0x5d) {
        // A bare word is ended by the bracket around it, which is not part of it.
        if (this.depth === 0) return i;
        if (--this.depth === 0) return i + 1;
      } else if (byte === 0x2c && this.depth === 0) return i;
    }
    return -1;
  }
}
