/** Where the host waited for the GPU among blocks of launches: what it waits for once ends something whole. */
import { lowerBound } from '../../base/bisect.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import { nameTest } from '../name-test.js';

/** Whether the launching thread waited for the GPU between the beginnings of a block and of the one before. */
export function waitsBefore(
  profile: Profile,
  thread: number,
  begins: readonly number[],
): (block: number) => boolean {
  const calls = profile.tables.apiCalls;
  const waited = new Set<number>();
  const isWait = nameTest(profile, SYNC_CALL);
  const starts = Float64Array.from(begins);
  for (let row = 0 as Row<'apiCalls'>; row < (calls?.length ?? 0); row++)
    if (calls!.thread[row] === thread && isWait(calls!.name[row]))
      waited.add(lowerBound(starts, calls!.start[row]));
  return block => waited.has(block);
}
