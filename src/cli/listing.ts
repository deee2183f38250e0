/** What there is to choose from (`--list`, `--metrics`): a line each for people, all of it as JSON. */
import type { JsonAnswer } from '../base/envelope.js';
import { wrapLines } from '../report/terminal.js';
import type { Result } from './emit.js';

export function listing<Document extends JsonAnswer>(
  id: string,
  document: Document,
  lines: readonly (readonly string[])[],
): Result {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map(cells => cells[column].length)));
  const line = (cells: readonly string[]) =>
    `${cells.map((cell, column) => (column < cells.length - 1 ? cell.padEnd(widths[column]) : cell)).join('  ')}\n`;
  return {
    blocks: () => [
      {
        kind: 'table',
        id,
        title: id,
        rows: lines.length,
        columns: widths.map((_, column) => ({
          header: column === 0 ? 'Name' : column === widths.length - 1 ? 'About' : 'Better',
          kind: 'text',
          values: lines.map(cells => cells[column]),
        })),
      },
    ],
    document: () => document,
    text: ({ width }) => wrapLines(lines.map(line).join(''), width),
  };
}
