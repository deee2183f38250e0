/**
 * Texts shortened to the room there is, in the middle: names of kernels begin with a library and end with a shape.
 * Widths are those of the font that is drawn, letter by letter, each measured once.
 */
const DOTS = '…';
const LEAST_LETTERS = 3;
/** So many letters of the beginning come before any of the end, and then two for each of the end. */
const HEAD_ONLY = 8;
const KEPT = 20_000;

export class FittingText {
  private readonly widths = new Map<string, number>();
  private readonly known = new Map<string, number>();

  constructor(private readonly measure: (text: string) => number) {}

  private letter(letter: string): number {
    let width = this.widths.get(letter);
    if (width === undefined) {
      width = this.measure(letter);
      this.widths.set(letter, width);
    }
    return width;
  }

  width(text: string): number {
    let width = this.known.get(text);
    if (width === undefined) {
      width = 0;
      for (const letter of text) width += this.letter(letter);
      if (this.known.size > KEPT) this.known.clear();
      this.known.set(text, width);
    }
    return width;
  }

  /** Empty where not even a few letters fit. */
  shortened(text: string, room: number): string {
    if (this.width(text) <= room) return text;
    const letters = [...text];
    let left = room - this.letter(DOTS);
    let [head, tail] = [0, 0];
    while (head + tail < letters.length) {
      const isHead = head < HEAD_ONLY || head <= 2 * tail;
      const next = this.letter(isHead ? letters[head] : letters[letters.length - 1 - tail]);
      if (next > left) break;
      left -= next;
      if (isHead) head++;
      else tail++;
    }
    if (head + tail < LEAST_LETTERS) return '';
    return letters.slice(0, head).join('') + DOTS + letters.slice(letters.length - tail).join('');
  }
}
