/**
 * Writes a table's b-tree anew, front to end: leaves as the rows come, then the levels above them. A file made this
 * way has no free pages and no old bytes between the cells, because nothing is ever put where something was.
 */

import { pushVarint } from './record.js';
import { localBytes } from './record-sizes.js';
import {
  FILE_HEADER,
  INTERIOR_TABLE,
  LEAF_TABLE,
  PageBuilder,
  type PageWriter,
  putU32,
} from './write-page.js';

export class TableWriter {
  private readonly leaf: PageBuilder;
  private readonly children: number[] = [];
  /** The last row id of each child, as written. */
  private readonly keys: Uint8Array[] = [];
  private lastKey = new Uint8Array(0);

  /** With `onFirstPage` the root is the file's first page, which `finish` hands out instead of writing it. */
  constructor(
    private readonly writer: PageWriter,
    private readonly onFirstPage = false,
  ) {
    this.leaf = new PageBuilder(writer, LEAF_TABLE);
  }

  add(id: Uint8Array, idLength: number, record: Uint8Array, from: number, to: number): void {
    const { usableSize } = this.writer;
    const length = to - from;
    const spills = length > usableSize - 35;
    const local = spills ? localBytes(length, usableSize) : length;
    const lead: number[] = [];
    pushVarint(lead, length);
    const size = lead.length + idLength + local + (spills ? 4 : 0);
    // Overflow pages go in front of the leaf that names them: its number is given when it is full.
    const kept = this.onFirstPage && this.leaf.count > 0 ? FILE_HEADER : 0;
    if (this.leaf.room - kept < Math.max(4, size) + 2) this.flush();
    const overflow = spills ? this.spill(record, from + local, to) : 0;
    const { bytes } = this.leaf;
    let at = this.leaf.cell(size);
    for (const byte of lead) bytes[at++] = byte;
    for (let i = 0; i < idLength; i++) bytes[at++] = id[i];
    for (let i = 0; i < local; i++) bytes[at++] = record[from + i];
    if (spills) putU32(bytes, at, overflow);
    if (this.lastKey.length !== idLength) this.lastKey = new Uint8Array(idLength);
    for (let i = 0; i < idLength; i++) this.lastKey[i] = id[i];
  }

  /** The root's page number, or the first page itself. */
  finish(): { root: number; firstPage?: Uint8Array } {
    const { leaf } = this;
    if (this.children.length === 0 && (!this.onFirstPage || leaf.room >= FILE_HEADER)) {
      const page = leaf.finish();
      return this.onFirstPage
        ? { root: 1, firstPage: behindFileHeader(page, leaf.count) }
        : { root: this.writer.put(page) };
    }
    this.flush();
    let children: readonly number[] = this.children;
    let keys: readonly Uint8Array[] = this.keys;
    const capacity = Math.floor((this.writer.usableSize - FILE_HEADER - 12) / 15);
    while (true) {
      const isTop = children.length <= capacity;
      const groups = Math.ceil(children.length / capacity);
      const above: number[] = [];
      const keysAbove: Uint8Array[] = [];
      for (let g = 0; g < groups; g++) {
        const from = Math.floor((children.length * g) / groups);
        const to = Math.floor((children.length * (g + 1)) / groups);
        const page = this.interior(children, keys, from, to, isTop && this.onFirstPage);
        if (isTop && this.onFirstPage) return { root: 1, firstPage: page };
        above.push(this.writer.put(page));
        keysAbove.push(keys[to - 1]);
      }
      if (isTop) return { root: above[0] };
      children = above;
      keys = keysAbove;
    }
  }

  private interior(
    children: readonly number[],
    keys: readonly Uint8Array[],
    from: number,
    to: number,
    first: boolean,
  ): Uint8Array {
    const page = new PageBuilder(this.writer, INTERIOR_TABLE, first ? FILE_HEADER : 0);
    for (let i = from; i < to - 1; i++) {
      const at = page.cell(4 + keys[i].length);
      putU32(page.bytes, at, children[i]);
      page.bytes.set(keys[i], at + 4);
    }
    return page.finish(children[to - 1]);
  }

  private flush(): void {
    this.children.push(this.writer.put(this.leaf.finish()));
    this.keys.push(this.lastKey.slice());
    this.leaf.clear();
  }

  private spill(record: Uint8Array, from: number, to: number): number {
    const first = this.writer.nextNumber;
    const part = this.writer.usableSize - 4;
    const page = new Uint8Array(this.writer.pageSize);
    for (let at = from; at < to; at += part) {
      page.fill(0);
      const end = Math.min(to, at + part);
      if (end < to) putU32(page, 0, this.writer.nextNumber + 1);
      page.set(record.subarray(at, end), 4);
      this.writer.put(page);
    }
    return first;
  }
}

/** A leaf as the file's first page: its header and pointers move behind the file's, the cells stay. */
function behindFileHeader(page: Uint8Array, count: number): Uint8Array {
  const length = 8 + count * 2;
  page.copyWithin(FILE_HEADER, 0, length);
  page.fill(0, 0, FILE_HEADER);
  return page;
}
