/** A lake as another reader of Parquet sees it: for comparing two of them. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parquetReadObjects } from 'hyparquet';

/** All rows of all tables, by file. */
export async function lakeContent(lake: string): Promise<Record<string, Record<string, unknown>[]>> {
  const names = fs
    .readdirSync(lake, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.parquet') && !name.startsWith('_'))
    .sort();
  const content: Record<string, Record<string, unknown>[]> = {};
  for (const name of names) {
    const bytes = fs.readFileSync(path.join(lake, name));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    content[name] = await parquetReadObjects({ file });
  }
  return content;
}

export function partitionCount(lake: string): number {
  if (!fs.existsSync(lake)) return 0;
  const names = fs.readdirSync(lake, { recursive: true, encoding: 'utf8' });
  return names.filter(name => /^run=[^/]+\/rank=[^/]+\/file=[^/]+$/.test(name)).length;
}
