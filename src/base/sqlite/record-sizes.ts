/** How many bytes the parts of a record take (https://www.sqlite.org/fileformat2.html#record_format). */

/** Bytes of the value for serial types 0..127: numbers first, then blobs and texts by turns. */
export const valueSizes = Uint8Array.from({ length: 128 }, (_, type) =>
  type < 12 ? [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type] : (type - 12) >> 1,
);
const SIZE = valueSizes;

/**
 * Whether the values named by the rest of a header take the rest of the record, neither more nor less, and are `most`
 * at most. A record that does not end where its values do is damaged, whoever wants them.
 */
export function valuesFill(
  bytes: Uint8Array,
  header: number,
  headerEnd: number,
  from: number,
  end: number,
  most: number,
): boolean {
  let h = header;
  let body = from;
  let left = most;
  while (h < headerEnd) {
    let type = bytes[h++];
    if (left-- === 0) return false;
    if (type < 0x80) {
      body += SIZE[type];
      continue;
    }
    let value = type & 0x7f;
    while (type >= 0x80) {
      if (h >= headerEnd || value > 0xffffff) return false;
      type = bytes[h++];
      value = value * 128 + (type & 0x7f);
    }
    body += (value - 12) >> 1;
  }
  return body === end;
}

/** How much of a long payload stays on its own page (the format's rule, so that the rest fills whole pages). */
export function localBytes(length: number, usable: number): number {
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const surplus = least + ((length - least) % (usable - 4));
  return surplus <= usable - 35 ? surplus : least;
}
