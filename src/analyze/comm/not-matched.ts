/** Why waits of ranks are not known, and what to record. */
import { NotRecorded } from '../analysis.js';
import type { MatchProblem } from './collective-waits.js';

const problems: Readonly<Record<MatchProblem, readonly [what: string, hint: string]>> = {
  'one-rank': ['several ranks', 'give the files of all ranks: stepscope analyze rank*.json.gz'],
  'no-collectives': [
    'collectives of several ranks',
    'record kernels of graphs one by one (--cuda-graph-trace=node); ranks that do not communicate do not wait for each other',
  ],
  'no-match': [
    'collectives of several ranks that match',
    'the collectives of these files do not end together anywhere: give the ranks of one run, recorded at the same time',
  ],
  clocks: [
    'a common clock of the ranks',
    'the files have separate clocks, and fewer than 8 collectives match to align them: record more steps',
  ],
};

export const notMatched = (problem: MatchProblem = 'no-match'): NotRecorded =>
  new NotRecorded(...problems[problem]);

/** Completes "8 ranks; …" where not even starts can be compared. */
export const matchProblemWords = (problem: MatchProblem | null): string =>
  problem === 'clocks'
    ? 'their files have separate clocks, and fewer than 8 collectives match to align them'
    : 'the clocks of their files cannot be compared';
