/** What a profile answers; undefined where it did not record what the answer needs. */
import { NotRecorded } from '../../analyze/analysis.js';

export function ifRecorded<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof NotRecorded) return undefined;
    throw error;
  }
}
