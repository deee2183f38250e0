/** Sums that add up as printed: one unit for all, and rounding shared out so that the parts give the whole. */
import { formatCount } from '../../base/units.js';

interface Unit {
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
export function unitFor(wholes: readonly number[]): Unit {
  const least = Math.min(...wholes);
  const [name, ns] = [...units].reverse().find(([, size]) => least >= size) ?? units[0];
  const size = least / ns;
  return { name, ns, decimals: name === 'ns' ? 0 : size < 10 ? 3 : size < 100 ? 2 : 1 };
}

/** Parts and their whole as text. Largest remainders are rounded up, so that the printed parts sum to the printed whole. */
export function printedSum(
  parts: readonly number[],
  unit: Unit,
): { readonly parts: string[]; readonly whole: string } {
  const grain = unit.ns / 10 ** unit.decimals;
  const exact = parts.map(ns => ns / grain);
  const whole = Math.round(exact.reduce((sum, value) => sum + value, 0));
  const grains = exact.map(Math.floor);
  const left = whole - grains.reduce((sum, value) => sum + value, 0);
  const byRemainder = exact.map((value, i) => [value - grains[i], i] as const).sort((a, b) => b[0] - a[0]);
  for (const [, i] of byRemainder.slice(0, Math.max(0, left))) grains[i]++;
  const text = (count: number) => grouped((count / 10 ** unit.decimals).toFixed(unit.decimals));
  return { parts: grains.map(text), whole: text(whole) };
}

function grouped(text: string): string {
  const [whole, fraction] = text.split('.');
  return fraction === undefined ? formatCount(Number(whole)) : `${formatCount(Number(whole))}.${fraction}`;
}
