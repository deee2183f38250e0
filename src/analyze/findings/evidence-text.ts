/** Evidence in words. */
import { formatBytes, formatCount, formatDuration } from '../../base/units.js';
import type { Evidence } from './finding.js';

/** The sentence, and the part and whole it was taken from. */
export function evidenceText({ text, numerator, denominator, unit, analysis }: Evidence): string {
  // What only names a table says where that is.
  if (analysis !== undefined && !/\d/.test(text)) return `${text}: stepscope analyze --only ${analysis}`;
  if (typeof numerator !== 'number' || typeof denominator !== 'number') return text;
  // A percentage that the sentence states is of itself a part of a whole.
  if (unit === '%') return text;
  const amount = (value: number) =>
    unit === 'ns'
      ? formatDuration(value)
      : unit === 'bytes'
        ? formatBytes(value)
        : `${formatCount(Number(value.toFixed(value < 100 ? 1 : 0)))}${unit ? ` ${unit}` : ''}`;
  const ofWhole = `${amount(numerator)} of ${amount(denominator)}`;
  // Of a single step the means are the sums.
  return text.startsWith(ofWhole) ? text : `${text} (${ofWhole})`;
}
