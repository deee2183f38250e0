/** Lines of the form `Label: 12.34`, wherever in a line the label stands. */
import type { NoteCounter } from '../../base/notes.js';
import type { LogLine } from './log-lines.js';

interface Labelled {
  readonly label: string;
  /** What follows the colon, trimmed. */
  readonly value: string;
}

/** Finds any of the labels followed by a colon. Longer ones first: one may begin like another. */
export function labelFinder(labels: readonly string[]): (text: string) => Labelled | undefined {
  const escaped = [...labels]
    .sort((a, b) => b.length - a.length)
    .map(label => label.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' ', '[ ]{1,3}'));
  const pattern = new RegExp(`(?<![A-Za-z0-9_])(${escaped.join('|')})[ \t]{0,8}:[ \t]*(.*)$`);
  return text => {
    if (!text.includes(':')) return undefined;
    const match = pattern.exec(text);
    return match ? { label: match[1].replace(/ {2,}/g, ' '), value: match[2].trim() } : undefined;
  };
}

/** What tools print where there is nothing to print. */
const NOTHING = /^(?:None|N\/A|not set|null|trace|-?)$/i;

/**
 * The number a value begins with. `decimals` is how many the tool always prints: at the end of a cut file a number
 * with fewer is a piece of one, and is not taken.
 */
export function labelledFigure(
  value: string,
  line: LogLine,
  notes: NoteCounter,
  decimals?: number,
): number | undefined {
  if (NOTHING.test(value) && !(value === '' && line.cut)) return undefined;
  const match = /^(-?\d{1,20}(?:\.(\d{0,30}))?(?:[eE][-+]?\d{1,3})?)(?=[\s%]|$)/.exec(value);
  if (!match) {
    notes.add('not-a-number', 'warning', 'lines have a value that is not a number', line.text.trim());
    return undefined;
  }
  const ends = match[0].length === value.length;
  if (line.cut && ends && (decimals === undefined || match[2]?.length !== decimals)) {
    notes.add('cut-off', 'loss', 'values at the end of a truncated file were left out', line.text.trim());
    return undefined;
  }
  const number = Number(match[1]);
  return Number.isFinite(number) ? number : undefined;
}
