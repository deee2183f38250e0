/**
 * Pages of an SQLite database file (https://www.sqlite.org/fileformat2.html), read in windows so that memory does
 * not grow with the file. Nothing in the file is trusted: sizes are checked, page numbers bounded.
 */
import type { ByteSource } from '../byte-source.js';
import { UserError } from '../user-error.js';

export const SQLITE_MAGIC = 'SQLite format 3\0';

const WINDOW_BYTES = 1 << 20;

export class SqlitePages {
  readonly pageSize: number;
  /** Bytes of a page that hold content; the rest is reserved for extensions. */
  readonly usableSize: number;
  /** Pages that are really there, whatever the header claims. */
  readonly pageCount: number;
  readonly claimedPageCount: number;
  private readonly window: Uint8Array;
  private readonly pagesPerWindow: number;
  private windowFirst = 0;
  private windowPages = 0;

  constructor(readonly source: ByteSource) {
    const header = new Uint8Array(100);
    const got = source.read(header, 0);
    if (got < 100 || String.fromCharCode(...header.subarray(0, 16)) !== SQLITE_MAGIC) {
      throw new UserError(
        'damaged',
        'The SQLite header is missing or cut off.',
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
        `The SQLite header claims pages of ${this.pageSize} bytes, which cannot be.`,
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
    if (offset >= 0 && offset < this.windowPages) return offset * this.pageSize;
    this.windowFirst = page - 1;
    const got = this.source.read(this.window, this.windowFirst * this.pageSize);
    // A file that shrinks while it is read must not leave the last window's bytes standing for the new one's.
    if (got < this.window.length) this.window.fill(0, Math.max(0, got));
    this.windowPages = this.pagesPerWindow;
    return 0;
  }

  get bytes(): Uint8Array {
    return this.window;
  }
}
