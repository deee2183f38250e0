/** The host's call tree over the selected steps as one value: for the terminal, for JSON and for a flame graph. */
import type { Static } from '../../base/document.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analyzer, Derived } from '../analysis.js';
import { selection } from '../inference/selection.js';
import type { CallPaths } from './call-paths.js';
import type { NodeSums } from './call-tally.js';
import { type CallNode, callTree, invertedTree, WHOLE_TREE } from './call-tree.js';
import { type HostBlockers, stackBlockers } from './host-blockers.js';
import type { hostSchema } from './host-schema.js';
import { hostTime } from './host-time.js';
import { namedTime } from './named-share.js';

export interface HostProfile extends Omit<Static<typeof hostSchema>, 'schema' | 'files' | 'tree'> {
  readonly tree: CallNode;
}

/** GPU idle time that the code causes, or its own time. */
export type HostWeight = 'idle' | 'time';

interface HostQuestion {
  readonly weight: HostWeight;
  readonly inverted: boolean;
  /** Levels below the root. */
  readonly depth?: number | undefined;
  /** Nodes with a smaller share are added up. */
  readonly leastShare?: number | undefined;
}

export const hostSources: readonly Derived<unknown>[] = [stackBlockers, hostTime, selection];

export function hostProfile(analyzer: Analyzer, question: HostQuestion): HostProfile {
  const { weight, inverted, depth = WHOLE_TREE.depth, leastShare = WHOLE_TREE.leastShare } = question;
  const { paths, steps, windows, sums } = hostSums(analyzer, weight);
  const build = inverted ? invertedTree : callTree;
  return {
    weight,
    inverted,
    steps,
    windows,
    ...namedTime(paths, sums),
    tree: build(paths, sums, { leastShare, depth }),
  };
}

interface HostSums {
  readonly paths: CallPaths;
  readonly sums: NodeSums;
  /** Selected steps, and what means are taken over. */
  readonly steps: number;
  readonly windows: number;
}

/** Both weights are sums over the same call paths. */
export function hostSums(analyzer: Analyzer, weight: HostWeight): HostSums {
  const blockers = analyzer.get(stackBlockers);
  const sums = weight === 'idle' ? idleOf(blockers) : analyzer.get(hostTime);
  const steps = analyzer.get(selection).steps.reduce((sum, flag) => sum + flag, 0);
  const devices = [...blockers.windows].reduce((sum, [, count]) => sum + count, 0);
  const windows = Math.max(1, weight === 'idle' && steps > 0 ? devices : steps);
  return { paths: blockers.paths, sums, steps, windows };
}

/** All phases together. */
function idleOf({ windows, sums }: HostBlockers): NodeSums {
  const phases: readonly (Phase | null)[] = [...windows.keys()];
  const parts = phases.flatMap(phase => sums(phase, 'all') ?? []);
  if (parts.length === 1) return parts[0];
  const most = Math.max(0, ...parts.map(({ selfNs }) => selfNs.length));
  const all = { selfNs: new Float64Array(most), calls: new Int32Array(most) };
  for (const { selfNs, calls } of parts)
    for (let node = 0; node < selfNs.length; node++) {
      all.selfNs[node] += selfNs[node];
      all.calls[node] += calls[node];
    }
  return all;
}
