/** What `stepscope bench --json` prints, declared. */
import { document, list, object, string } from '../base/document.js';
import { benchRun } from '../model/bench-run-schema.js';
import { benchDifferenceSchema } from '../run/document.js';

export const benchSchema = document(
  'stepscope-bench/1',
  'Benchmarks',
  'Benchmark results as their tools printed them. Figures that were not printed are absent.',
  {
    files: list(string('path'), 'as given'),
    runs: list(
      object({ name: string('unique in this document'), ...benchRun.properties }),
      'in the order of the files',
    ),
    besideFirst: list(
      object({ run: string('name of the run compared with the first'), ...benchDifferenceSchema.properties }),
      'each run compared with the first',
    ),
  },
);
