/**
 * Recognizes a fixed set of keys in raw bytes. A slot is chosen by length, first and last byte; one comparison of
 * bytes then settles it. Keys are never decoded.
 */
export class KeyTable {
  private readonly slots: Int32Array;
  private readonly keys: Uint8Array[] = [];
  private readonly meanings: number[] = [];

  /** Several spellings may have one meaning. Meanings are small numbers of the caller's choice, from 0. */
  constructor(entries: Iterable<readonly [key: string, meaning: number]>) {
    const encoder = new TextEncoder();
    for (const [key, meaning] of entries) {
      this.keys.push(encoder.encode(key));
      this.meanings.push(meaning);
    }
    let size = 64;
    while (size < this.keys.length * 8) size *= 2;
    this.slots = new Int32Array(size).fill(-1);
    this.keys.forEach((key, index) => {
      let slot = slotOf(key, 0, key.length) & (size - 1);
      while (this.slots[slot] !== -1) slot = (slot + 1) & (size - 1);
      this.slots[slot] = index;
    });
  }

  *entries(): Iterable<{ readonly key: Uint8Array; readonly meaning: number }> {
    for (let i = 0; i < this.keys.length; i++) yield { key: this.keys[i], meaning: this.meanings[i] };
  }

  /** The meaning of bytes[from .. to), or -1. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const mask = this.slots.length - 1;
    const length = to - from;
    if (length === 0) return -1;
    for (let slot = slotOf(bytes, from, to) & mask; this.slots[slot] !== -1; slot = (slot + 1) & mask) {
      const index = this.slots[slot];
      const key = this.keys[index];
      if (key.length !== length) continue;
      let i = 0;
      while (i < length && key[i] === bytes[from + i]) i++;
      if (i === length) return this.meanings[index];
    }
    return -1;
  }
}

/** Where the search for a key begins, before it is cut to the size of a table. */
export function slotOf(bytes: Uint8Array, from: number, to: number): number {
  return (to - from) * 37 + bytes[from] * 5 + bytes[to - 1] * 11;
}
