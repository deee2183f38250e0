/** Steps over one value that is too large to be held, in as many pieces as it comes. */

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

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
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) {
          this.inString = false;
          if (this.depth === 0) return i + 1;
        }
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        // A bare word is ended by the bracket around it, which is not part of it.
        if (this.depth === 0) return i;
        if (--this.depth === 0) return i + 1;
      } else if (byte === COMMA && this.depth === 0) return i;
    }
    return -1;
  }
}
