/**
 * What is wanted of a table's rows, where it goes, and what could not be read: typed arrays and numbers, so that a worker
 * can have it.
 */
import type { AnyArray } from '../column.js';

/** What to do with one column of the file's table. */
export type Sink =
  /** Numbers into an array; NULL becomes `missing`. */
  | { readonly kind: 'number'; readonly into: AnyArray; readonly missing: number }
  /** nsys global ids: bits 48-63 machine, 24-47 process, 0-23 thread. NULL leaves -1 in all three. */
  | {
      readonly kind: 'global-id';
      readonly machine: Int32Array;
      readonly pid: Int32Array;
      readonly tid: Int32Array;
    }
  /** Numbers and global ids in parts (see compact-parts.ts). NULL is -1; where they may be fractions or large, NaN. */
  | { readonly kind: 'compact'; readonly isReal?: true }
  | { readonly kind: 'compact-id' }
  /** UTF-8 bytes handed to the caller, who gives back the number to store. `blobs`: bytes of any kind. */
  | {
      readonly kind: 'text';
      readonly blobs?: true;
      readonly into: Int32Array;
      readonly take: (bytes: Uint8Array, from: number, to: number) => number;
    };

export interface DecodePlan {
  /** By position in the file's table; undefined columns are stepped over. */
  readonly sinks: readonly (Sink | undefined)[];
  /** Receives each row's id. */
  readonly rowIds?: Float64Array;
  /** The column that is an alias of the row id (INTEGER PRIMARY KEY), stored as NULL in the record. */
  readonly rowIdColumn: number;
}

/** Cells of a part: as narrow as they can be, or the one number that all are. */
export type CompactCells = number | Int8Array | Int16Array | Int32Array | Float64Array;

/** Rows in a row; by place (see compact-parts.ts) their cells. */
export interface CompactPart {
  readonly first: number;
  readonly length: number;
  readonly cells: readonly CompactCells[];
}

/** What a decode could not make sense of. */
export interface DecodeLosses {
  /** Rows that could not be read; their cells hold "missing". */
  readonly badRows: number[];
  /** Pages whose content is more or less than their rows: some rows are missing, nobody knows how many. */
  readonly oddPages: number;
  /** Values their column cannot have (text for a number, a fraction or far too large a whole one): "missing" too. */
  readonly misfits: number;
}

/** The same, and what it keeps in parts. */
export interface Decoded extends DecodeLosses {
  readonly parts: readonly CompactPart[];
}
