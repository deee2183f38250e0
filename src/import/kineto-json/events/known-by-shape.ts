/** Numbers that were found for an event of the same shape before, by the key of a mark: most events repeat others. */

/** Keys of the scanner go round in so many. */
const SLOTS = 4096;

export class KnownByShape {
  private readonly keys = new Int32Array(SLOTS);
  private readonly numbers = new Int32Array(SLOTS);

  /** -1 where it is not known. */
  find(key: number): number {
    const slot = key & (SLOTS - 1);
    return key !== 0 && this.keys[slot] === key ? this.numbers[slot] : -1;
  }

  keep(key: number, number: number): void {
    if (key === 0) return;
    const slot = key & (SLOTS - 1);
    this.keys[slot] = key;
    this.numbers[slot] = number;
  }
}
