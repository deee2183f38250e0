/** What the user can fix, in two lines: a mistake, something that the capture does not have, or what the system refused. */
import type { NotRecorded } from '../analyze/analysis.js';
import { isBranded, UserError } from '../base/user-error.js';
import { systemError } from './system-error.js';

/** Undefined for anything else: that is a bug of ours. */
export function mistakeOf(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  if (isBranded(error, 'NotRecorded')) return notRecordedError(error as NotRecorded);
  return systemError(error);
}

/** Whatever a command cannot do without: where it asks for it, nobody has to catch it. */
function notRecordedError({ what, hint, damaged, none }: NotRecorded): UserError {
  if (damaged) return new UserError('damaged', `Damaged: ${what}.`, hint);
  return new UserError(
    'not-recorded',
    `${none ? 'None' : 'Not recorded'}: ${what}.`,
    none ? hint : `To record it: ${hint}`,
  );
}
