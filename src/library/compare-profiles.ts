/** Two runs compared: the document of `stepscope compare --json`. */
import { Analyzer, type Settings } from '../analyze/analysis.js';
import type { Static } from '../base/document.js';
import { compareConfigurations, DEFAULT_THRESHOLD } from '../compare/compare-configurations.js';
import type { compareSchema } from '../compare/compare-schema.js';
import { comparisonDocument } from '../compare/comparison-json.js';
import type { Profile } from '../model/profile.js';
import { comparedRun } from '../run/collect.js';

export interface CompareOptions {
  /** Changes smaller than this share are left out of the words; default 0.01. */
  readonly threshold?: number;
  /** What to look at, in both. */
  readonly settings?: Settings;
  readonly names?: readonly [before: string, after: string];
}

/** The difference of step times, term by term. Only matching steps are compared. */
export type ComparisonAnswer = Static<typeof compareSchema>;

export function compareProfiles(
  before: Profile,
  after: Profile,
  options: CompareOptions = {},
): ComparisonAnswer {
  const { threshold = DEFAULT_THRESHOLD, settings = {}, names = ['before', 'after'] } = options;
  const [base, other] = [before, after].map((profile, i) => ({
    name: names[i],
    runs: [comparedRun(new Analyzer(profile, settings))],
  }));
  return comparisonDocument(
    [compareConfigurations(base, other, { threshold, onlyComparable: false })],
    threshold,
  );
}
