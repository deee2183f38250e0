/**
 * What must be known of an export before its texts can be judged: which strings of the pool are named by what, which
 * processes recorded something, and what hosts and users are called.
 */
import { findLeaves, singleLeaf } from '../base/sqlite/btree.js';
import type { SqliteDatabase, SqliteTable } from '../base/sqlite/database.js';
import { decodeLeaves, type Sink } from '../base/sqlite/decode.js';
import { RecordEditor } from '../base/sqlite/record.js';
import { damage, walkTable } from '../base/sqlite/walk-rows.js';
import { Identities } from './identities.js';

/** What a string is for; where it is for several things, the lowest number decides. */
export const Role = { kernel: 0, function: 1, range: 2, text: 3, path: 4, output: 5, none: 6 } as const;

/** Columns that hold ids of strings, over all schema versions. */
const REFERENCE =
  /(name|text|symbol|module|file|description|instruction|title|label|message|string|comment|content)(Id)?$/i;
const KERNEL_NAME = /^(demangledName|shortName|mangledName|kernelName)$/;
/** NVTX events that are no ranges or marks: names of categories, threads and domains. */
const NAMING_EVENTS = new Set([33, 39, 75]);

export interface NsysFacts {
  /** Role of each string by its id. */
  readonly roles: ReadonlyMap<number, number>;
  /** Processes that events mention, as `machine/pid`. */
  readonly processes: ReadonlySet<string>;
  readonly identities: Identities;
}

/** Tables that speak of processes which may have done nothing; read last, when it is known which did. */
const ABOUT_PROCESSES = /^(ThreadNames|PROCESSES|ProcessStreams|TARGET_INFO_PROCESS|DIAGNOSTIC_EVENT)$/;

export function gatherFacts(database: SqliteDatabase, onProgress: (done: number) => void): NsysFacts {
  const roles = new Map<number, number>();
  const processes = new Set<string>();
  const claimed = new Uint8Array(database.pages.pageCount + 1);
  let pagesDone = 0;
  const onLeaf = () => onProgress(Math.min(1, ++pagesDone / database.pages.pageCount));
  const tables = [...database.tables.values()]
    .filter(table => !/^(ENUM_|sqlite_|StringIds$)/.test(table.name))
    .sort((a, b) => Number(ABOUT_PROCESSES.test(a.name)) - Number(ABOUT_PROCESSES.test(b.name)));
  for (const table of tables) gather(database, table, claimed, roles, processes, onLeaf);
  return { roles, processes, identities: findIdentities(database) };
}

function gather(
  database: SqliteDatabase,
  table: SqliteTable,
  claimed: Uint8Array,
  roles: Map<number, number>,
  processes: Set<string>,
  onLeaf: () => void,
): void {
  const { pages } = database;
  const leaves = findLeaves(pages, table.rootPage, claimed);
  if (leaves.damagedPages > 0) throw damage();
  const most = Math.floor(pages.usableSize / 6);
  const references: { into: Float64Array; role: number; isNvtxText: boolean }[] = [];
  const machine = new Int32Array(most);
  const pid = new Int32Array(most);
  const tid = new Int32Array(most);
  const eventType = new Float64Array(most);
  let hasOwner = false;
  const sinks = table.columns.map((column): Sink | undefined => {
    if (/^global[PT]id$/i.test(column) && !hasOwner) {
      hasOwner = true;
      return { kind: 'global-id', machine, pid, tid };
    }
    if (table.name === 'NVTX_EVENTS' && column === 'eventType')
      return { kind: 'number', into: eventType, missing: -1 };
    if (!REFERENCE.test(column)) return undefined;
    const into = new Float64Array(most);
    const role = roleOf(table.name, column);
    references.push({ into, role, isNvtxText: table.name === 'NVTX_EVENTS' && role === Role.range });
    return { kind: 'number', into, missing: -1 };
  });
  if (references.length === 0 && !hasOwner) return;
  let known = '';
  for (let leaf = 0; leaf < leaves.pages.length; leaf++) {
    const one = singleLeaf(leaves, leaf);
    const { badRows } = decodeLeaves(pages, one, { sinks, rowIdColumn: table.rowIdColumn });
    if (badRows.length > 0) throw damage();
    for (let row = 0; row < one.rows; row++) {
      const owner = hasOwner ? `${machine[row]}/${pid[row]}` : '';
      if (table.name === 'ThreadNames' && !processes.has(owner)) continue;
      if (hasOwner && owner !== known && !ABOUT_PROCESSES.test(table.name)) {
        known = owner;
        processes.add(owner);
      }
      for (const { into, role, isNvtxText } of references) {
        const id = into[row];
        if (!(id >= 0)) continue;
        const fits = isNvtxText && NAMING_EVENTS.has(eventType[row]) ? Role.text : role;
        const before = roles.get(id);
        if (before === undefined || fits < before) roles.set(id, fits);
      }
    }
    onLeaf();
  }
}

function roleOf(table: string, column: string): number {
  if (/content/i.test(column)) return Role.output;
  if (/module|file/i.test(column)) return Role.path;
  if (KERNEL_NAME.test(column)) return Role.kernel;
  if (table === 'TARGET_INFO_PROCESS') return Role.path;
  if (table === 'ThreadNames' || /symbol|instruction/i.test(column)) return Role.text;
  // Communication libraries keep the names of their functions there.
  if (/text/i.test(column)) return /^(MPI|UCX|OPENSHMEM|NCCL)_/i.test(table) ? Role.function : Role.range;
  // Functions of APIs and of the operating system.
  return /^(end)?nameId$/i.test(column) || /funcName$/i.test(column) ? Role.function : Role.text;
}

/** Environment blocks in the string pool: several `NAME=value`, a NUL behind each. */
export const isBlock = (text: string): boolean => text.includes('\0');

const KEY_VALUE = ['META_DATA_CAPTURE', 'META_DATA_EXPORT', 'EXPORT_META_DATA', 'TARGET_INFO_SYSTEM_ENV'];
const MENTIONS = ['PROCESSES', 'ANALYSIS_FILE', 'DIAGNOSTIC_EVENT', 'StringIds'];

/** Row by row: the string pool of a large export is not to be held as text. */
function findIdentities(database: SqliteDatabase): Identities {
  const identities = new Identities();
  const editor = new RecordEditor();
  const claimed = new Uint8Array(database.pages.pageCount + 1);
  const assignment = (text: string) => {
    const equals = text.indexOf('=');
    if (equals > 0) identities.addVariable(text.slice(0, equals), text.slice(equals + 1));
  };
  for (const tableName of [...KEY_VALUE, ...MENTIONS]) {
    const table = database.tables.get(tableName);
    if (!table) continue;
    const [name, value] = KEY_VALUE.includes(tableName)
      ? [table.columns.indexOf('name'), table.columns.indexOf('value')]
      : [-1, -1];
    walkTable(database.pages, table.rootPage, claimed, row => {
      editor.read(row.bytes, row.from, row.to);
      for (let c = 0; c < editor.columns; c++) {
        if (!editor.isText(c)) continue;
        const text = editor.text(c);
        const key = c === value ? editor.text(name) : '';
        if (/ENVIRONMENT/i.test(key) || isBlock(text))
          for (const part of text.split(/[\0\n]/)) assignment(part);
        else if (/USER_?NAME$|EXPORT_USER$/i.test(key)) identities.addUser(text);
        else if (/HOST_?NAME$|EXPORT_HOST$|DEVICE_DISPLAY_NAME$/i.test(key)) identities.addHost(text);
        identities.learnFrom(text);
      }
    });
  }
  return identities;
}
