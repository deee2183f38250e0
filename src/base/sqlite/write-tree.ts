/**
 * Writes b-trees anew, front to end: leaves as the rows come, then the levels above them. A file made this way has
 * no free pages and no old bytes between the cells, because nothing is ever put where something was.
 */
import { localBytes } from './decode.js';
import { pushVarint } from './record.js';

const INTERIOR_INDEX = 2;
const INTERIOR_TABLE = 5;
const LEAF_INDEX = 10;
const LEAF_TABLE = 13;
/** The file's header, in front of the first page's own. */
export const FILE_HEADER = 100;

/** Takes pages in order, from the second on. The bytes are used again afterwards. */
export class PageWriter {
  private next = 2;

  constructor(
    readonly pageSize: number,
    readonly usableSize: number,
    private readonly write: (page: Uint8Array) => void,
  ) {}

  /** The number the next page will get. */
  get nextNumber(): number {
    return this.next;
  }

  get pageCount(): number {
    return this.next - 1;
  }

  put(page: Uint8Array): number {
    this.write(page);
    return this.next++;
  }
}

/** One page being filled: cell pointers from the front, cells from the back. */
class PageBuilder {
  readonly bytes: Uint8Array;
  count = 0;
  private top: number;

  constructor(
    private readonly writer: PageWriter,
    private readonly kind: number,
    private readonly at = 0,
  ) {
    this.bytes = new Uint8Array(writer.pageSize);
    this.top = writer.usableSize;
  }

  private get headSize(): number {
    return this.kind === LEAF_TABLE || this.kind === LEAF_INDEX ? 8 : 12;
  }

  get room(): number {
    return this.top - this.at - this.headSize - this.count * 2;
  }

  /** Makes room for a cell and gives its place; the caller has asked for `room`. */
  cell(size: number): number {
    // SQLite gives no cell less than four bytes.
    this.top -= Math.max(4, size);
    const pointer = this.at + this.headSize + this.count++ * 2;
    this.bytes[pointer] = this.top >> 8;
    this.bytes[pointer + 1] = this.top & 255;
    return this.top;
  }

  finish(rightChild = 0): Uint8Array {
    const { bytes, at } = this;
    bytes[at] = this.kind;
    bytes[at + 3] = this.count >> 8;
    bytes[at + 4] = this.count & 255;
    // 65536 is written as 0.
    bytes[at + 5] = (this.top >> 8) & 255;
    bytes[at + 6] = this.top & 255;
    if (this.headSize === 12) putU32(bytes, at + 8, rightChild);
    return bytes;
  }

  clear(): void {
    this.bytes.fill(0);
    this.count = 0;
    this.top = this.writer.usableSize;
  }
}

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

/**
 * An index of `total` entries. How they lie is settled beforehand: every page gets the same share, one entry between
 * two pages goes up, and so no page is left empty.
 */
export class IndexWriter {
  private readonly leaves: number[];
  private readonly leaf: PageBuilder;
  private filled = 0;
  private readonly children: number[] = [];
  private dividers: Uint8Array[] = [];

  constructor(
    private readonly writer: PageWriter,
    total: number,
    longest: number,
  ) {
    this.leaves = shares(total, this.capacity(8, longest));
    this.capacityAbove = this.capacity(12, longest + 4);
    this.leaf = new PageBuilder(writer, LEAF_INDEX);
  }

  private readonly capacityAbove: number;

  private capacity(head: number, longest: number): number {
    return Math.max(2, Math.floor((this.writer.usableSize - head) / (Math.max(4, longest + 3) + 2)));
  }

  add(record: Uint8Array, from: number, to: number): void {
    const isLast = this.children.length === this.leaves.length - 1;
    if (this.filled === this.leaves[this.children.length] && !isLast) {
      this.children.push(this.writer.put(this.leaf.finish()));
      this.leaf.clear();
      this.filled = 0;
      this.dividers.push(record.slice(from, to));
      return;
    }
    putEntry(this.leaf, record.subarray(from, to));
    this.filled++;
  }

  finish(): number {
    this.children.push(this.writer.put(this.leaf.finish()));
    let children = this.children;
    while (children.length > 1) {
      const pages = shares(this.dividers.length, this.capacityAbove);
      const above: number[] = [];
      const dividersAbove: Uint8Array[] = [];
      let next = 0;
      for (const share of pages) {
        const page = new PageBuilder(this.writer, INTERIOR_INDEX);
        for (let i = 0; i < share; i++, next++) putEntry(page, this.dividers[next], children[next]);
        above.push(this.writer.put(page.finish(children[next])));
        if (above.length < pages.length) dividersAbove.push(this.dividers[next]);
        next++;
      }
      children = above;
      this.dividers = dividersAbove;
    }
    return children[0];
  }
}

/** How many of `total` each page gets when pages hold `capacity` and one entry lies between every two. */
function shares(total: number, capacity: number): number[] {
  const pages = Math.max(1, Math.ceil((total + 1) / (capacity + 1)));
  const inside = total - (pages - 1);
  return Array.from(
    { length: pages },
    (_, p) => Math.floor((inside * (p + 1)) / pages) - Math.floor((inside * p) / pages),
  );
}

function putEntry(page: PageBuilder, record: Uint8Array, child?: number): void {
  const lead: number[] = [];
  pushVarint(lead, record.length);
  const front = child === undefined ? 0 : 4;
  const at = page.cell(front + lead.length + record.length);
  if (child !== undefined) putU32(page.bytes, at, child);
  page.bytes.set(lead, at + front);
  page.bytes.set(record, at + front + lead.length);
}

/** A leaf as the file's first page: its header and pointers move behind the file's, the cells stay. */
function behindFileHeader(page: Uint8Array, count: number): Uint8Array {
  const length = 8 + count * 2;
  page.copyWithin(FILE_HEADER, 0, length);
  page.fill(0, 0, FILE_HEADER);
  return page;
}

export function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = (value >>> 16) & 255;
  bytes[at + 2] = (value >>> 8) & 255;
  bytes[at + 3] = value & 255;
}
