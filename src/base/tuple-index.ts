/** Numbers tuples of up to four numbers: 0 for the first distinct one, 1 for the next … */
export class TupleIndex {
  private readonly parts: number[] = [];
  private slots = new Int32Array(64);
  private last = -1;
  length = 0;

  /** The tuple's number; a new one when it was not seen before. */
  intern(a: number, b: number, c = 0, d = 0): number {
    // Events come in runs of one thread or stream.
    if (this.last >= 0 && this.is(this.last, a, b, c, d)) return this.last;
    const mask = this.slots.length - 1;
    let slot = hash(a, b, c, d) & mask;
    while (this.slots[slot] !== 0) {
      const index = this.slots[slot] - 1;
      if (this.is(index, a, b, c, d)) return (this.last = index);
      slot = (slot + 1) & mask;
    }
    this.slots[slot] = this.length + 1;
    this.parts.push(a, b, c, d);
    if (++this.length * 2 > this.slots.length) this.rehash();
    return (this.last = this.length - 1);
  }

  has(a: number, b: number, c = 0, d = 0): boolean {
    const mask = this.slots.length - 1;
    for (let slot = hash(a, b, c, d) & mask; this.slots[slot] !== 0; slot = (slot + 1) & mask)
      if (this.is(this.slots[slot] - 1, a, b, c, d)) return true;
    return false;
  }

  part(index: number, which: 0 | 1 | 2 | 3): number {
    return this.parts[index * 4 + which];
  }

  private is(index: number, a: number, b: number, c: number, d: number): boolean {
    const at = index * 4;
    const parts = this.parts;
    return parts[at] === a && parts[at + 1] === b && parts[at + 2] === c && parts[at + 3] === d;
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    const mask = this.slots.length - 1;
    for (let index = 0; index < this.length; index++) {
      const at = index * 4;
      let slot = hash(this.parts[at], this.parts[at + 1], this.parts[at + 2], this.parts[at + 3]) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = index + 1;
    }
  }
}

function hash(a: number, b: number, c: number, d: number): number {
  let mixed = Math.imul(a | 0, 0x9e3779b1) ^ Math.imul(b | 0, 0x85ebca6b);
  mixed ^= Math.imul(c | 0, 0xc2b2ae35) ^ Math.imul(d | 0, 0x27d4eb2f);
  return mixed ^ (mixed >>> 15);
}
