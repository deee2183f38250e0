/** How CUDA graphs show up in a profile. */
import { NONE } from '../base/column.js';
import { oncePerProfile } from './once-per-profile.js';
import type { GraphMode, Profile, Row } from './profile.js';

/** How CUDA graphs appear in the data, whatever the profiler was asked for. */
export const graphMode = oncePerProfile((profile): GraphMode => {
  if (profile.tables.graphLaunches) return 'blocks';
  const { kernels, apiCalls } = profile.tables;
  if (kernels?.graphNode) return 'nodes';
  if (apiCalls && kernels && launchesGraphs(profile)) return 'nodes';
  return 'none';
});

/** Kineto gives no node ids before 2025, but work launched by a graph launch call is graph work all the same. */
function launchesGraphs(profile: Profile): boolean {
  const { launch, length } = profile.tables.kernels!;
  const { name } = profile.tables.apiCalls!;
  const others = new Set<number>();
  let last: number | undefined;
  for (let row = 0 as Row<'kernels'>; row < length; row++) {
    if (launch[row] === NONE) continue;
    const id = name[launch[row]];
    // Almost always the call before, once more.
    if (id === last || others.has(id)) {
      last = id;
      continue;
    }
    if (/GraphLaunch/.test(profile.strings.text(id))) return true;
    others.add(id);
  }
  return false;
}
