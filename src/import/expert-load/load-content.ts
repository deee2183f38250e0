/** What importers of expert loads look at: the first bytes of a file, or the names in a folder. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { filesIn } from '../folder-files.js';
import { CutOffError, ProfileFile } from '../profile-file.js';

/** Text formats are parsed whole; larger loads belong into a binary file. */
const MOST_TEXT_BYTES = 256 * 1024 * 1024;

export class LoadContent {
  private constructor(
    readonly path: string,
    readonly name: string,
    /** Names in it, when it is a folder. */
    readonly folder: readonly string[] | undefined,
    private readonly opened: ProfileFile | undefined,
    readonly head: Uint8Array,
  ) {}

  static async open(given: string): Promise<LoadContent> {
    const stat = fs.statSync(given, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      const name = path.basename(path.resolve(given));
      return new LoadContent(
        given,
        name,
        [...filesIn(given, () => true).names].sort(),
        undefined,
        new Uint8Array(0),
      );
    }
    const file = ProfileFile.open(given);
    try {
      return new LoadContent(given, file.name, undefined, file, await file.head());
    } catch (error) {
      file.close();
      throw error;
    }
  }

  get file(): ProfileFile {
    if (this.opened) return this.opened;
    throw new Error(`${this.name} is a folder`);
  }

  /** The beginning as text, for looking at. */
  get headText(): string {
    return new TextDecoder().decode(this.head);
  }

  begins(...bytes: readonly number[]): boolean {
    return bytes.every((byte, i) => this.head[i] === byte);
  }

  /** The whole text, within bounds. */
  async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of this.file.chunks()) {
        size += chunk.length;
        if (size > MOST_TEXT_BYTES)
          throw new UserError(
            'too-large',
            `${this.name} is larger than ${formatBytes(MOST_TEXT_BYTES)}, too large for a text format.`,
            'Save the counts as one NumPy array instead: numpy.save("loads.npy", counts)',
          );
        chunks.push(chunk);
      }
    } catch (error) {
      throw error instanceof CutOffError ? damaged(this.name, 'the archive is truncated or damaged') : error;
    }
    return new TextDecoder().decode(Buffer.concat(chunks));
  }

  async json(): Promise<unknown> {
    const text = await this.text();
    try {
      return JSON.parse(text);
    } catch (error) {
      const where = /position \d+|line \d+ column \d+/.exec((error as Error).message)?.[0];
      throw damaged(this.name, `it is not complete JSON${where ? ` (at ${where})` : ''}`);
    }
  }

  close(): void {
    this.opened?.close();
  }
}

export const damaged = (name: string, what: string): UserError =>
  new UserError('damaged', `${name} cannot be read: ${what}.`, 'Write the file again, or copy it again.');

export const refused = (name: string, what: string, hint: string): UserError =>
  new UserError('not-a-profile', `${name}: ${what}.`, hint);
