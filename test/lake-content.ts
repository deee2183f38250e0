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
  // A map that is still at it makes and removes folders of its own beside them.
  return ['run=', 'rank=', 'file='].reduce(
    (folders, prefix) =>
      folders.flatMap(folder => {
        const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
        return names.filter(name => name.startsWith(prefix)).map(name => path.join(folder, name));
      }),
    [lake],
  ).length;
}
