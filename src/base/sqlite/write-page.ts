/** Fresh b-tree pages: filled cell by cell, numbered as they are written. */

export const INTERIOR_INDEX = 2;
export const INTERIOR_TABLE = 5;
export const LEAF_INDEX = 10;
export const LEAF_TABLE = 13;
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
export class PageBuilder {
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

export function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = (value >>> 16) & 255;
  bytes[at + 2] = (value >>> 8) & 255;
  bytes[at + 3] = value & 255;
}
