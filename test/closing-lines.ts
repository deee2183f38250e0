/**
 * The last lines of a test run: what was skipped, in groups, with the one command that brings what is missing; and
 * whether continuous integration, where everything is installed, may leave those out.
 */
import { type NeedId, needOfReason } from '../src/testing/needs.js';
import type { TestResult } from './results-reporter.js';

/** What may be skipped even where all tools are installed, and why. */
export const MAY_BE_SKIPPED: Partial<Record<NeedId, string>> = {
  firefox: 'not every distribution has it as a package; Chromium runs all tests of the page',
  vllm: 'an environment of 2 GB; docs/evidence/vllm has the runs',
};

export interface Closing {
  readonly lines: readonly string[];
  /** Reasons of skipped tests that are not excused by `MAY_BE_SKIPPED`. */
  readonly unexcused: readonly string[];
  readonly failed: number;
}

/** `again` are the results of files that failed beside others and ran once more alone: they replace those of the same tests. */
export function closingLines(
  first: readonly TestResult[],
  again: readonly TestResult[] = [],
  excused = MAY_BE_SKIPPED,
): Closing {
  const keyOf = ({ file, name }: TestResult) => `${file} ${name}`;
  const repeated = new Set(again.map(keyOf));
  // What failed and did not run again has failed.
  const results = [...first.filter(result => !repeated.has(keyOf(result))), ...again];
  const unsteady = first.filter(
    ({ name, file, outcome }) =>
      outcome === 'failed' &&
      again.some(test => test.file === file && test.name === name && test.outcome === 'passed'),
  );
  const count = (outcome: TestResult['outcome']) =>
    results.filter(result => result.outcome === outcome).length;
  const byReason = new Map<string, number>();
  for (const { outcome, reason = '' } of results)
    if (outcome === 'skipped') byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  const groups = [...byReason].sort((a, b) => b[1] - a[1]);
  const lines = groups.map(([reason, tests]) => skippedLine(reason, tests));
  const failed = count('failed');
  return {
    lines: [
      ...(lines.length > 0 ? ['Skipped, because something is missing here:', ...lines, ''] : []),
      ...unsteady.map(({ name }) => `Failed beside other tests, passed alone: ${name}`),
      `${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`,
    ],
    unexcused: groups.map(([reason]) => reason).filter(reason => !isExcused(reason, excused)),
    failed,
  };
}

function skippedLine(reason: string, tests: number): string {
  const counted = `${tests} ${tests === 1 ? 'test' : 'tests'}`;
  const need = needOfReason(reason);
  if (!need) return `  ${counted}: ${reason || 'no reason given'}`;
  return `  ${counted} ${tests === 1 ? 'needs' : 'need'} ${need.what}\n    → ${need.bring}`;
}

function isExcused(reason: string, excused: typeof MAY_BE_SKIPPED): boolean {
  const id = needOfReason(reason)?.id;
  return id !== undefined && excused[id] !== undefined;
}
