/** Decimal numbers the fast path does not take: signs, exponents, very long ones. Exact, by whole numbers. */
interface Decimal {
  units: number;
  /** Has the sign of the whole. */
  thousandths: number;
  /** More digits than thousandths, or more than a double holds. */
  rounded: boolean;
  exponent: boolean;
}

const pattern = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/;

export function parseDecimal(text: string): Decimal | undefined {
  const match = pattern.exec(text);
  if (!match || match[2] + match[3] === '') return undefined;
  const [, sign, whole, fraction, power] = match;
  const exponent = Number(power ?? 0);
  // value = digits × 10^shift thousandths
  const shift = exponent - fraction.length + 3;
  const digits = BigInt(whole + fraction);
  let thousandths = digits;
  let rounded = false;
  if (shift >= 0) thousandths *= 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    const rest = digits % divisor;
    thousandths = digits / divisor + (rest * 2n >= divisor ? 1n : 0n);
    rounded = rest !== 0n;
  }
  const units = Number(thousandths / 1000n);
  if (!Number.isFinite(units)) return undefined;
  const factor = sign === '-' ? -1 : 1;
  return {
    units: units === 0 ? 0 : factor * units,
    thousandths: thousandths % 1000n === 0n ? 0 : factor * Number(thousandths % 1000n),
    rounded: rounded || !Number.isSafeInteger(units),
    exponent: power !== undefined,
  };
}
