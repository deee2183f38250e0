/**
 * Which run a file belongs to, from its path alone: a file must get the same answer whatever else is mapped with it, on
 * whichever machine. `nightly/0412/decode_rank3.sqlite` and `…/decode_rank4.sqlite` are ranks of `0412.decode`.
 */
import { createHash } from 'node:crypto';
import * as path from 'node:path';
import { withoutEndings } from '../catalog/file-formats.js';
import { RANK_LABEL } from '../import/run-ranks.js';

/** What PyTorch calls a trace unless told: host, process, time in milliseconds. Neither is the run's. */
const DEFAULT_TRACE = /^.+_\d+\.\d{10,}$/;
const TIME_STAMP = /(?:^|[-_.])\d{10,}(?=$|[-_.])/g;
const MOST_LENGTH = 100;

export function runOfPath(file: string): string {
  const folder = path.basename(path.dirname(path.resolve(file)));
  const stem = withoutEndings(path.basename(file));
  const own = DEFAULT_TRACE.test(stem) ? '' : withoutRank(stem).replace(TIME_STAMP, '');
  const name = own.replace(/^[-_.]+|[-_.]+$/g, '');
  return [folder, name].filter(part => part !== '').join('.');
}

/** Where a rank is named, `tp8` is how the run was split; only where none is, it says which part this is. */
function withoutRank(stem: string): string {
  const isPlain = (kind: string) => /^r/i.test(kind);
  const namesRank = [...stem.matchAll(RANK_LABEL)].some(([, kind]) => isPlain(kind));
  return stem.replace(RANK_LABEL, (label, kind: string) => (namesRank && !isPlain(kind) ? label : ''));
}

/** As a part of a path: readable, and different for different names. */
export function partitionValue(name: string): string {
  const plain = name.replaceAll(/[^\w.+-]/g, '_').slice(0, MOST_LENGTH);
  if (plain === name && plain !== '') return plain;
  return `${plain}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
