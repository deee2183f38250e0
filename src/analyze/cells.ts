/**
 * Raw arrays of a table. Reports loop over millions of rows of several tables and index them by plain numbers; the
 * branded columns of the model are for code where a mix-up is likelier than a loop is hot.
 */
import type { Profile, Table } from '../model/profile.js';
import type { TableName } from '../model/schema.js';

export type Cells<Name extends TableName> = { readonly length: number } & {
  readonly [Column in keyof Omit<Table<Name>, 'length'>]: ArrayLike<number>;
};

export function cells<Name extends TableName>(profile: Profile, name: Name): Cells<Name> | undefined {
  return profile.tables[name] as unknown as Cells<Name> | undefined;
}
