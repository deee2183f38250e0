/** Ways a file is damaged on its way: holes, cuts, lost and repeated stretches, changed bytes. Drawn from a seed. */

export type Random = () => number;

/** xorshift32: the same numbers for the same seed, on every machine. */
export function seeded(seed: number): Random {
  // Neighbouring seeds must not begin alike.
  let state = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  state = state ^ (state >>> 16) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

export interface Damage {
  readonly kind: string;
  readonly bytes: Uint8Array;
}

const below = (random: Random, limit: number): number => Math.floor(random() * limit);

/** A stretch as disks lose them: often a whole block. */
function stretch(bytes: Uint8Array, random: Random): { from: number; to: number } {
  const block = [1, 16, 512, 4096][below(random, 4)];
  const from = Math.floor(below(random, bytes.length) / block) * block;
  const length = random() < 0.5 ? block : 1 + below(random, 8 * block);
  return { from, to: Math.min(bytes.length, from + length) };
}

/** Pieces that mean something to a reader of JSON, put where they do not belong. */
const pieces = [
  '"',
  '\\',
  '\\u12',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '-',
  '1e999',
  '01',
  'NaN',
  '\0',
  '\x01',
];

export const commonDamages: Readonly<Record<string, (bytes: Uint8Array, random: Random) => Uint8Array>> = {
  hole(bytes, random) {
    const { from, to } = stretch(bytes, random);
    return bytes.slice().fill(0, from, to);
  },
  garbage(bytes, random) {
    const { from, to } = stretch(bytes, random);
    return bytes.slice().map((byte, i) => (i >= from && i < to ? below(random, 256) : byte));
  },
  cut: (bytes, random) => bytes.slice(0, 1 + below(random, bytes.length - 1)),
  byte(bytes, random) {
    const copy = bytes.slice();
    copy[below(random, copy.length)] = below(random, 256);
    return copy;
  },
  bit(bytes, random) {
    const copy = bytes.slice();
    copy[below(random, copy.length)] ^= 1 << below(random, 8);
    return copy;
  },
};

export const textDamages: typeof commonDamages = {
  ...commonDamages,
  lost(bytes, random) {
    const { from, to } = stretch(bytes, random);
    return join(bytes.subarray(0, from), bytes.subarray(to));
  },
  repeated(bytes, random) {
    const { from, to } = stretch(bytes, random);
    return join(bytes.subarray(0, to), bytes.subarray(from));
  },
  piece(bytes, random) {
    const at = below(random, bytes.length);
    const piece = Uint8Array.from(pieces[below(random, pieces.length)], c => c.charCodeAt(0));
    return join(bytes.subarray(0, at), piece, bytes.subarray(at));
  },
};

/** Damage to what holds a database's rows together. */
const PAGE_KINDS = new Set([5, 13]);

export const databaseDamages: typeof commonDamages = {
  ...commonDamages,
  cells: (bytes, random) =>
    onPage(bytes, random, (view, at) => {
      const cells = view.getUint16(at + 3);
      if (cells > 0) view.setUint16(at + 3, below(random, cells));
    }),
  pointer: (bytes, random) =>
    onPage(bytes, random, (view, at) => {
      const cells = Math.max(1, view.getUint16(at + 3));
      view.setUint16(
        at + (view.getUint8(at) === 5 ? 12 : 8) + 2 * below(random, cells),
        below(random, 65536),
      );
    }),
  header: (bytes, random) =>
    onPage(bytes, random, (view, at) => {
      view.setUint8(at + below(random, 8), below(random, 256));
    }),
  record: (bytes, random) =>
    onPage(bytes, random, (view, at, page) => {
      const cells = view.getUint16(at + 3);
      if (cells === 0 || view.getUint8(at) !== 13) return;
      // Length and row id take two to six bytes; the record's header begins behind them.
      const cell = page + view.getUint16(at + 8 + 2 * below(random, cells));
      const place = cell + below(random, 12);
      if (place < view.byteLength) view.setUint8(place, below(random, 64));
    }),
  page(bytes, random) {
    const size = pageSize(bytes);
    const pages = Math.floor(bytes.length / size);
    const [from, to] = [below(random, pages), 1 + below(random, pages - 1)];
    const copy = bytes.slice();
    copy.set(bytes.subarray(from * size, (from + 1) * size), to * size);
    return copy;
  },
};

const pageSize = (bytes: Uint8Array): number => {
  const stored = (bytes[16] << 8) | bytes[17];
  return stored === 1 ? 65536 : stored;
};

function onPage(
  bytes: Uint8Array,
  random: Random,
  change: (view: DataView, header: number, page: number) => void,
): Uint8Array {
  const copy = bytes.slice();
  const size = pageSize(copy);
  const view = new DataView(copy.buffer);
  const pages = Math.floor(copy.length / size);
  for (let tries = 0; tries < 50; tries++) {
    const page = below(random, pages) * size;
    const header = page === 0 ? 100 : page;
    if (!PAGE_KINDS.has(copy[header])) continue;
    change(view, header, page);
    break;
  }
  return copy;
}

export function damage(damages: typeof commonDamages, bytes: Uint8Array, random: Random): Damage {
  const kinds = Object.keys(damages);
  const kind = kinds[below(random, kinds.length)];
  return { kind, bytes: damages[kind](bytes, random) };
}

function join(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
