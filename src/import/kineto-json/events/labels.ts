/**
 * Process and thread ids as Kineto writes them: mostly numbers, sometimes quoted ("25738"), sometimes words
 * ("Spans", "stream 7"). Words get numbers above any real id, so that everything downstream is numeric.
 */
import type { JsonCursor } from '../../../base/json/json-cursor.js';
import { type PackedStrings, StringTable } from '../../../base/string-table.js';

const FIRST_LABEL = 2 ** 40;
/** More distinct words than any trace has. */
const MAX_WORDS = 2 ** 20;
/** Tracks Kineto draws for itself, of one of several ranks too; nothing ran there. */
const pseudo = /^(?:\[[^\]]*\] ?)?(?:Spans|Traces?)?$/;

export class Labels {
  private readonly words = new StringTable();
  /** What each distinct word became. */
  private readonly numbers: number[] = [];
  /** A real id lies where words are numbered: the two can no longer be told apart. */
  ambiguous = false;

  read(cursor: JsonCursor): number {
    if (cursor.bytes[cursor.pos] !== 0x22) {
      const number = cursor.readNumber();
      if (number >= FIRST_LABEL && number < FIRST_LABEL + MAX_WORDS) this.ambiguous = true;
      return number;
    }
    if (!cursor.readText()) return Number.NaN;
    return this.numberOf(cursor.bytes, cursor.textFrom, cursor.textTo);
  }

  numberOf(bytes: Uint8Array, from: number, to: number): number {
    return this.numbers[this.add(bytes, from, to)];
  }

  get count(): number {
    return this.numbers.length;
  }

  /** Which word this is. */
  add(bytes: Uint8Array, from: number, to: number): number {
    const word = this.words.internBytes(bytes, from, to);
    if (word === this.numbers.length) {
      this.numbers.push(wordNumber(this.words.text(word), word));
      if (word >= MAX_WORDS) this.ambiguous = true;
    }
    return word;
  }

  give(): PackedStrings {
    return this.words.pack();
  }

  /** The word behind a number, or '' for a real id. */
  text(number: number): string {
    return number >= FIRST_LABEL ? this.words.text(number - FIRST_LABEL) : '';
  }

  isPseudo(number: number): boolean {
    return number >= FIRST_LABEL && pseudo.test(this.text(number));
  }
}

/** The number of a word, where words were counted anew: `words` says which one each became. Real ids stay. */
export function renumberLabel(number: number, words: ArrayLike<number>): number {
  return isLabel(number, words.length) ? FIRST_LABEL + words[number - FIRST_LABEL] : number;
}

/** Whether the number stands for one of so many words. */
export function isLabel(number: number, words: number): boolean {
  return number >= FIRST_LABEL && number < FIRST_LABEL + words;
}

function wordNumber(text: string, word: number): number {
  const digits = /^(?:stream )?(-?\d{1,12})\s*$/.exec(text);
  return digits ? Number(digits[1]) : FIRST_LABEL + word;
}
