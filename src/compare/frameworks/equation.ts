/** Sums that add up as printed: one unit for all, and rounding shared out so that the parts give the whole. */
import { formatCount } from '../../base/units.js';
import { apportion } from '../../run/apportion.js';

interface TimeUnit {
  readonly name: 'ns' | 'µs' | 'ms' | 's';
  readonly ns: number;
  readonly decimals: number;
}

const units = [
  ['ns', 1],
  ['µs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
] as const;

/** The unit in which the smallest of these has four digits that count. */
export function unitFor(wholes: readonly number[]): TimeUnit {
  const least = Math.min(...wholes);
  const [name, ns] = [...units].reverse().find(([, size]) => least >= size) ?? units[0];
  const size = least / ns;
  return { name, ns, decimals: name === 'ns' ? 0 : size < 10 ? 3 : size < 100 ? 2 : 1 };
}

/** Parts and their whole as text. Largest remainders are rounded up, so that the printed parts sum to the printed whole. */
export function printedSum(
  parts: readonly number[],
  unit: TimeUnit,
): { readonly parts: string[]; readonly whole: string } {
  const grain = unit.ns / 10 ** unit.decimals;
  const exact = new Map(parts.map((ns, i) => [String(i), ns / grain]));
  const whole = Math.round(parts.reduce((sum, ns) => sum + ns / grain, 0));
  const grains = [...apportion(exact, whole).values()];
  const text = (count: number) => grouped((count / 10 ** unit.decimals).toFixed(unit.decimals));
  return { parts: grains.map(text), whole: text(whole) };
}

function grouped(text: string): string {
  const [whole, fraction] = text.split('.');
  return fraction === undefined ? formatCount(Number(whole)) : `${formatCount(Number(whole))}.${fraction}`;
}
