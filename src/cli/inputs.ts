/** The files that a command was given, by content: what a result says it was made from. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Input } from '../base/envelope.js';
import { hashInput } from '../disk/content-hash.js';

/** Of a folder with more files than this the others are one line. */
const MOST_FILES = 256;

/** Words are files, `NAME=FILE,FILE`, folders, or something else; what is no file is passed over. */
export function inputsOf(words: readonly string[]): Input[] {
  return words.flatMap(word => {
    if (word === '-') return [{ file: '-', bytes: null, hash: null }];
    const whole = filesAt(word);
    if (whole) return whole;
    const named = word.includes('=') ? word.slice(word.indexOf('=') + 1) : word;
    return named.split(',').flatMap(part => filesAt(part) ?? []);
  });
}

function filesAt(place: string): Input[] | undefined {
  const stat = fs.statSync(place, { throwIfNoEntry: false });
  if (stat?.isFile()) return [inputAt(place, path.basename(place))];
  if (!stat?.isDirectory()) return undefined;
  const folder = path.basename(path.resolve(place));
  const names = fs
    .readdirSync(place, { withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => entry.name)
    .sort();
  const files = names.slice(0, MOST_FILES).map(name => inputAt(path.join(place, name), `${folder}/${name}`));
  const others = names.length - files.length;
  return others > 0 ? [...files, { file: `${folder}/ and ${others} more`, bytes: null, hash: null }] : files;
}

function inputAt(place: string, file: string): Input {
  try {
    return { file, ...hashInput(place) };
  } catch {
    // Removed, or not for us to read: what could be made of the others is still an answer.
    return { file, bytes: null, hash: null };
  }
}
