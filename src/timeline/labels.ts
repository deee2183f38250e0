/** Short texts for events, numbered. Each full name has one label, so a label stands for exactly one name. */
import type { Profile } from '../model/profile.js';
import type { LabelCells } from './slice-pyramid.js';

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

const MOST_SHORT = 1 << 16;

/** Labels as `fill` writes them. It is called once more where two bytes do not hold them all: then it finds each made. */
export function labelCells(
  length: number,
  labels: Pick<EventLabels, 'length'>,
  fill: (cells: LabelCells) => void,
): LabelCells {
  const short = new Uint16Array(length);
  fill(short);
  if (labels.length <= MOST_SHORT) return short;
  const long = new Int32Array(length);
  fill(long);
  return long;
}

const FIRST_ROOM = 64;

/** Columns of a lane that grow event by event. */
export class LaneBuilder {
  length = 0;
  private start: Float64Array;
  private end: Float64Array;
  private label: Int32Array;
  private tone: Uint8Array;
  private row: Int32Array;

  /** How many events are expected: room for them is made at once. `hasLabels`: not, where they are named later. */
  constructor(
    expected = FIRST_ROOM,
    private readonly hasLabels = true,
  ) {
    this.start = new Float64Array(expected);
    this.end = new Float64Array(expected);
    this.label = new Int32Array(hasLabels ? expected : 0);
    this.tone = new Uint8Array(expected);
    this.row = new Int32Array(expected);
  }

  add(start: number, end: number, label: number, tone: number, row: number): void {
    const at = this.length++;
    if (at === this.start.length) this.makeRoom();
    this.start[at] = start;
    this.end[at] = end;
    if (this.hasLabels) this.label[at] = label;
    this.tone[at] = tone;
    this.row[at] = row;
  }

  finish() {
    const { length } = this;
    const cut = <Cells extends { readonly length: number; slice(from: number, to: number): Cells }>(
      cells: Cells & { subarray(from: number, to: number): Cells },
    ): Cells => (cells.length > 1.25 * length ? cells.slice(0, length) : cells.subarray(0, length));
    return {
      length,
      start: cut(this.start),
      end: cut(this.end),
      label: cut(this.label),
      tone: cut(this.tone),
      row: cut(this.row),
    };
  }

  private makeRoom(): void {
    const room = Math.max(FIRST_ROOM, Math.ceil(1.5 * this.start.length));
    const larger = <Cells extends { set(cells: Cells): void }>(into: Cells, from: Cells): Cells => {
      into.set(from);
      return into;
    };
    this.start = larger(new Float64Array(room), this.start);
    this.end = larger(new Float64Array(room), this.end);
    if (this.hasLabels) this.label = larger(new Int32Array(room), this.label);
    this.tone = larger(new Uint8Array(room), this.tone);
    this.row = larger(new Int32Array(room), this.row);
  }
}
