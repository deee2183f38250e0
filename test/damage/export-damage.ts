/** Damaged exports of Nsight Systems, with SQLite's own integrity check as the judge. */
import assert from 'node:assert/strict';
import initSqlJs, { type SqlJsStatic } from 'sql.js';
import { damageCount } from '../../src/import/damage-notes.js';
import { sourcesOf } from '../../src/import/nsys-sqlite/sources.js';
import { tableNames } from '../../src/model/schema.js';
import { damage, databaseDamages, type Random } from './mutations.js';
import { figures, newNotes, type Opened, open, type Scratch, saysLoss } from './property.js';

/**
 * Damage that cannot pass for other values: it breaks what holds rows together. A page in another's place is sound in
 * itself and not among them; SQLite misses most of those too.
 */
const structural = new Set(['cells', 'header', 'cut']);

export interface IntactExport {
  readonly bytes: Uint8Array;
  readonly opened: Opened;
  /** Root pages of the tables we read rows of. */
  readonly roots: ReadonlySet<number>;
}

const sql: Promise<SqlJsStatic> = initSqlJs();

function isRead(table: string): boolean {
  return (
    tableNames.some(name => sourcesOf(name, [table]).some(source => source.table === table)) ||
    ['NVTX_EVENTS', 'GPU_METRICS', 'CUDA_GPU_MEMORY_USAGE_EVENTS', 'StringIds'].includes(table)
  );
}

export async function intactExport(bytes: Uint8Array, scratch: Scratch): Promise<IntactExport> {
  const database = new (await sql).Database(bytes);
  const rows = database.exec("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")[0].values;
  database.close();
  const roots = new Set(rows.filter(([name]) => isRead(String(name))).map(([, root]) => Number(root)));
  return { bytes, opened: await open(scratch.write(bytes)), roots };
}

/** What SQLite finds wrong in the trees of these roots; all of it where it does not say where. */
export async function faults(bytes: Uint8Array, roots: ReadonlySet<number>): Promise<string[]> {
  const database = new (await sql).Database(bytes);
  try {
    const lines = database
      .exec('PRAGMA integrity_check')[0]
      .values.flat()
      .flatMap(text => String(text).split('\n'));
    return lines.filter(line => {
      const tree = /^Tree (\d+)\b/.exec(line)?.[1];
      // A page that two trees claim may rightly be this one's: what is wrong is in a table nobody reads.
      return tree !== undefined && roots.has(Number(tree)) && !line.includes('2nd reference to page');
    });
  } catch {
    return [];
  } finally {
    database.close();
  }
}

export async function tryExport(
  intact: IntactExport,
  random: Random,
  scratch: Scratch,
): Promise<{ kind: string; bytes: Uint8Array; opened: boolean }> {
  const { kind, bytes } = damage(databaseDamages, intact.bytes, random);
  const opened = await checkExport(bytes, kind, intact, scratch);
  return { kind, bytes, opened };
}

export async function checkExport(
  bytes: Uint8Array,
  kind: string,
  intact: IntactExport,
  scratch: Scratch,
): Promise<boolean> {
  const { profile } = await open(scratch.write(bytes));
  if (!profile) return false;
  const notes = newNotes(profile, intact.opened.profile!);
  if (saysLoss(notes)) return true;
  const same = JSON.stringify(figures(profile)) === JSON.stringify(figures(intact.opened.profile!));
  assert.ok(same || !structural.has(kind), 'other figures, and not a word about it');
  assert.equal(damageCount(profile.notes), damageCount(intact.opened.profile!.notes));
  const found = await faults(bytes, intact.roots);
  assert.deepEqual(found, [], 'SQLite finds damage, and we say nothing');
  return true;
}
