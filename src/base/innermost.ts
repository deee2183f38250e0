/** The innermost of nested stretches of time at a moment, for moments that mostly grow. */
import { NONE } from './column.js';

export class Innermost {
  private next = 0;
  private last = -Infinity;
  private open: number[] = [];

  /** In order of start, of equal starts the longer first. */
  constructor(private readonly ranges: readonly { readonly start: number; readonly end: number }[]) {}

  /** Its place in the list, or NONE. */
  at(moment: number): number {
    const { ranges, open } = this;
    if (moment < this.last) {
      this.next = 0;
      open.length = 0;
    }
    this.last = moment;
    while (this.next < ranges.length && ranges[this.next].start <= moment) {
      while (open.length > 0 && ranges[open[open.length - 1]].end <= ranges[this.next].start) open.pop();
      open.push(this.next++);
    }
    while (open.length > 0 && ranges[open[open.length - 1]].end <= moment) open.pop();
    return open.length > 0 ? open[open.length - 1] : NONE;
  }
}
