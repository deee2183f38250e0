/** All of a Profile as bytes: two imports are the same when these are. */
import type { AnyArray } from '../base/column.js';
import type { Profile } from '../model/profile.js';
import { columnsOf, tableNames } from '../model/schema.js';

export function bytesOfProfile(profile: Profile): Uint8Array {
  const { tables, strings, originNs, ...rest } = profile;
  const parts: { readonly name: string; readonly cells: AnyArray }[] = [];
  for (const name of tableNames) {
    const table = tables[name] as unknown as Record<string, AnyArray> | undefined;
    for (const [column] of columnsOf(name))
      if (table?.[column]) parts.push({ name: `${name}.${column}`, cells: table[column] });
  }
  const { bytes, ends } = strings.pack();
  parts.push({ name: 'strings', cells: bytes }, { name: 'string ends', cells: ends });
  const columns = parts.map(({ name, cells }) => [name, cells.constructor.name, cells.length]);
  const header = JSON.stringify({ ...rest, originNs, columns }, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return Buffer.concat([
    Buffer.from(header),
    ...parts.map(({ cells }) => Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength)),
  ]);
}
