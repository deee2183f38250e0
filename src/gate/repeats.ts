/** Repeats tell the noise only where nothing but chance differs between them. */

import { UserError } from '../base/user-error.js';
import { phases } from '../catalog/phases.js';
import type { Run } from '../run/run.js';
import { MOST_RUNS } from './baselines.js';
import { obstaclesOf } from './comparable.js';

/** All runs are of the same thing as the first. */
export function requireRepeats(runs: readonly Run[]): void {
  if (runs.length > MOST_RUNS)
    throw new UserError(
      'too-large',
      `There are ${runs.length} repeats, but a baseline keeps at most ${MOST_RUNS}.`,
      'More repeats add no information: save the baseline again with --force.',
    );
  const [first, ...others] = runs;
  const all = phases.map(({ id }) => id);
  for (const run of others) {
    const differences = obstaclesOf(run, first, all);
    if (differences.length === 0) continue;
    const reasons = differences.map(({ text }) => text.replace(', baseline ', ', expected '));
    throw new UserError(
      'usage',
      `${run.files.join(', ')} is not a repeat of ${first.files.join(', ')}: ${reasons.join('; ')}.`,
      'Repeats are runs of the same code with the same load; save other runs under separate names.',
    );
  }
}
