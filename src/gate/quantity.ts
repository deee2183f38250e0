/** Amounts as people write them in a policy, `5ms`, `3%`, `16GB`, `1200/s`, and as they are shown. */
import { formatBytes, formatCount, formatDuration, formatShare } from '../base/units.js';
import type { Unit } from '../run/metrics.js';

/** `relative`: a part of the baseline. `absolute`: in the metric's own unit. */
export type Amount = { readonly kind: 'absolute' | 'relative'; readonly value: number };

const scales: Record<Unit, Readonly<Record<string, number>>> = {
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 },
  share: { '': 1, '%': 0.01 },
  count: { '': 1 },
  bytes: {
    B: 1,
    kB: 1e3,
    MB: 1e6,
    GB: 1e9,
    TB: 1e12,
    KiB: 2 ** 10,
    MiB: 2 ** 20,
    GiB: 2 ** 30,
    TiB: 2 ** 40,
  },
  'per-second': { '': 1, '/s': 1 },
};

const spelled: Record<Unit, string> = {
  ns: 'a time with its unit: 250us, 5ms, 1.2s',
  share: 'a share: 12% or 0.12',
  count: 'a number: 1016',
  bytes: 'a memory size with its unit: 800MB, 16GB, 16GiB',
  'per-second': 'a rate: 1200 or 1200/s',
};

const NUMBER = /^([+-]?\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(.*)$/i;

function split(text: string): { number: number; unit: string } | undefined {
  const match = NUMBER.exec(text.trim());
  if (!match) return undefined;
  const number = Number(match[1].replaceAll('_', ''));
  return Number.isFinite(number) ? { number, unit: match[2].trim() } : undefined;
}

/** A bound in the metric's unit. Returns what is wrong with it as text. */
export function readBound(text: string, unit: Unit): number | { readonly wrong: string } {
  const parts = split(text);
  const scale = parts && scaleOf(unit, parts.unit);
  if (parts === undefined || scale === undefined) return { wrong: `write ${spelled[unit]}` };
  const value = parts.number * scale;
  if (value < 0) return { wrong: 'a limit must not be negative' };
  if (unit === 'share' && value > 1)
    return { wrong: `a share cannot exceed 1; for percent write ${text.trim()}%` };
  return value;
}

/** How much a metric may change: `3%` of the baseline, or an amount in its unit; of shares in points: `2pp`. */
export function readChange(text: string, unit: Unit): Amount | { readonly wrong: string } {
  const parts = split(text);
  const also = unit === 'share' ? 'percentage points: 2pp' : spelled[unit];
  const wrong = { wrong: `write a share of the baseline, such as 3%, or ${also}` };
  if (parts === undefined) return wrong;
  if (parts.number < 0) return { wrong: 'the allowed change must not be negative' };
  if (parts.unit === '%') return { kind: 'relative', value: parts.number / 100 };
  if (unit === 'share') return parts.unit === 'pp' ? { kind: 'absolute', value: parts.number / 100 } : wrong;
  const scale = scaleOf(unit, parts.unit);
  return scale === undefined ? wrong : { kind: 'absolute', value: parts.number * scale };
}

function scaleOf(unit: Unit, written: string): number | undefined {
  const known = scales[unit];
  return Object.hasOwn(known, written) ? known[written] : undefined;
}

export function formatValue(value: number, unit: Unit): string {
  if (unit === 'ns') return formatDuration(value);
  if (unit === 'share') return formatShare(value);
  if (unit === 'bytes') return formatBytes(value);
  const digits = Math.abs(value) < 100 && !Number.isInteger(value) ? 2 : 0;
  const count = formatCount(Number(value.toFixed(digits)));
  return unit === 'per-second' ? `${count}/s` : count;
}

/** A difference of two values: shares in points, since percent would be read as a part of the baseline. */
export function formatDifference(change: number, unit: Unit): string {
  const sign = change > 0 ? '+' : change < 0 ? '−' : '';
  const size = Math.abs(change);
  if (unit === 'share' && size === 0) return '0 pp';
  if (unit === 'share') return `${sign}${(size * 100).toFixed(size < 0.001 ? 2 : 1)} pp`;
  return `${sign}${formatValue(size, unit)}`;
}

/** `+4.2%` */
export function formatRelative(change: number): string {
  if (!Number.isFinite(change)) return 'from 0';
  if (change === 0) return '0%';
  const sign = change > 0 ? '+' : '−';
  const percent = Math.abs(change) * 100;
  return `${sign}${percent.toFixed(percent < 0.1 ? 2 : 1)}%`;
}

/** What was not measured, or has no share, is null in documents. */
export const finiteOrNull = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : value;
