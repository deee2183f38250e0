/**
 * Notes that people write on a profile: kept in a file beside it, so that they are there next time and travel with it.
 * What was dropped has no file, and of a redacted view nothing is written: such notes last as long as the server.
 */
import * as fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { withLock } from '../disk/file-lock.js';
import { writeWhole } from '../disk/write-whole.js';
import {
  changeNotes,
  type NotesChange,
  type NotesDocument,
  readNotes,
  readNotesChange,
  type WrittenNote,
} from '../timeline/notes.js';
import { Refusal } from './refusal.js';

const MOST_BYTES = 1 << 20;
const ENDING = '.notes.json';

export class NotesFile {
  /** Where there is no file. */
  private notes: readonly WrittenNote[] = [];

  /** `beside`: the profile's file; undefined: notes are not kept. */
  constructor(private readonly beside?: string) {}

  private get file(): string | undefined {
    return this.beside && `${this.beside}${ENDING}`;
  }

  document(): NotesDocument {
    return { notes: this.read(), file: this.file ? path.basename(this.file) : null };
  }

  /** Two people may have the page open, or two servers the file: a change is made to what is there now. */
  async change(request: IncomingMessage): Promise<NotesDocument> {
    const change = readNotesChange(await bodyOf(request));
    const { file } = this;
    if (!file) this.notes = changeNotes(this.notes, change);
    else this.changeFile(file, change);
    return this.document();
  }

  private changeFile(file: string, change: NotesChange): void {
    try {
      withLock(file, () => this.write(file, changeNotes(this.read(), change)));
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw new UserError(
        'no-space',
        `The notes cannot be written next to the profile: ${(error as Error).message}`,
        'Make the folder writable, or copy the profile to one that is.',
      );
    }
  }

  private write(file: string, notes: readonly WrittenNote[]): void {
    if (notes.length === 0) fs.rmSync(file, { force: true });
    else writeWhole(file, `${JSON.stringify({ schema: 'stepscope-notes/1', notes }, null, 2)}\n`);
  }

  private read(): readonly WrittenNote[] {
    if (!this.file) return this.notes;
    if (!fs.existsSync(this.file)) return [];
    try {
      return readNotes(fs.readFileSync(this.file, 'utf8'));
    } catch (error) {
      if (error instanceof UserError)
        throw new UserError(
          'usage',
          `${path.basename(this.file)} is not a file of notes.`,
          'Rename or correct it, then reload.',
        );
      throw error;
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > MOST_BYTES) throw new Refusal(413, 'The notes are too long.', 'Shorten them.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
