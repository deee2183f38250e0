/** What the launching thread did in one gap, by label, longest first. */
import type { Derived } from '../analysis.js';
import { labelOf } from './hot-paths.js';
import type { Gap, idleCode } from './idle-code.js';

type CodeOfGaps = typeof idleCode extends Derived<infer Code> ? Code : never;

/** None where the host did not cause the gap, or nothing about it is recorded. */
export function codeInGap(
  { paths, explainGap }: CodeOfGaps,
  gap: Gap,
): readonly { readonly label: string; readonly ns: number }[] {
  const byLabel = new Map<string, number>();
  explainGap(gap, ({ node, from, to }) => {
    const label = labelOf(paths, node);
    if (label !== '') byLabel.set(label, (byLabel.get(label) ?? 0) + to - from);
  });
  return [...byLabel].map(([label, ns]) => ({ label, ns })).sort((a, b) => b.ns - a.ns);
}
