/** Host code that the GPU waits for, in words: `58.5 ms: 31.2 ms LlamaAttention.forward → aten::linear (16 ×), …`. */
import { formatDuration } from '../../base/units.js';
import { adviceOnCode } from '../../catalog/host-code-advice.js';
import type { Phase } from '../../catalog/phases.js';
import { formatMean } from '../words.js';
import { type CallPaths, ROOT } from './call-paths.js';
import type { NodeSums } from './call-tally.js';
import { childrenOf, totalsOf } from './call-tree.js';
import type { CauseSet, HostBlockers } from './host-blockers.js';
import { type HotPath, hotPaths } from './hot-paths.js';
import { type NamedTime, namedTime } from './named-share.js';

export interface BlockerWords extends NamedTime {
  /** Without the sum in front. */
  readonly text: string;
  /** Largest first. */
  readonly places: readonly HotPath[];
  /** What to do, by the names of the largest places. */
  readonly advice: readonly string[];
}

const MOST_PLACES = 3;
/** A place needs this share of the time for an advice of its own. */
const WORTH_ADVICE = 0.15;

/** Per step and device, as profiled; undefined where the phase has no such idle time. */
export function blockerWords(
  { paths, sums, windows }: HostBlockers,
  phase: Phase | null,
  causes: CauseSet,
  most = MOST_PLACES,
): BlockerWords | undefined {
  const own = sums(phase, causes);
  if (!own) return undefined;
  const named = namedTime(paths, own);
  const places = hotPaths(paths, own, { few: most });
  const count = phase === null ? 1 : (windows.get(phase) ?? 1);
  const shown = places.slice(0, most);
  const rest = named.totalNs - shown.reduce((sum, { ns }) => sum + ns, 0);
  const parts = shown.map(
    ({ ns, label, calls }) => `${formatDuration(ns / count)} ${label} (${formatMean(calls / count)} ×)`,
  );
  const advised = shown
    .filter(({ ns }) => ns >= WORTH_ADVICE * named.totalNs)
    .flatMap(place => {
      const known = adviceOnCode(namesAround(paths, own, place.node))?.text ?? onTheCpu(place);
      return known ? [`${place.label}: ${known}`] : [];
    });
  return {
    ...named,
    text: [...parts, ...(rest > 0 ? [`${formatDuration(rest / count)} elsewhere`] : [])].join(', '),
    places,
    advice: advised,
  };
}

/** An operator that only launches takes some ten microseconds; one that takes this long computes by itself. */
const COMPUTES_NS = 1e6;

function onTheCpu({ label, ns, calls }: HotPath): string | undefined {
  if (!/(?:^| )aten::\w+$/.test(label) || calls === 0 || ns / calls < COMPUTES_NS) return undefined;
  return 'it computes on the CPU: move its tensors to the GPU, if they fit';
}

/** Advice on a small part of a place would be taken for advice on all of it. */
const MOST_OF_PLACE = 0.5;

/** What the place spends most of its time in, innermost first, then the place itself and its callers. */
function namesAround(paths: CallPaths, sums: NodeSums, node: number): string[] {
  const totals = totalsOf(paths, sums.selfNs);
  const below = childrenOf(paths, totals);
  const inner: string[] = [];
  for (
    let at = below[node][0];
    at !== undefined && totals[at] >= MOST_OF_PLACE * totals[node];
    at = below[at][0]
  )
    inner.unshift(paths.names[at]!.text);
  const outer: string[] = [];
  for (let at = node; at > ROOT; at = paths.parents[at]) outer.push(paths.names[at]!.text);
  return [...inner, ...outer];
}
