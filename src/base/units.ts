/** The one place where numbers become text for people: `1.24 ms`, `63.8%`, `2.4 GB/s`. */

export function formatDuration(ns: number): string {
  const size = Math.abs(ns);
  if (!Number.isFinite(ns)) return '–';
  if (size < 1e3) return `${ns.toFixed(0)} ns`;
  if (size < 1e6) return `${digits(ns / 1e3)} µs`;
  if (size < 1e9) return `${digits(ns / 1e6)} ms`;
  if (size < 120e9) return `${digits(ns / 1e9)} s`;
  const seconds = Math.round(ns / 1e9);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `+1.24 ms`, `−310 µs`, `0` */
export function formatChange(ns: number): string {
  if (ns === 0) return '0';
  return `${ns > 0 ? '+' : '−'}${formatDuration(Math.abs(ns))}`;
}

export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes);
  if (!Number.isFinite(bytes)) return '–';
  if (size < 1e3) return `${bytes} B`;
  if (size < 1e6) return `${digits(bytes / 1e3)} kB`;
  if (size < 1e9) return `${digits(bytes / 1e6)} MB`;
  if (size < 1e12) return `${digits(bytes / 1e9)} GB`;
  return `${digits(bytes / 1e12)} TB`;
}

/** `63.8%` of a part between 0 and 1. */
export const formatShare = (share: number): string =>
  !Number.isFinite(share) ? '–' : `${(share * 100).toFixed(1)}%`;

export function formatCount(count: number): string {
  if (!Number.isFinite(count)) return '–';
  // Beyond this, and far below 1, numbers would be written with an exponent.
  const digits = Math.abs(count) >= 1e21 ? BigInt(count).toString() : plainDecimal(count);
  const [whole, fraction] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `18,086`, `141.3`, `9.000`, `0.04124`: four digits that count, large numbers whole. */
export function formatRate(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '–';
  if (Math.abs(perSecond) >= 1000) return formatCount(Math.round(perSecond));
  return significant(perSecond, 4);
}

/** `+1.7%` of a change of 0.017. */
export const formatRelativeChange = (change: number): string =>
  `${change < 0 ? '−' : '+'}${Math.abs(change * 100).toFixed(1)}%`;

/** Three significant digits, without turning 100.4 into 100. */
function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** As at the beginning of a sentence. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** So many digits that count, never with an exponent: `1,020`, `0.00000123`. */
export function significant(value: number, count: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const text = value.toPrecision(count);
  if (!text.includes('e')) return text;
  const places = count - 1 - Math.floor(Math.log10(Math.abs(value)));
  return places <= 0 ? formatCount(Math.round(value)) : value.toFixed(Math.min(places, 100));
}

const plainDecimal = (value: number): string =>
  value !== 0 && Math.abs(value) < 1e-6 ? value.toFixed(20).replace(/0+$/, '') : String(value);
