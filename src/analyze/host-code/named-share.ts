/** How much of some host time the file names: by what was recorded in it, or by the code that comes next. */
import { type CallPaths, ROOT } from './call-paths.js';
import type { NodeSums } from './call-tally.js';

export interface NamedTime {
  readonly totalNs: number;
  /** Inside something recorded: a call, an operator, a range, a frame, another thread. */
  readonly namedNs: number;
  /** Nothing was recorded in it, but an operator, a range or a function follows: it lies in the code before that. */
  readonly placedNs: number;
}

export function namedTime(paths: CallPaths, { selfNs }: NodeSums): NamedTime {
  let [totalNs, namedNs, placedNs] = [0, 0, 0];
  selfNs.forEach((ns, node) => {
    totalNs += ns;
    // What says little is inside what is around it.
    let at = node;
    while (at > ROOT && paths.names[at]!.isVague) at = paths.parents[at];
    const kind = paths.names[at]?.kind;
    if (kind === 'between') placedNs += ns;
    else if (kind !== undefined) namedNs += ns;
  });
  return { totalNs, namedNs, placedNs };
}
