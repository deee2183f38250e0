/**
 * The contract of a benchmark importer: what a tool printed or wrote, to BenchRuns. Exactly one recognizes a file, by
 * its content; the name says nothing. The whole content is handed over, since a report stands at the end of a log.
 * Adding a format is one file with a BenchImporter and one line in index.ts.
 */
import type { BenchRun } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';

export interface BenchImporter {
  readonly id: string;
  /** What a user calls such a file. */
  readonly label: string;
  recognizes(content: BenchContent): boolean;
  /** In the order of the file. None, or a UserError: it was recognized, but holds no result. */
  read(content: BenchContent): BenchRun[];
}
