/**
 * SQL over a selection and the whole profile. The database is in memory, holds the tables that were asked for, is closed
 * to files and answers questions only, with bounds on memory, time and rows. It is kept for the next question about the
 * same selection.
 */
import type { Analyzer } from '../analyze/analysis.js';
import { UserError } from '../base/user-error.js';
import { answerTable } from '../sql/answer-table.js';
import { selectionColumns, selectionSource } from '../sql/selection-source.js';
import { SqlSession } from '../sql/sql-session.js';
import { profileTables } from '../sql/tables.js';
import type { SelectedEvents } from '../timeline/selection/selected-events.js';
import type { PanelDocument } from '../timeline/wire.js';

const MEMORY = '1GB';
const BOUNDS = { rows: 1000, bytes: 2e6, timeMs: 10_000 };
const LONGEST_QUESTION = 8000;
/** Questions that wait for the one under way. */
const MOST_WAITING = 8;

export const sqlTablesOfPage = {
  sql: selectionColumns.map(({ name, about }) => ({ name, about })),
  sqlTables: profileTables.map(({ name, about, columns }) => ({
    name,
    about: `${about}: ${columns.map(column => column.name).join(', ')}`,
  })),
};

export class SelectionSql {
  private kept: { readonly key: string; readonly session: SqlSession } | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  constructor(private readonly bounds = BOUNDS) {}

  /** `key`: which events, of which profile. `isGone`: nobody waits for the answer any more. */
  async ask(
    key: string,
    from: { readonly selected: () => SelectedEvents; readonly analyzer: () => Analyzer },
    sql: string,
    isGone: () => boolean,
  ): Promise<PanelDocument> {
    if (sql.length > LONGEST_QUESTION)
      throw new UserError('usage', 'The question is too long.', `Use at most ${LONGEST_QUESTION} letters.`);
    if (this.waiting >= MOST_WAITING)
      throw new UserError('too-large', 'Too many questions are waiting.', 'Wait for their answers.');
    this.waiting++;
    const answer = this.turn.then(async () => {
      if (isGone()) return { blocks: [] };
      const session = await this.sessionOf(key, from);
      const found = await session.query(sql, this.bounds);
      return { blocks: [answerTable(found, 'Add LIMIT and OFFSET, or sum them up.')] };
    });
    this.turn = answer.catch(() => undefined);
    try {
      return await answer;
    } finally {
      this.waiting--;
    }
  }

  close(): void {
    this.kept?.session.close();
    this.kept = undefined;
  }

  private async sessionOf(key: string, from: Parameters<SelectionSql['ask']>[1]): Promise<SqlSession> {
    if (this.kept?.key === key) return this.kept.session;
    const source = selectionSource(from.selected, from.analyzer);
    this.close();
    this.kept = { key, session: await SqlSession.open(source, MEMORY) };
    return this.kept.session;
  }
}
