/** What the launching thread did in one gap, by label, longest first. */
import type { Gap, HostBlockers } from './host-blockers.js';
import { labelOf } from './hot-paths.js';

/** None where the host did not cause the gap, or nothing about it is recorded. */
export function codeInGap(
  { paths, explainGap }: HostBlockers,
  gap: Gap,
): readonly { readonly label: string; readonly ns: number }[] {
  const byLabel = new Map<string, number>();
  explainGap(gap, (_, node, from, to) => {
    const label = labelOf(paths, node);
    if (label !== '') byLabel.set(label, (byLabel.get(label) ?? 0) + to - from);
  });
  return [...byLabel].map(([label, ns]) => ({ label, ns })).sort((a, b) => b.ns - a.ns);
}
