/**
 * Process and thread ids as Kineto writes them: mostly numbers, sometimes quoted ("25738"), sometimes words
 * ("Spans", "stream 7"). Words get numbers above any real id, so that everything downstream is numeric.
 */
import type { JsonCursor } from '../../base/json/json-cursor.js';
import { StringTable } from '../../base/string-table.js';

const FIRST_LABEL = 2 ** 40;
/** Tracks Kineto draws for itself; nothing ran there. */
const pseudo = new Set(['', 'Spans', 'Traces', 'Trace']);

export class Labels {
  private readonly words = new StringTable();
  /** What each distinct word became. */
  private readonly numbers: number[] = [];

  read(cursor: JsonCursor): number {
    if (cursor.bytes[cursor.pos] !== 0x22) return cursor.readNumber();
    if (!cursor.readText()) return Number.NaN;
    const word = this.words.internBytes(cursor.bytes, cursor.textFrom, cursor.textTo);
    if (word === this.numbers.length) this.numbers.push(numberOf(this.words.text(word), word));
    return this.numbers[word];
  }

  /** The word behind a number, or '' for a real id. */
  text(number: number): string {
    return number >= FIRST_LABEL ? this.words.text(number - FIRST_LABEL) : '';
  }

  isPseudo(number: number): boolean {
    return number >= FIRST_LABEL && pseudo.has(this.text(number));
  }
}

function numberOf(text: string, word: number): number {
  const digits = /^(?:stream )?(-?\d{1,12})\s*$/.exec(text);
  return digits ? Number(digits[1]) : FIRST_LABEL + word;
}
