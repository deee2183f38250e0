/** Powers of ten without rounding twice: 15698.2533 ms is 15698253300 ns, which a multiplication misses. */

/** `value` times 10 to the `power`, as exact as the shortest decimal text of `value`. */
export function shiftDecimal(value: number, power: number): number {
  const text = String(value);
  if (!Number.isFinite(value)) return value;
  const [digits, exponent = '0'] = text.split('e');
  return Number(`${digits}e${Number(exponent) + power}`);
}
