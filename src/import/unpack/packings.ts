/** The registry of packings, and which one the first bytes of a file show. */
import { gzip } from './gzip.js';
import type { Packing } from './packing.js';
import { xz } from './xz.js';
import { zstd } from './zstd.js';

const packings: readonly Packing[] = [gzip, zstd, xz];

export const packingOf = (head: Uint8Array): Packing | undefined =>
  packings.find(({ magic }) => magic.every((byte, i) => head[i] === byte));

export const packingWith = (ending: Packing['ending']): Packing =>
  packings.find(packing => packing.ending === ending)!;
