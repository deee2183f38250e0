/** Builds the line of a thread: which event is the innermost, from when on. */
import { NONE } from '../../base/column.js';

/** Segments in order of time; where two begin at the same moment the later one stands. */
export class SegmentBuilder {
  private at = Number.NaN;
  private on: number = NONE;
  private last: number = NONE;
  private length = 0;
  private readonly start: Float64Array;
  private readonly event: Int32Array;

  /** One begins and one ends with each event. */
  constructor(events: number) {
    this.start = new Float64Array(2 * events);
    this.event = new Int32Array(2 * events);
  }

  push(moment: number, event: number): void {
    if (moment !== this.at) this.close();
    this.at = moment;
    this.on = event;
  }

  finish(): { start: Float64Array; event: Int32Array } {
    this.close();
    return { start: this.start.subarray(0, this.length), event: this.event.subarray(0, this.length) };
  }

  private close(): void {
    if (Number.isNaN(this.at) || (this.on === this.last && this.length > 0)) return;
    this.start[this.length] = this.at;
    this.event[this.length++] = this.on;
    this.last = this.on;
  }
}
