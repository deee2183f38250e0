/**
 * A Profile as bytes and back. Columns are written as they lie in memory, so reading wraps them without copying:
 * the web view gets tables this way, and caches can be mapped.
 *
 *   "STEPSCP1" · u32 length of header · header (JSON) · padding · columns, each on an 8-byte boundary
 *
 * Little-endian, like every machine this runs on; the header says so and reading checks it.
 */
import { type AnyArray, bytesPerElement, type Storage, wrap } from '../base/column.js';
import { StringTable } from '../base/string-table.js';
import { UserError } from '../base/user-error.js';
import type { Profile } from './profile.js';
import { columnsOf, schema, type TableName, tableNames } from './schema.js';

const MAGIC = 'STEPSCP1';

interface StoredColumn {
  readonly table: string;
  readonly column: string;
  readonly storage: Storage;
  readonly offset: number;
  readonly length: number;
}

export function serializeProfile(profile: Profile): Uint8Array {
  const stored: StoredColumn[] = [];
  const parts: { offset: number; bytes: Uint8Array }[] = [];
  let size = 0;
  const put = (table: string, column: string, storage: Storage, cells: AnyArray) => {
    stored.push({ table, column, storage, offset: size, length: cells.length });
    parts.push({ offset: size, bytes: new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength) });
    size += Math.ceil(cells.byteLength / 8) * 8;
  };
  for (const name of tableNames) {
    const table = profile.tables[name] as unknown as Record<string, AnyArray> | undefined;
    if (!table) continue;
    for (const [column, spec] of columnsOf(name))
      if (table[column]) put(name, column, spec.storage, table[column]);
  }
  const strings = profile.strings.pack();
  put('', 'string-bytes', 'u8', strings.bytes);
  put('', 'string-ends', 'f64', strings.ends);
  const { tables: _tables, strings: _strings, originNs, ...rest } = profile;
  const header = new TextEncoder().encode(
    JSON.stringify({
      ...rest,
      originNs: originNs.toString(),
      littleEndian: isLittleEndian(),
      columns: stored,
    }),
  );
  const base = Math.ceil((12 + header.length) / 8) * 8;
  const out = new Uint8Array(base + size);
  out.set(new TextEncoder().encode(MAGIC));
  new DataView(out.buffer).setUint32(8, header.length, true);
  out.set(header, 12);
  for (const { offset, bytes } of parts) out.set(bytes, base + offset);
  return out;
}

export function deserializeProfile(bytes: Uint8Array): Profile {
  const broken = (why: string) =>
    new UserError('damaged', `This is not a stored profile: ${why}.`, 'Open the original capture instead.');
  if (bytes.length < 12 || new TextDecoder().decode(bytes.subarray(0, 8)) !== MAGIC)
    throw broken('wrong first bytes');
  // Typed arrays need aligned memory; a slice of a larger buffer may not be.
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const headerLength = new DataView(aligned.buffer, aligned.byteOffset).getUint32(8, true);
  if (12 + headerLength > aligned.length) throw broken('it is cut off');
  let header: { columns: StoredColumn[]; originNs: string; littleEndian: boolean } & Record<string, unknown>;
  try {
    header = JSON.parse(new TextDecoder().decode(aligned.subarray(12, 12 + headerLength)));
  } catch {
    throw broken('its header cannot be read');
  }
  if (header.littleEndian !== isLittleEndian())
    throw broken('it comes from a machine of the other byte order');
  const base = Math.ceil((12 + headerLength) / 8) * 8;
  const tables: Record<string, Record<string, AnyArray | number>> = {};
  const loose: Record<string, AnyArray> = {};
  for (const { table, column, storage, offset, length } of header.columns) {
    const from = base + offset;
    if (!(offset >= 0 && length >= 0 && from + length * bytesPerElement(storage) <= aligned.length))
      throw broken('it is cut off');
    const cells = wrap(storage, aligned.buffer, aligned.byteOffset + from, length);
    if (table === '') loose[column] = cells;
    else if (table in schema) {
      tables[table] ??= { length };
      tables[table][column] = cells;
    }
  }
  const { columns: _columns, littleEndian: _endian, originNs, ...rest } = header;
  return {
    ...(rest as unknown as Profile),
    originNs: BigInt(originNs),
    strings: StringTable.unpack(loose['string-bytes'] as Uint8Array, loose['string-ends'] as Float64Array),
    tables: tables as Record<TableName, never>,
  };
}

const isLittleEndian = () => new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
