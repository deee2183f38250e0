/** How to record the names that a capture does not have. */
import { namesRecordedBy, stacksLeftOut } from '../../catalog/how-to-record.js';
import type { Profile } from '../../model/profile.js';
import type { NamedTime } from './named-share.js';

/** Less than this without a name is not worth another capture. */
const WORTH_NAMING = 0.2;

/** A phrase to follow "to name the rest:"; undefined where nearly all has a name, or nothing more can be recorded. */
export function hintForNames(
  profile: Profile,
  { totalNs, namedNs, placedNs }: NamedTime,
): string | undefined {
  if (!(totalNs - namedNs - placedNs >= WORTH_NAMING * totalNs) || totalNs === 0) return undefined;
  // They were recorded; this file just does not have them.
  if (profile.notes.some(({ code }) => code === 'python-stacks-missing')) return stacksLeftOut;
  return namesRecordedBy(profile.capture.profiler, table => (profile.tables[table]?.length ?? 0) > 0);
}
