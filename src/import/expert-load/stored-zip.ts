/**
 * A zip archive whose entries are stored, not packed: what torch.save writes. Only the directory at its end is believed,
 * and only as far as it agrees with the size of the file.
 */
import type { ByteSource } from '../../base/byte-source.js';
import { damaged } from './load-content.js';

const END_BYTES = 22;
const MOST_COMMENT = 65_535;
const MOST_ENTRIES = 1_000_000;

export interface ZipEntry {
  readonly from: number;
  readonly bytes: number;
}

export function readStoredZip(name: string, source: ByteSource): Map<string, ZipEntry> {
  const tail = new Uint8Array(Math.min(source.size, END_BYTES + MOST_COMMENT));
  source.read(tail, source.size - tail.length);
  const view = new DataView(tail.buffer);
  let at = tail.length - END_BYTES;
  while (at >= 0 && view.getUint32(at, true) !== 0x06054b50) at--;
  if (at < 0) throw damaged(name, 'the directory at its end is missing: the file is truncated');
  const count = view.getUint16(at + 10, true);
  const size = view.getUint32(at + 12, true);
  const offset = view.getUint32(at + 16, true);
  if (count === 0xffff || offset === 0xffffffff)
    throw damaged(name, 'archives larger than 4 GB are not supported');
  if (offset + size > source.size || count > MOST_ENTRIES)
    throw damaged(name, `its directory would end at byte ${offset + size}, but the file has ${source.size}`);
  const directory = new Uint8Array(size);
  source.read(directory, offset);
  return entriesOf(name, source, directory, count);
}

function entriesOf(
  name: string,
  source: ByteSource,
  directory: Uint8Array,
  count: number,
): Map<string, ZipEntry> {
  const view = new DataView(directory.buffer);
  const entries = new Map<string, ZipEntry>();
  const local = new Uint8Array(30);
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > directory.length || view.getUint32(at, true) !== 0x02014b50)
      throw damaged(name, 'its directory is damaged');
    const method = view.getUint16(at + 10, true);
    const bytes = view.getUint32(at + 24, true);
    const nameBytes = view.getUint16(at + 28, true);
    const more = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const header = view.getUint32(at + 42, true);
    const entry = new TextDecoder().decode(directory.subarray(at + 46, at + 46 + nameBytes));
    at += 46 + nameBytes + more;
    if (method !== 0) throw damaged(name, 'its entries are compressed, which torch.save does not do');
    if (source.read(local, header) < 30) throw damaged(name, 'an entry extends beyond the end of the file');
    const localView = new DataView(local.buffer);
    const from = header + 30 + localView.getUint16(26, true) + localView.getUint16(28, true);
    if (from + bytes > source.size) throw damaged(name, 'an entry extends beyond the end of the file');
    entries.set(entry, { from, bytes });
  }
  return entries;
}
