/** Short texts for events, numbered. Each full name has one label, so a label stands for exactly one name. */
import { GrowingColumn } from '../base/growing-column.js';
import type { Profile } from '../model/profile.js';

const LONGEST = 160;

export class EventLabels {
  private readonly short: string[] = [];
  private readonly full: string[] = [];
  private readonly byText = new Map<string, number>();

  constructor(private readonly profile: Profile) {}

  get length(): number {
    return this.short.length;
  }

  text = (id: number): string => this.short[id] ?? '';
  name = (id: number): string => this.full[id] ?? '';

  /** The label of a text of our own making. */
  of(text: string, name = text): number {
    let id = this.byText.get(name);
    if (id === undefined) {
      id = this.short.length;
      this.byText.set(name, id);
      this.short.push(text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
      this.full.push(name);
    }
    return id;
  }

  /** Labels of names of the profile by string id, shortened by `shorten`; each is made once. */
  ofNames(shorten: (name: string) => string = name => name): (stringId: number) => number {
    const known: (number | undefined)[] = [];
    return stringId => {
      if (stringId < 0) return this.of('(unnamed)');
      let label = known[stringId];
      if (label === undefined) {
        const name = this.profile.strings.text(stringId);
        label = this.of(shorten(name), name);
        known[stringId] = label;
      }
      return label;
    };
  }
}

/** Columns of a lane that grow event by event. */
export class LaneBuilder {
  private readonly start = new GrowingColumn('f64');
  private readonly end = new GrowingColumn('f64');
  private readonly label = new GrowingColumn('i32');
  private readonly tone = new GrowingColumn('u8');
  private readonly row = new GrowingColumn('i32');

  get length(): number {
    return this.start.length;
  }

  add(start: number, end: number, label: number, tone: number, row: number): void {
    this.start.push(start);
    this.end.push(end);
    this.label.push(label);
    this.tone.push(tone);
    this.row.push(row);
  }

  finish() {
    return {
      length: this.start.length,
      start: this.start.finishAll() as Float64Array,
      end: this.end.finishAll() as Float64Array,
      label: this.label.finishAll() as Int32Array,
      tone: this.tone.finishAll() as Uint8Array,
      row: this.row.finishAll() as Int32Array,
    };
  }
}
