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
  const isGraphLaunch = new Map<number, boolean>();
  for (let row = 0 as Row<'kernels'>; row < length; row++) {
    if (launch[row] === NONE) continue;
    const id = name[launch[row]];
    let answer = isGraphLaunch.get(id);
    if (answer === undefined) {
      answer = /GraphLaunch/.test(profile.strings.text(id));
      isGraphLaunch.set(id, answer);
    }
    if (answer) return true;
  }
  return false;
}
