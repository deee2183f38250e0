import type { ReportOptions } from './report.js';

/** Rules show the 50 worst rows unless told otherwise; -1 shows all. */
export function limitRows<T>(rows: T[], options: ReportOptions): T[] {
  const limit = options.numbers.rows ?? 50;
  return limit < 0 ? rows : rows.slice(0, limit);
}
