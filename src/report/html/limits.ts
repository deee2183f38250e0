/** How much goes into a page. A page that would be too large is made again with less, and says so. */
import type { Block, TableBlock, TableColumn } from '../../analyze/block.js';
import type { PageSummary } from '../../analyze/page-summary.js';
import { formatCount, plural } from '../../base/units.js';

interface PageLimits {
  readonly rows: number;
  readonly points: number;
  /** Of a call tree. */
  readonly nodes: number;
  /** Characters of one text. */
  readonly text: number;
}

/** From all a reader could want to the least that is still a report. */
export const levels: readonly PageLimits[] = [
  { rows: 400, points: 600, nodes: 6000, text: 1000 },
  { rows: 100, points: 300, nodes: 2500, text: 400 },
  { rows: 30, points: 120, nodes: 800, text: 200 },
  { rows: 10, points: 40, nodes: 200, text: 100 },
];

/** Cuts blocks to the limits and remembers whether anything was lost. */
export class Cutter {
  rows = 0;
  texts = 0;
  points = 0;

  constructor(readonly limits: PageLimits) {}

  readonly text = (text: string): string => {
    if (text.length <= this.limits.text) return text;
    this.texts++;
    // Both ends of a name tell more than its middle.
    const tail = Math.floor(this.limits.text / 3);
    const left = formatCount(text.length - this.limits.text);
    return `${text.slice(0, this.limits.text - tail)} … ${left} characters omitted … ${text.slice(-tail)}`;
  };

  block<Some extends Block | PageSummary>(block: Some): Some {
    if ('kind' in block && block.kind === 'table') return this.table(block) as Some;
    return this.deep(block) as Some;
  }

  /** Every so many of a list, so that at most `points` are left. */
  stride(length: number): number {
    const stride = Math.max(1, Math.ceil(length / this.limits.points));
    if (stride > 1) this.points++;
    return stride;
  }

  private table(block: TableBlock): TableBlock {
    const rows = Math.min(block.rows, this.limits.rows);
    this.rows += block.rows - rows;
    const more = plural(block.rows - rows, 'more row');
    const advice = [block.advice, block.rows > rows && `The first ${formatCount(rows)}; ${more} omitted.`];
    return {
      ...block,
      rows,
      columns: block.columns.map(
        (column): TableColumn =>
          column.kind === 'text'
            ? {
                ...column,
                values: Array.from({ length: rows }, (_, row) => {
                  const value = column.values[row] as string | null;
                  return value === null ? null : this.text(value);
                }),
              }
            : column,
      ),
      ...(advice.some(Boolean) ? { advice: advice.filter(Boolean).join(' ') } : {}),
    };
  }

  private deep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) {
      this.rows += Math.max(0, value.length - this.limits.rows);
      return value.slice(0, this.limits.rows).map(one => this.deep(one));
    }
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.deep(one)]));
  }
}
