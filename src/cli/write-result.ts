/** Results written to files the user named. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import type { Output } from './command.js';

const isThere = (file: string) =>
  new UserError('usage', `${file} is there already.`, 'Choose another -o, or overwrite with --force.');

/** Reading a large profile takes a while: better to say no first. */
export function refuseExisting(file: string): void {
  if (fs.existsSync(file)) throw isThere(file);
}

/** A measurement takes minutes and cannot be had again: its folder is looked at first. */
export function refuseUnwritable(file: string): void {
  try {
    fs.accessSync(path.dirname(path.resolve(file)), fs.constants.W_OK);
  } catch (error) {
    throw unwritable(file, error);
  }
}

const unwritable = (file: string, error: unknown) =>
  new UserError(
    'usage',
    `${file} cannot be written: ${(error as Error).message}`,
    'Check the folder given with -o.',
  );

export function writeResult(file: string, content: string, force: boolean, output: Output): void {
  try {
    fs.writeFileSync(file, content, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(file);
    throw unwritable(file, error);
  }
  output.err(`wrote ${file} (${formatBytes(Buffer.byteLength(content))})\n`);
}
