/**
 * The export's string pool. It also holds environments of processes, so strings enter the Profile one by one, as
 * rows name them, never all at once.
 */
import { NONE } from '../../base/column.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import { decodeLeaves } from '../../base/sqlite/decode-leaves.js';
import { StringTable } from '../../base/string-table.js';

const UNKNOWN = -2;

export class StringIds {
  /** Pool texts by position; `place` turns a file id into one. */
  private readonly pool = new StringTable();
  private readonly place = new Map<number, number>();
  /** Profile id by file id; ids are small and dense in practice, so an array serves nearly all of them. */
  private readonly dense: Int32Array = new Int32Array(0);
  private readonly sparse = new Map<number, number>();
  readonly badRows: number = 0;
  readonly oddPages: number = 0;

  constructor(
    database: SqliteDatabase,
    private readonly target: StringTable,
  ) {
    const table = database.tables.get('StringIds');
    if (!table) return;
    const leaves = database.leaves(table);
    const ids = new Float64Array(leaves.rows);
    const texts = new Int32Array(leaves.rows);
    const { badRows, oddPages } = decodeLeaves(database.pages, leaves, {
      rowIdColumn: table.rowIdColumn,
      sinks: table.columns.map(column =>
        column === 'id'
          ? { kind: 'number', into: ids, missing: NONE }
          : column === 'value'
            ? { kind: 'text', into: texts, take: (bytes, from, to) => this.pool.internBytes(bytes, from, to) }
            : undefined,
      ),
    });
    this.badRows = badRows.length;
    this.oddPages = oddPages;
    let highest = 0;
    for (let row = 0; row < leaves.rows; row++) {
      if (ids[row] < 0 || texts[row] === NONE) continue;
      this.place.set(ids[row], texts[row]);
      highest = Math.max(highest, ids[row]);
    }
    this.dense = new Int32Array(Math.min(highest + 1, leaves.rows * 4 + 1024)).fill(UNKNOWN);
  }

  /** The id in the Profile's own string table, or NONE for an id the file does not explain. */
  resolve(fileId: number): number {
    if (!(fileId >= 0 && Number.isSafeInteger(fileId))) return NONE;
    const known = fileId < this.dense.length ? this.dense[fileId] : (this.sparse.get(fileId) ?? UNKNOWN);
    if (known !== UNKNOWN) return known;
    const place = this.place.get(fileId);
    let id: number = NONE;
    if (place !== undefined) {
      const bytes = this.pool.bytes(place);
      id = this.target.internBytes(bytes, 0, bytes.length);
    }
    if (fileId < this.dense.length) this.dense[fileId] = id;
    else this.sparse.set(fileId, id);
    return id;
  }

  /** The same for a text that nsys escaped as HTML: `&lt;module&gt;`, as it writes Python functions. */
  resolveEscaped(fileId: number): number {
    const id = this.resolve(fileId);
    const text = id === NONE ? '' : this.target.text(id);
    return text.includes('&') ? this.target.intern(unescaped(text)) : id;
  }

  text(fileId: number): string {
    const place = this.place.get(fileId);
    return place === undefined ? '' : this.pool.text(place);
  }

  /** Replaces file ids by Profile ids in place; counts those the file does not explain. */
  resolveColumn(cells: Int32Array): number {
    const { dense } = this;
    let unexplained = 0;
    for (let row = 0; row < cells.length; row++) {
      const fileId = cells[row];
      // Names repeat: almost all of them are known.
      let id: number = fileId >= 0 && fileId < dense.length ? dense[fileId] : UNKNOWN;
      if (id === UNKNOWN) id = this.resolve(fileId);
      cells[row] = id;
      if (id === NONE && fileId >= 0) unexplained++;
    }
    return unexplained;
  }

  /** Every text that holds NUL-separated parts: how nsys stores the environments of processes. */
  *blocks(): Generator<string> {
    for (let place = 0; place < this.pool.size; place++) {
      if (this.pool.bytes(place).includes(0)) yield this.pool.text(place);
    }
  }
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const unescaped = (text: string) =>
  text.replace(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => ENTITIES[name]);
