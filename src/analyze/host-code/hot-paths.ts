/**
 * The few places that hold most of a call tree's time, none inside another: as deep as they can be while they still
 * hold a part worth naming. What is left is "elsewhere".
 */
import { KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import type { HostName } from '../../catalog/host-names.js';
import { isGeneralLibrary, packageOfFile } from '../../catalog/python-files.js';
import { type CallPaths, ROOT } from './call-paths.js';
import type { NodeSums } from './call-tally.js';
import { childrenOf, totalsOf } from './call-tree.js';

export interface HotPath {
  readonly node: number;
  /** `LlamaAttention.forward → aten::linear`. */
  readonly label: string;
  readonly ns: number;
  readonly calls: number;
}

/** A place is worth naming from this share of the whole on. */
const LEAST_SHARE = 0.05;

/** So few names are read; where they say less than this share of the time, their callers are named instead … */
const SAID_BY_FEW = 0.7;
/** … but none that holds almost everything: that the engine steps is no news. */
const ALMOST_ALL = 0.9;

/** A place of this share stays: only callers of its own package stand for it, and no much larger one comes before it. */
const LARGE = 0.2;
const MUCH_MORE = 1.25;
/** A caller that spends so much in one place says less than the place does. */
const MOSTLY = 0.6;
/** One line of a function is a place where it holds most of the function; otherwise the function is. */
const ONE_LINE = 0.8;

/** `few`: so many places should say most of it. */
export function hotPaths(
  paths: CallPaths,
  sums: NodeSums,
  { leastShare = LEAST_SHARE, few }: { readonly leastShare?: number; readonly few?: number } = {},
): readonly HotPath[] {
  const totals = totalsOf(paths, sums.selfNs);
  const below = childrenOf(paths, totals);
  const least = leastShare * totals[ROOT];
  const found: Place[] = [];
  /** Gives the time below the node that is in a place already. */
  const descend = (node: number): number => {
    let placed = 0;
    for (const child of below[node])
      if (totals[child] >= least && !isPartOf(paths, child, node) && !isOneOfLines(child, node))
        placed += descend(child);
    const rest = totals[node] - placed;
    if (node === ROOT || rest < least) return placed;
    found.push({ node, ns: rest });
    return totals[node];
  };
  function isOneOfLines(child: number, node: number): boolean {
    const [file, around] = [paths.names[child]!.file, paths.names[node]?.file];
    const isLine = file !== around && file !== undefined && around !== undefined && fileOf(file) === around;
    return isLine && totals[child] < ONE_LINE * totals[node];
  }
  descend(ROOT);
  if (few === undefined) return byLabel(paths, sums, found);
  const refused = new Set<number>();
  for (let places = byLabel(paths, sums, found); ; places = byLabel(paths, sums, found)) {
    const said = places.slice(0, few);
    if (said.reduce((sum, { ns }) => sum + ns, 0) >= SAID_BY_FEW * totals[ROOT]) return places;
    const caller = nearestCaller(paths, totals, found, said, refused);
    if (caller === undefined) return places;
    const [largest] = said;
    const isForeign = paths.pathOf(largest.node).includes(caller)
      ? packageOf(paths, caller) !== packageOf(paths, largest.node)
      : totals[caller] > MUCH_MORE * largest.ns;
    const isOnePlace = places.some(
      ({ node, ns }) =>
        ns >= MOSTLY * totals[caller] && paths.pathOf(node).includes(caller) && node !== caller,
    );
    if (isOnePlace || (isForeign && largest.ns >= LARGE * totals[ROOT])) {
      refused.add(caller);
      continue;
    }
    const inside = found.filter(({ node }) => paths.pathOf(node).includes(caller));
    for (const place of inside) found.splice(found.indexOf(place), 1);
    found.push({ node: caller, ns: totals[caller] });
  }
}

interface Place {
  readonly node: number;
  readonly ns: number;
}

/** Of the nearest callers that also called another place, the one that adds least besides places. */
function nearestCaller(
  paths: CallPaths,
  totals: ArrayLike<number>,
  found: readonly Place[],
  said: readonly HotPath[],
  refused: ReadonlySet<number>,
): number | undefined {
  const placedNs = new Map<number, number>();
  const places = new Map<number, number>();
  for (const { node, ns } of found)
    for (const at of paths.pathOf(node)) {
      placedNs.set(at, (placedNs.get(at) ?? 0) + ns);
      places.set(at, (places.get(at) ?? 0) + 1);
    }
  let best: { caller: number; more: number } | undefined;
  for (const { node } of said) {
    let caller = paths.parents[node];
    while (caller > ROOT && places.get(caller) === places.get(node)) caller = paths.parents[caller];
    if (caller <= ROOT || refused.has(caller) || totals[caller] >= ALMOST_ALL * totals[ROOT]) continue;
    const more = totals[caller] - placedNs.get(caller)!;
    if (!best || more < best.more) best = { caller, more };
  }
  return best?.caller;
}

/** The same place on several ways (a wait before and after a call) is one to the reader. Largest first. */
function byLabel(paths: CallPaths, sums: NodeSums, found: readonly Place[]): HotPath[] {
  const merged = new Map<string, HotPath>();
  for (const { node, ns } of found) {
    const label = labelOf(paths, node);
    const known = merged.get(label);
    const calls = sums.calls[node] ?? 0;
    merged.set(
      label,
      known ? { ...known, ns: known.ns + ns, calls: known.calls + calls } : { node, label, ns, calls },
    );
  }
  return [...merged.values()].sort((a, b) => b.ns - a.ns);
}

/** A call of the program stands for what the driver does in it and for the latency of its work, an operator for its launch. */
function isPartOf(paths: CallPaths, child: number, node: number): boolean {
  if (node === ROOT) return false;
  const { kind, text } = paths.names[child]!;
  const above = paths.names[node]!.kind;
  return kind === 'latency' || above === 'api-call' || (above === 'operator' && KERNEL_LAUNCH.test(text));
}

/** Of the innermost function with a file. */
function packageOf(paths: CallPaths, node: number): string | undefined {
  for (let at = node; at > ROOT; at = paths.parents[at]) {
    const { file } = paths.names[at]!;
    if (file !== undefined) return packageOfFile(fileOf(file));
  }
  return undefined;
}

/** `vllm/v1/engine/core.py:479` without the line. */
const fileOf = (place: string) => place.replace(/:\d+$/, '');

/** Who called, which operator, which call: at most one of each, the innermost; waits keep what ran meanwhile. */
export function labelOf(paths: CallPaths, node: number): string {
  const path = paths.pathOf(node).map(part => paths.names[part]!);
  const thread = path.findLastIndex(({ kind }) => kind === 'thread');
  if (thread < 0) return partsOf(path).join(' → ');
  const meanwhile = partsOf(path.slice(thread + 1)).join(' → ');
  const other = meanwhile === '' ? path[thread].text : `${path[thread].text}: ${meanwhile}`;
  return [...partsOf(path.slice(0, thread)), other].join(' → ');
}

function partsOf(path: readonly HostName[]): string[] {
  const lastOf = (...kinds: readonly HostName['kind'][]) =>
    path.findLastIndex(({ kind }) => kinds.includes(kind));
  const operator = lastOf('operator');
  // Who calls the operator; without one, the innermost function or range.
  const callers =
    operator < 0
      ? path
      : path.slice(
          0,
          path.findIndex(({ kind }) => kind === 'operator'),
        );
  const isCaller = ({ kind, isBuiltIn }: HostName) =>
    kind === 'range' || (kind === 'function' && (operator < 0 || !isBuiltIn));
  const caller = callers.findLastIndex(isCaller);
  const packageAt = (at: number) => packageOfFile(fileOf(callers[at]?.file ?? ''));
  const isGeneral =
    caller >= 0 && (callers[caller].file === undefined || isGeneralLibrary(packageAt(caller)));
  // A function of a library says what, its caller from elsewhere says where.
  const user = callers.findLastIndex(
    ({ file, kind }, at) =>
      isGeneral &&
      at < caller &&
      kind === 'function' &&
      file !== undefined &&
      packageAt(at) !== packageAt(caller),
  );
  const module = callers.findLastIndex(name => name.module !== undefined);
  const outermost = operator < 0 ? -1 : path.findIndex(({ kind }) => kind === 'operator');
  const call = lastOf('api-call');
  const firstCall = path.findIndex(({ kind }) => kind === 'api-call');
  const chosen = [
    module,
    user,
    caller,
    outermost,
    operator,
    // Of a runtime call and the driver's call in it, the program made the first.
    call < 0 ? -1 : firstCall,
    lastOf('interpreter'),
    // A library that is not resolved says little without the function that calls it.
    path.findLastIndex(({ kind, isVague }) => kind === 'native' && !isVague),
    lastOf('native'),
    lastOf('os-call'),
    lastOf('between'),
    lastOf('no-cpu'),
  ];
  return [...new Set(chosen.filter(at => at >= 0))].sort((a, b) => a - b).map(at => path[at].text);
}
