/** Reads a Perfetto trace: its events in the words of the PyTorch profiler, read by the importer of those. */
import { Buffer } from 'node:buffer';
import { NoteCounter } from '../../base/notes.js';
import { UserError } from '../../base/user-error.js';
import type { Profile } from '../../model/profile.js';
import { breather } from '../breathe.js';
import type { ImportContext } from '../importer.js';
import { finishImport } from '../kineto-json/build/finish-import.js';
import { unwanted } from '../kineto-json/import-kineto.js';
import { readAlone } from '../kineto-json/read/read-alone.js';
import type { ProfileFile } from '../profile-file.js';
import { TraceJson } from './trace-json.js';

export async function importPerfetto(file: ProfileFile, context: ImportContext): Promise<Profile> {
  const { name, sizeBytes } = file;
  const source = await file.randomAccess();
  const notes = new NoteCounter();
  const json = new TraceJson(source, file.unpackLimit, notes);
  const wanted = { unwanted: unwanted(context), tables: context.tables };
  const breathe = breather();
  async function* borrowedChunks() {
    for (const piece of json.pieces(done => context.onProgress?.(done))) {
      yield Buffer.from(piece);
      await breathe();
    }
  }
  const read = await readAlone({ name, sizeBytes, borrowedChunks }, wanted, () => {});
  if (json.events === 0)
    throw json.cut || notes.size > 0
      ? new UserError(
          'damaged',
          `${name} is damaged: it contains no readable event.`,
          'Copy it again and compare its size with the original, or capture again.',
        )
      : new UserError(
          'not-a-profile',
          `${name} is a Perfetto trace without track events or GPU work.`,
          'Give a trace that PyTorch or stepscope export wrote.',
        );
  read.builder.notes.addAll(notes);
  return finishImport(file, { ...read, complete: !json.cut }, wanted);
}
