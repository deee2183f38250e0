/** Results written to files the user named. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { writeWhole } from '../disk/write-whole.js';
import type { Output } from './output.js';

/** Reading a large profile takes a while: better to say no first. */
export function refuseExisting(file: string): void {
  if (fs.statSync(file, { throwIfNoEntry: false })?.isFile()) throw isThere(file);
}

/** A measurement takes minutes and cannot be had again: its folder is looked at first. */
export function refuseUnwritable(file: string): void {
  try {
    fs.accessSync(path.dirname(path.resolve(file)), fs.constants.W_OK);
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** The same for what is not text; without an output nothing is said. */
export function writeBytes(file: string, content: Uint8Array, force: boolean, output?: Output): void {
  try {
    writeWhole(file, content, { exclusive: !force });
  } catch (error) {
    throw unwritable(file, error);
  }
  output?.err(`wrote ${file} (${formatBytes(content.length)})\n`);
}

export function writeResult(file: string, content: string, force: boolean, output: Output): void {
  try {
    writeWhole(file, content, { exclusive: !force });
  } catch (error) {
    throw unwritable(file, error);
  }
  output.err(`wrote ${file} (${formatBytes(Buffer.byteLength(content))})\n`);
}

const isThere = (file: string) =>
  new UserError('usage', `${file} already exists.`, 'Choose another -o, or overwrite with --force.');

/** Why a file could not be opened or written, in two lines. */
export function unwritable(file: string, error: unknown): UserError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return isThere(file);
  if (code === 'ENOSPC')
    return new UserError(
      'no-space',
      `${file}: the disk is full.`,
      'Free some disk space, or choose another -o.',
    );
  return new UserError('usage', `${file} cannot be written: ${message}`, 'Check the folder given with -o.');
}
