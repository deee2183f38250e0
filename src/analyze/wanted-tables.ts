import type { TableName } from '../model/schema.js';

/** Tables, and optional columns of theirs. */
export type WantedTables = { readonly [Name in TableName]?: readonly string[] };
