/** Questions of a report to a lake. Mapping needs no native code, and most machines that map never report. */
import * as path from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { UserError } from '../base/user-error.js';
import { inMemory, loadDuckDb, quoted } from '../disk/open-duckdb.js';
import type { Lake } from './lake.js';
import type { LakeTable } from './lake-tables.js';

/** A report of ten thousand ranks stays below 1 GB with this; more would only be cache. */
const MEMORY = '600MB';

export class LakeQueries {
  private constructor(
    private readonly lake: Lake,
    private readonly connection: DuckDBConnection,
  ) {}

  static async open(lake: Lake): Promise<LakeQueries> {
    const { DuckDBInstance } = await loadDuckDb();
    const database = await DuckDBInstance.create(':memory:', {
      ...inMemory(MEMORY),
      preserve_insertion_order: 'false',
    });
    return new LakeQueries(lake, await database.connect());
  }

  /** A table of these partitions as a source of rows, with `run`, `rank` and `file` from their paths. */
  source(table: LakeTable, partitions: readonly string[]): string {
    const files = partitions.map(own => quoted(path.join(this.lake.folder, own, `${table}.parquet`)));
    return `read_parquet([${files.join(',')}], hive_partitioning = true, hive_types_autocast = false)`;
  }

  async run(sql: string): Promise<void> {
    await this.connection.run(sql).catch(error => {
      throw unreadable(this.lake.folder, error as Error);
    });
  }

  /** Counts come as plain numbers: none here passes 2^53. */
  async rows<Row>(sql: string): Promise<Row[]> {
    try {
      const result = await this.connection.runAndReadAll(sql);
      return result.getRowObjectsJS().map(row => plainNumbers(row) as Row);
    } catch (error) {
      throw unreadable(this.lake.folder, error as Error);
    }
  }

  close(): void {
    this.connection.closeSync();
  }
}

const OUR_MISTAKE = /^(Parser|Binder|Catalog|Syntax|Internal) Error/;

const plainNumbers = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint' && !name.endsWith('UtcNs') ? Number(value) : value,
    ]),
  );

/** Only partitions that were moved into place whole are asked: what cannot be read was changed afterwards. */
const unreadable = (lake: string, error: Error): Error =>
  OUR_MISTAKE.test(error.message) ? error : damagedTable(lake, error);

const damagedTable = (lake: string, { message }: Error) =>
  new UserError(
    'damaged',
    `A table of ${lake} cannot be read: ${message.split('\n')[0]}`,
    'Remove that partition, and map its file again.',
  );
