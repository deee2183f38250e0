/** Rows of a Parquet file, one row group at a time. */
import * as fs from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import type { AsyncBuffer, Compressors } from 'hyparquet';
import type { SqliteValue } from '../../base/sqlite/write-rows.js';
import { plainValue, type TableRows } from './table-rows.js';

/** Beside Snappy, which the reader brings. */
const compressors: Compressors = {
  GZIP: input => new Uint8Array(gunzipSync(input)),
  ZSTD: input => decompress(input),
};

export async function parquetRows(name: string): Promise<TableRows> {
  const { parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import('hyparquet');
  const file = fileBuffer(name);
  const metadata = await parquetMetadataAsync(file);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  async function* rows(): AsyncGenerator<readonly SqliteValue[]> {
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const objects = await parquetReadObjects({
        file,
        metadata,
        rowStart,
        rowEnd,
        compressors,
        utf8: false,
      });
      for (const row of objects) yield columns.map(column => plainValue(row[column]));
      rowStart = rowEnd;
    }
  }
  return { columns, rows: rows() };
}

function fileBuffer(name: string): AsyncBuffer {
  return {
    byteLength: fs.statSync(name).size,
    async slice(start, end = fs.statSync(name).size) {
      const handle = await fs.promises.open(name);
      try {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      } finally {
        await handle.close();
      }
    },
  };
}
