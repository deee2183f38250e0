/** What an analysis gave, as blocks: its own words and tables, its rows as one table, or why it could not answer. */

import type { Profile } from '../model/profile.js';
import type { Outcome } from './analysis.js';
import type { Block } from './block.js';
import { rowsTable } from './rows-table.js';

export function blocksOf(outcome: Outcome, profile: Profile): Block[] {
  const { analysis } = outcome;
  if (outcome.status === 'not-recorded') {
    const { what, hint, damaged } = outcome;
    return [{ kind: 'not-recorded', id: analysis.id, title: analysis.title, what, hint, damaged }];
  }
  if (outcome.status === 'failed') {
    const fact = {
      label: 'failed',
      text: outcome.message,
      tone: 'bad' as const,
      hint: 'please report this with the output of stepscope info --json',
    };
    return [{ kind: 'facts', id: analysis.id, title: analysis.title, facts: [fact] }];
  }
  return analysis.describe?.(outcome.result, profile) ?? [rowsTable(analysis, outcome.result.rows)];
}
