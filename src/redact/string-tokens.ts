/** The strings of one JSON value, each with the keys above it. Nothing is decoded. */
import { endOfString } from '../base/json/stepping.js';

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Keys deeper than this are taken for their nearest kept ancestor's. */
const KEPT_DEPTH = 4;

interface Span {
  from: number;
  to: number;
}

/** Visits every string of bytes[from .. to), which must be one whole value and have a quote behind its end. */
export class StringTokens {
  /** The key that leads to the string, by depth: the outermost object's first. */
  readonly keys: Span[] = Array.from({ length: KEPT_DEPTH }, () => ({ from: 0, to: 0 }));
  /** How many of `keys` are set. */
  depth = 0;

  scan(
    bytes: Uint8Array,
    from: number,
    to: number,
    visit: (from: number, to: number, isKey: boolean) => void,
  ): void {
    // Arrays add no keys, so only objects count.
    let depth = 0;
    for (let i = from; i < to; ) {
      const byte = bytes[i++];
      if (byte === QUOTE) {
        const start = i;
        i = endOfString(bytes, i);
        const end = i - 1;
        let next = i;
        while (next < to && bytes[next] <= SPACE) next++;
        const isKey = next < to && bytes[next] === COLON;
        if (isKey && depth > 0 && depth <= KEPT_DEPTH) {
          this.keys[depth - 1].from = start;
          this.keys[depth - 1].to = end;
        }
        this.depth = Math.min(depth, KEPT_DEPTH);
        visit(start, end, isKey);
      } else if (byte === OPEN_BRACE) {
        if (++depth <= KEPT_DEPTH) this.keys[depth - 1].to = this.keys[depth - 1].from = 0;
      } else if (byte === CLOSE_BRACE) depth--;
    }
  }
}
