/** Rows of a table, kept in arrays of our own. The brand goes in once, where the array is made. */
import type { Profile, Row, Table } from './profile.js';
import type { EntityName, TableName } from './schema.js';

/** Of several tables: something beside it says which one each row is of. */
export type Rows<Name extends TableName | EntityName> = ArrayLike<Row<Name>> & Iterable<Row<Name>>;

export const asRows = <Name extends TableName | EntityName>(array: Int32Array): Rows<Name> =>
  array as unknown as Rows<Name>;

/** A table whose name is not known before; of several names, rows must fit each of them. */
export const tableNamed = <Name extends TableName>(profile: Profile, name: Name): Table<Name> | undefined =>
  profile.tables[name];
