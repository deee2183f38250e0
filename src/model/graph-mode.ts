/** How CUDA graphs show up in a profile. */
import type { GraphMode, Profile } from './profile.js';

/** How CUDA graphs appear in the data, whatever the profiler was asked for. */
export function graphMode(profile: Profile): GraphMode {
  if (profile.tables.graphLaunches) return 'blocks';
  const { kernels, apiCalls } = profile.tables;
  if (kernels?.graphNode) return 'nodes';
  if (apiCalls && kernels && launchesGraphs(profile)) return 'nodes';
  return 'none';
}

/** Kineto gives no node ids before 2025, but work launched by a graph launch call is graph work all the same. */
function launchesGraphs(profile: Profile): boolean {
  const { kernels, apiCalls } = profile.tables;
  const launch = kernels!.launch as unknown as Int32Array;
  const name = apiCalls!.name as unknown as Int32Array;
  const isGraphLaunch = new Map<number, boolean>();
  for (let row = 0; row < launch.length; row++) {
    if (launch[row] < 0) continue;
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
