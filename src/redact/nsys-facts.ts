/**
 * What must be known of an export before its texts can be judged: which strings of the pool are named by what, which
 * processes recorded something, and what hosts and users are called.
 */
import { findLeaves, singleLeaf } from '../base/sqlite/btree.js';
import type { SqliteDatabase, SqliteTable } from '../base/sqlite/database.js';
import { decodeLeaves } from '../base/sqlite/decode-leaves.js';
import type { Sink } from '../base/sqlite/decode-plan.js';
import { RecordEditor } from '../base/sqlite/record.js';
import { damage, walkTable } from '../base/sqlite/walk-rows.js';
import { pythonPayload } from '../import/nsys-sqlite/python-stacks.js';
import { isKnownTable, Role, referenceRole } from './allowed-export.js';
import { Identities } from './identities.js';

/** NVTX events that are not ranges or marks: names of categories, threads and domains. */
export const NAMING_EVENTS: ReadonlySet<number> = new Set([33, 39, 75]);

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
    .filter(({ name }) => isKnownTable(name))
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
    if (table.name === 'NVTX_EVENTS' && column === 'binaryData')
      return { kind: 'text', blobs: true, into: new Int32Array(most), take: namedByPythonStack };
    const role = referenceRole(table.name, column);
    if (role === undefined) return undefined;
    const into = new Float64Array(most);
    references.push({ into, role, isNvtxText: table.name === 'NVTX_EVENTS' && role === Role.range });
    return { kind: 'number', into, missing: -1 };
  });
  function namedByPythonStack(bytes: Uint8Array, from: number, to: number): number {
    for (const { name, file } of pythonPayload(bytes, from, to)?.frames ?? []) {
      give(name, Role.function);
      give(file, Role.path);
    }
    return 0;
  }
  function give(id: number, role: number): void {
    const before = roles.get(id);
    if (before === undefined || role < before) roles.set(id, role);
  }
  let known = '';
  for (let leaf = 0; leaf < leaves.pages.length; leaf++) {
    const one = singleLeaf(leaves, leaf);
    const { badRows, oddPages } = decodeLeaves(pages, one, { sinks, rowIdColumn: table.rowIdColumn });
    // A page that does not account for all its bytes has lost rows, or hides some.
    if (badRows.length > 0 || oddPages > 0) throw damage();
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
        give(id, isNvtxText && NAMING_EVENTS.has(eventType[row]) ? Role.name : role);
      }
    }
    onLeaf();
  }
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
