/**
 * The contract of an importer: bytes to Profile. Exactly one importer recognizes a file, by its content; the name
 * and extension say nothing. Adding a format is one folder with an Importer and one line in index.ts.
 */
import type { FileFormat } from '../catalog/file-formats.js';
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
import type { ProfileFile } from './profile-file.js';

export interface ImportContext {
  /** Told from time to time how much of the file is done, 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /**
   * Only these tables are wanted, and of their optional columns only those listed. Others may be skipped (tables are
   * then listed in Profile.skipped). Undefined: everything.
   */
  readonly tables?: ReadonlyMap<TableName, readonly string[]>;
  /** Workers to use beside this thread; 0 keeps everything here. Undefined lets the importer choose. */
  readonly workers?: number;
  /** Version of the reader: columns of large files are kept for the next question. Undefined: not. */
  readonly cache?: string;
}

export interface Importer extends FileFormat {
  /**
   * Judges by the first bytes of the content, already unpacked. Where nobody knew the first few kilobytes of what may
   * be JSON, all are asked again with more of them.
   */
  recognizes(head: Uint8Array): boolean;
  import(file: ProfileFile, context: ImportContext): Promise<Profile>;
}
