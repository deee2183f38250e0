/**
 * An array of whole numbers may be counts per expert or the experts each token was given. Ids betray themselves: few
 * per row, all different within a row, rows by the thousand. Where both could be, the user is asked.
 */
import { UserError } from '../../base/user-error.js';

/** More experts per token than any router chooses. */
const MOST_CHOSEN = 16;
/** More rows than any model has layers. */
const MANY_ROWS = 512;

export function chooseMeaning(
  name: string,
  shape: readonly number[],
  rows: () => readonly (readonly number[])[],
  asked: 'counts' | 'ids' | undefined,
): 'counts' | 'ids' {
  if (asked) return asked;
  const width = shape[shape.length - 1];
  const length = shape[shape.length - 2];
  if (width > MOST_CHOSEN) return 'counts';
  const look = rows();
  const isDistinct = (row: readonly number[]) => {
    const used = row.filter(id => id !== -1);
    return new Set(used).size === used.length && used.every(id => Number.isInteger(id) && id >= 0);
  };
  const couldBeIds = look.length > 0 && look.every(isDistinct);
  if (!couldBeIds) return 'counts';
  if (length > MANY_ROWS) return 'ids';
  throw new UserError(
    'usage',
    `${name} (${shape.join(' × ')}) may contain counts per expert or chosen expert IDs per token.`,
    'Specify which: --as counts or --as ids',
  );
}
