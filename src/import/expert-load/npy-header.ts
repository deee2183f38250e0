/** The header of a NumPy file (numpy.lib.format, versions 1 to 3). Nothing in it is trusted. */
import type { ByteSource } from '../../base/byte-source.js';
import { damaged, refused } from './load-content.js';

export interface NpyHeader {
  /** `i4`, `u1`, `f8` … */
  readonly type: string;
  readonly itemBytes: number;
  readonly shape: readonly number[];
  /** Where the numbers begin. */
  readonly offset: number;
}

const MOST_HEADER_BYTES = 65_536;
const KNOWN = ['i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8'];

export function readNpyHeader(name: string, source: ByteSource): NpyHeader {
  const start = new Uint8Array(12);
  const got = source.read(start, 0);
  if (got < 12) throw damaged(name, 'it ends within its header');
  const view = new DataView(start.buffer);
  const major = start[6];
  if (major < 1 || major > 3) throw damaged(name, `format version ${major} is not supported`);
  const lengthBytes = major === 1 ? 2 : 4;
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const at = 8 + lengthBytes;
  if (length > MOST_HEADER_BYTES || at + length > source.size)
    throw damaged(name, `its header declares ${length} bytes, but the file has ${source.size}`);
  const bytes = new Uint8Array(length);
  source.read(bytes, at);
  const text = new TextDecoder('latin1').decode(bytes);
  const descr = /'descr'\s*:\s*'([^']{1,20})'/.exec(text)?.[1];
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const dimensions = /'shape'\s*:\s*\(([\d,\sL]*)\)/.exec(text)?.[1];
  if (descr === undefined || fortran === undefined || dimensions === undefined)
    throw refused(
      name,
      'its NumPy header does not describe a plain array of numbers',
      'Save one array of integers: numpy.save("loads.npy", counts.astype("int64"))',
    );
  const type = /^[<|=]?([iuf]\d)$/.exec(descr)?.[1];
  if (type === undefined || !KNOWN.includes(type))
    throw refused(
      name,
      `type ${JSON.stringify(descr)} is not supported`,
      'Save integers in little-endian order: numpy.save("loads.npy", counts.astype("<i8"))',
    );
  const shape = dimensions
    .split(',')
    .map(part => part.trim().replace(/L$/, ''))
    .filter(part => part !== '')
    .map(Number);
  if (fortran === 'True' && shape.filter(length => length > 1).length > 1)
    throw refused(
      name,
      'it is stored column by column (Fortran order)',
      'Save it row by row: numpy.save("loads.npy", numpy.ascontiguousarray(counts))',
    );
  return { type, itemBytes: Number(type[1]), shape, offset: at + length };
}

/** The file must hold what its header says, no less and no more. */
export function checkNpySize(name: string, header: NpyHeader, sizeBytes: number): number {
  const count = header.shape.reduce((product, length) => product * length, 1);
  const needed = header.offset + count * header.itemBytes;
  if (!Number.isSafeInteger(needed) || needed !== sizeBytes)
    throw damaged(
      name,
      `its header declares ${header.shape.join(' × ')} numbers, ${needed} bytes with the header, but it has ${sizeBytes}`,
    );
  return count;
}
