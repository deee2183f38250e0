/** What no output may ever say, whatever the file held. */
import assert from 'node:assert/strict';

/** Numbers that are none, bounds that are none, and figures in the notation of machines. */
const never = /\b(?:NaN|Infinity|undefined)\b|\bnull[- ]bound\b|\b\d(?:\.\d+)?e[+-]\d+\b|\[object /;

/** The note on numbers in a file that are none names them. */
const note = /values are NaN or infinite/g;

export function checkWords(printed: string): void {
  const text = printed.replace(note, '');
  const found = never.exec(text);
  assert.equal(found && text.slice(Math.max(0, found.index - 60), found.index + 40), null);
}
