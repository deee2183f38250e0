/** What analyses gave, as a result: the page, or the rows of those that were chosen. `capture` shows the same page. */
import { Analyzer, type AnyAnalysis, type Outcome, type Settings } from '../analyze/analysis.js';
import { usualAnalyses } from '../analyze/index.js';
import { blocksOf } from '../analyze/outcome-blocks.js';
import { describePage } from '../analyze/page.js';
import type { Profile } from '../model/profile.js';
import { rowsAsCsv } from '../report/analysis-json.js';
import { text } from '../report/text.js';
import { emit, type Result, type ResultPart } from './emit.js';
import type { Output } from './output.js';
import { analyzeDocument, runAll, tellLosses } from './profile-of.js';

const READABLE_ROWS = 40;

export interface AnalyzedProfile {
  readonly analyzer: Analyzer;
  /** Computed with progress first; the page then only words what is there. */
  readonly outcomes: readonly Outcome[];
  readonly isPage: boolean;
  readonly rowLimit?: number;
  /** As they were given. */
  readonly files?: readonly string[];
}

/** The page draws on findings, which draw on most others, and has a line of each analysis with a headline. */
export const isOnPage = ({ id, headline }: AnyAnalysis): boolean =>
  id === 'findings' || headline !== undefined;

export function analyzedResult(
  { analyzer, outcomes, isPage, rowLimit = READABLE_ROWS, files = [] }: AnalyzedProfile,
  output: Output,
): Result {
  const { profile } = analyzer;
  const blocks = () =>
    isPage ? describePage(analyzer, usualAnalyses) : outcomes.flatMap(outcome => blocksOf(outcome, profile));
  const parts = () => outcomes.flatMap(outcome => partOf(outcome, output));
  return {
    blocks,
    document: () => analyzeDocument(profile, outcomes),
    csv: () =>
      parts()
        .map(part => part.content())
        .join('\n'),
    text: context => `${text.render(blocks(), context)}${isPage ? `\n${footer(profile)}\n` : ''}`,
    parts: format => (format === 'csv' ? parts() : undefined),
    shown: { rowLimit },
    ...(files.length > 0 ? { view: { files } } : {}),
  };
}

export async function showPage(
  profile: Profile,
  files: readonly string[],
  output: Output,
  settings: Settings = {},
): Promise<void> {
  const analyzer = new Analyzer(profile, settings);
  const outcomes = runAll(analyzer, usualAnalyses.filter(isOnPage), output);
  const result = analyzedResult({ analyzer, outcomes, isPage: true, files }, output);
  await emit(result, { format: 'table', force: false }, output);
  tellLosses(profile, output);
}

function partOf(outcome: Outcome, output: Output): ResultPart[] {
  const { id } = outcome.analysis;
  if (outcome.status === 'ok')
    return [{ id, content: () => rowsAsCsv(outcome.analysis, outcome.result.rows) }];
  const why =
    outcome.status === 'failed'
      ? `failed: ${outcome.message}`
      : `not recorded: ${outcome.what}; ${outcome.hint}`;
  output.err(`${id}: ${why}\n`);
  return [];
}

function footer({ notes }: Profile): string {
  const count = notes.reduce((sum, note) => sum + note.count, 0);
  return `  notes  ${count === 0 ? 'none' : `${count} (stepscope info)`}    more: steps · report · stats · analyze --list`;
}
