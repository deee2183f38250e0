/**
 * Counted notes: what was lost or odd in the data, shown with every report.
 * The thousandth damaged row costs one increment, not one line of output.
 */
import type { note, Static } from './document.js';

export type Note = Static<typeof note>;
export type NoteSeverity = Note['severity'];

export class NoteCounter {
  private readonly byCode = new Map<string, { -readonly [K in keyof Note]: Note[K] }>();

  add(code: string, severity: NoteSeverity, text: string, example = '', count = 1): void {
    const known = this.byCode.get(code);
    if (known) known.count += count;
    else this.byCode.set(code, { code, severity, text, count, example: example.slice(0, 200) });
  }

  addAll(others: NoteCounter): void {
    for (const { code, severity, text, example, count } of others.byCode.values())
      this.add(code, severity, text, example, count);
  }

  /** How many different notes there are. */
  get size(): number {
    return this.byCode.size;
  }

  has(code: string): boolean {
    return this.byCode.has(code);
  }

  list(): Note[] {
    return [...this.byCode.values()].map(note => ({ ...note }));
  }
}
