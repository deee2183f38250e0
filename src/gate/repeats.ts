/** Repeats tell the noise only where nothing but chance differs between them. */
import { UserError } from '../base/user-error.js';
import { phases } from '../catalog/phases.js';
import { MOST_RUNS } from './baselines.js';
import { differencesOf } from './comparable.js';
import type { RunMetrics } from './run-metrics.js';

/** All runs are of the same thing as the first. */
export function requireRepeats(runs: readonly RunMetrics[]): void {
  if (runs.length > MOST_RUNS)
    throw new UserError(
      'too-large',
      `These are ${runs.length} repeats, at most ${MOST_RUNS} are kept.`,
      'More tell nothing more: save the baseline anew with --force.',
    );
  const [first, ...others] = runs;
  const all = phases.map(({ id }) => id);
  for (const run of others) {
    const differences = differencesOf(run.facts, first.facts, all);
    if (differences.length === 0) continue;
    const reasons = differences.map(({ text }) => text.replace(', the baseline ', ', there '));
    throw new UserError(
      'usage',
      `${run.files.join(', ')} is no repeat of ${first.files.join(', ')}: ${reasons.join('; ')}.`,
      'Repeats are runs of the same code with the same load; save others under names of their own.',
    );
  }
}
