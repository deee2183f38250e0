/**
 * DuckDB, embedded: an optional dependency that is loaded when a question in SQL is asked, because it is 70 MB of native
 * code. A database here lives in memory, fetches nothing from the network and writes nothing next to the user's files.
 */
import { createRequire } from 'node:module';
import { UserError } from '../base/user-error.js';

const PACKAGE = '@duckdb/node-api';

export type DuckDb = typeof import('@duckdb/node-api');

/** Found without loading it. */
export function hasDuckDb(): boolean {
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
}

export async function loadDuckDb(): Promise<DuckDb> {
  try {
    return await import(PACKAGE);
  } catch (error) {
    throw new UserError(
      'not-found',
      `DuckDB, which answers SQL, is not installed (${PACKAGE}: ${(error as NodeJS.ErrnoException).code}).`,
      `Install it next to stepscope: npm install ${PACKAGE}. Or write the tables (stepscope sql FILE --parquet DIR) and use your own tools.`,
    );
  }
}

/** `memory`: as DuckDB writes it. A question that needs more fails; nothing is spilled to disk. */
export const inMemory = (memory: string): Record<string, string> => ({
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  memory_limit: memory,
  // Every file is read once.
  enable_external_file_cache: 'false',
  temp_directory: '',
});

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
