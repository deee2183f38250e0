/**
 * Pages of an SQLite database file (https://www.sqlite.org/fileformat2.html), read in windows so that memory does
 * not grow with the file. Nothing in the file is trusted: sizes are checked, page numbers bounded.
 */
import type { ByteSource } from '../byte-source.js';
import { UserError } from '../user-error.js';

export const SQLITE_MAGIC = 'SQLite format 3\0';

const WINDOW_BYTES = 1 << 20;
/** Read together after a jump. */
const FIRST_PAGES = 16;
const OVERFLOW_READS = 8;

export class SqlitePages {
  readonly pageSize: number;
  /** Bytes of a page that hold content; the rest is reserved for extensions. */
  readonly usableSize: number;
  /** Pages that are really there, whatever the header claims. */
  readonly pageCount: number;
  readonly claimedPageCount: number;
  private window: Uint8Array;
  private readonly pagesPerWindow: number;
  /**
   * Bytes that spilled rows may still take. A page spills from one row only, so reading a table takes the file's
   * size at most; small tables are read a few times. Chains that share pages run out of it.
   */
  private overflowBytesLeft: number;
  private windowFirst = 0;
  private windowPages = 0;

  constructor(readonly source: ByteSource) {
    const header = new Uint8Array(100);
    const got = source.read(header, 0);
    if (got < 100 || String.fromCharCode(...header.subarray(0, 16)) !== SQLITE_MAGIC) {
      throw new UserError(
        'damaged',
        'The SQLite header is missing or truncated.',
        'Export the report again: nsys export --type sqlite FILE.nsys-rep',
      );
    }
    const view = new DataView(header.buffer);
    const stored = view.getUint16(16);
    this.pageSize = stored === 1 ? 65536 : stored;
    const powerOfTwo = (this.pageSize & (this.pageSize - 1)) === 0;
    this.usableSize = this.pageSize - header[20];
    if (this.pageSize < 512 || !powerOfTwo || this.usableSize < 480) {
      throw new UserError(
        'damaged',
        `The SQLite header declares an invalid page size of ${this.pageSize} bytes.`,
        'Export the report again: nsys export --type sqlite FILE.nsys-rep',
      );
    }
    if (view.getUint32(56) > 1) {
      throw new UserError(
        'damaged',
        'The database stores its text as UTF-16; Nsight Systems writes UTF-8.',
        'Export the report again: nsys export --type sqlite FILE.nsys-rep',
      );
    }
    this.overflowBytesLeft = source.size * OVERFLOW_READS;
    this.pageCount = Math.floor(source.size / this.pageSize);
    this.claimedPageCount = view.getUint32(28);
    this.pagesPerWindow = Math.max(1, Math.floor(WINDOW_BYTES / this.pageSize));
    this.window = new Uint8Array(this.pagesPerWindow * this.pageSize);
  }

  /** True when the page lies inside the file. Pages count from 1. */
  has(page: number): boolean {
    return page >= 1 && page <= this.pageCount;
  }

  /** The window's bytes and where in them the page begins. Valid until the next call. */
  locate(page: number): number {
    const offset = page - 1 - this.windowFirst;
    // Page numbers come from arrays of doubles; positions made of one would stay doubles until they are compiled.
    if (offset >= 0 && offset < this.windowPages) return (offset * this.pageSize) | 0;
    // Neighbours are read ahead, more of them the longer the run: a jump to and fro must not cost a window each time.
    const follows = offset === this.windowPages && offset > 0;
    const ahead = follows
      ? Math.min(this.pagesPerWindow, this.windowPages * 2)
      : Math.min(this.pagesPerWindow, FIRST_PAGES);
    this.windowFirst = page - 1;
    const into = this.window.subarray(0, ahead * this.pageSize);
    const got = this.source.read(into, this.windowFirst * this.pageSize);
    // A file that shrinks while it is read must leave neither the last window's bytes nor half a page.
    if (got < into.length) into.fill(0, Math.floor(got / this.pageSize) * this.pageSize);
    this.windowPages = ahead;
    return 0;
  }

  /** Copies a page without moving the window; false when it is not (or no longer) there. */
  copy(page: number, into: Uint8Array): boolean {
    if (!this.has(page)) return false;
    const offset = page - 1 - this.windowFirst;
    if (offset < 0 || offset >= this.windowPages) {
      return this.source.read(into, (page - 1) * this.pageSize) === this.pageSize;
    }
    into.set(this.window.subarray(offset * this.pageSize, (offset + 1) * this.pageSize));
    return true;
  }

  /** Asks to read this much from overflow pages; false when no honest file would need it. */
  spendOverflow(bytes: number): boolean {
    if (bytes > this.source.size || bytes > this.overflowBytesLeft) return false;
    this.overflowBytesLeft -= bytes;
    return true;
  }

  get bytes(): Uint8Array {
    return this.window;
  }

  get windowBytes(): number {
    return this.pagesPerWindow * this.pageSize;
  }

  /** Reads pages into these bytes from now on: `windowBytes` of them, such as memory that another program sees. */
  readInto(window: Uint8Array): void {
    this.window = window;
    this.windowPages = 0;
  }
}
