/** What counts must be, said once: whole, not negative, finite, as many for every layer. */
import { UserError } from '../../base/user-error.js';
import { MOST_CELLS, MOST_EXPERTS, MOST_LAYERS } from '../../model/expert-load.js';

/** A message about one number: where it stands, and what is wrong with it. */
export function badCount(name: string, value: number, where: string): UserError {
  const what = Number.isNaN(value)
    ? 'is not a number'
    : value < 0
      ? `is ${value}, below 0`
      : Number.isInteger(value) || !Number.isFinite(value)
        ? 'is too large for a count'
        : `is ${value}, not a whole number`;
  return new UserError(
    'damaged',
    `${name}: the count of ${where} ${what}.`,
    'Counts must be whole numbers of tokens. Save the sums: shares and averages do not show the balance.',
  );
}

export const isCount = (value: number): boolean =>
  value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value;

export function checkShape(name: string, layers: number, experts: number): void {
  const whole = (value: number) => Number.isInteger(value) && value > 0;
  const absurd = layers > MOST_LAYERS || experts > MOST_EXPERTS || layers * experts > MOST_CELLS;
  if (whole(layers) && whole(experts) && !absurd) return;
  throw new UserError(
    'damaged',
    `${name} would contain ${layers} layers with ${experts} experts.`,
    absurd
      ? 'No model is that large. The order is [layer, expert] or [iteration, layer, expert].'
      : 'It needs at least one layer and one expert.',
  );
}

/** Rows of a nested list as one flat array; ragged rows and bad counts are said with their place. */
export function flattenCounts(
  name: string,
  rows: readonly unknown[],
  experts: number,
  where: string,
  into: Float64Array,
): void {
  rows.forEach((row, layer) => {
    if (!Array.isArray(row) || row.length !== experts)
      throw new UserError(
        'damaged',
        `${name}: ${where}layer ${layer} has ${Array.isArray(row) ? row.length : 'no'} experts, but the first has ${experts}.`,
        'Every layer needs a count for every expert; use 0 for experts without tokens.',
      );
    for (let expert = 0; expert < experts; expert++) {
      const value = row[expert];
      if (typeof value !== 'number' || !isCount(value))
        throw badCount(
          name,
          typeof value === 'number' ? value : Number.NaN,
          `${where}layer ${layer}, expert ${expert}`,
        );
      into[layer * experts + expert] = value;
    }
  });
}
