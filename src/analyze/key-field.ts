import type { Field } from './analysis.js';

/** Every row has a name that stays the same from run to run and file to file. */
export const keyField: Field = { header: 'Key', kind: 'text', about: 'stable name of the row', quiet: true };
