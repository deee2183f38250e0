/** The one place where numbers become text for people: `1.24 ms`, `63.8%`, `2.4 GB/s`. */

export function formatDuration(ns: number): string {
  const size = Math.abs(ns);
  if (Number.isNaN(ns)) return '–';
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
  if (Number.isNaN(bytes)) return '–';
  if (size < 1e3) return `${bytes} B`;
  if (size < 1e6) return `${digits(bytes / 1e3)} kB`;
  if (size < 1e9) return `${digits(bytes / 1e6)} MB`;
  if (size < 1e12) return `${digits(bytes / 1e9)} GB`;
  return `${digits(bytes / 1e12)} TB`;
}

/** `63.8%` of a part between 0 and 1. */
export const formatShare = (share: number): string =>
  Number.isNaN(share) ? '–' : `${(share * 100).toFixed(1)}%`;

export function formatCount(count: number): string {
  const [whole, fraction] = String(count).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `18,086`, `141.3`, `9.000`, `0.04124`: four digits that count, large numbers whole. */
export function formatRate(perSecond: number): string {
  if (Number.isNaN(perSecond)) return '–';
  if (Math.abs(perSecond) >= 1000) return formatCount(Math.round(perSecond));
  return perSecond === 0 ? '0' : perSecond.toPrecision(4);
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
