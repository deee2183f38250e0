/** Comparing two exports versus analyzing each: reading dominates both, so the comparison itself must stay cheap. */
import { statSync } from 'node:fs';
import { formatBytes } from '../src/base/units.js';
import { grown, say, type Verdict } from './inputs.js';
import { type Measured, measureOurs, medianRuns, seconds, times } from './measure.js';

const ROUNDS = 3;
const BOTH_ANALYSES = 1.3;
/** Only one profile is in memory at a time: two must not need the memory of two. */
const LARGER_ANALYSIS = 1.3;

export function benchCompare(): Verdict[] {
  const files = [grown('eager', 'profile.sqlite.gz', 300), grown('graph', 'profile.sqlite.gz', GRAPH_COPIES)];
  const sizes = files.map(file => formatBytes(statSync(file).size)).join(' and ');
  const [first, second, both] = medianRuns(ROUNDS, [
    ...files.map(file => () => measureOurs(['cli', 'analyze', file, '--json'])),
    () => measureOurs(['cli', 'compare', ...files, '--json']),
  ]);
  say(`stepscope analyze --json: ${spent(first)}; ${spent(second)}`);
  say(`stepscope compare --json of ${sizes}: ${spent(both)}`);
  const ratio = both.seconds / (first.seconds + second.seconds);
  const memory = both.peakBytes / Math.max(first.peakBytes, second.peakBytes);
  return [
    {
      what: `compare of ${sizes} vs. analyzing both`,
      wanted: `at most ${BOTH_ANALYSES} times`,
      measured: `${ratio.toFixed(2)} times (${seconds(both.seconds)} to ${seconds(first.seconds + second.seconds)})`,
      met: ratio <= BOTH_ANALYSES,
    },
    {
      what: 'peak memory of the above vs. the larger analysis',
      wanted: `at most ${LARGER_ANALYSIS} times`,
      measured: `${times(memory)} (${formatBytes(both.peakBytes)})`,
      met: memory <= LARGER_ANALYSIS,
    },
  ];
}

/** About as large as the other. */
const GRAPH_COPIES = 330;

const spent = (measured: Measured) => `${seconds(measured.seconds)}, peak ${formatBytes(measured.peakBytes)}`;
