/** Finds the ranges that mark engine steps, one lane per thread. */
import { NONE } from '../../base/column.js';
import {
  type MarkerGrammar,
  type MarkerMatch,
  markerGrammars,
  matchMarker,
} from '../../catalog/engine-markers.js';
import type { Profile, Row } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import { type Lane, type MarkedRun, withPeriods } from './lane.js';

interface MarkedLanes {
  readonly engine: string;
  readonly lanes: readonly Lane[];
}

type Candidate = MarkedRun & { readonly match: MarkerMatch };

export function findMarkedLanes(
  profile: Profile,
  recordedUntil: (process: number) => number,
  userPattern?: RegExp,
): MarkedLanes | undefined {
  const grammars: readonly MarkerGrammar[] = userPattern
    ? [{ engine: 'own marker', pattern: userPattern, source: '--marker' }]
    : markerGrammars;
  const byThread = collect(profile, grammars, recordedUntil);
  const all = [...byThread.values()].flat();
  if (all.length === 0) return undefined;
  const hasEngine = all.some(({ match }) => !match.grammar.generic);
  const lanes: Lane[] = [];
  const engines = new Map<string, number>();
  for (const [thread, candidates] of byThread) {
    const chosen = outermost(candidates.filter(({ match }) => !hasEngine || !match.grammar.generic));
    if (chosen.length === 0) continue;
    for (const { match } of chosen)
      engines.set(match.grammar.engine, (engines.get(match.grammar.engine) ?? 0) + 1);
    const { process } = profile.threads[thread];
    const runs = chosen.map(({ match: _, ...run }) => run);
    lanes.push({ process, thread, runs: withPeriods(runs, recordedUntil(process)) });
  }
  const [engine] = [...engines].sort((a, b) => b[1] - a[1])[0];
  return { engine, lanes };
}

function collect(
  profile: Profile,
  grammars: readonly MarkerGrammar[],
  recordedUntil: (process: number) => number,
): Map<number, Candidate[]> {
  const ranges = profile.tables.ranges;
  const byThread = new Map<number, Candidate[]>();
  if (!ranges) return byThread;
  const known = new Map<number, MarkerMatch | undefined>();
  for (let row = 0 as Row<'ranges'>; row < ranges.length; row++) {
    const kind = ranges.kind[row];
    if (kind !== RangeKind.pushPop && kind !== RangeKind.startEnd) continue;
    const thread = ranges.thread[row];
    const name = ranges.name[row];
    if (thread === NONE || name === NONE) continue;
    if (!known.has(name)) known.set(name, matchMarker(profile.strings.text(name), grammars));
    const match = known.get(name);
    if (!match) continue;
    const open = Number.isNaN(ranges.end[row]);
    const end = open ? recordedUntil(profile.threads[thread].process) : ranges.end[row];
    const list = byThread.get(thread);
    const candidate = {
      start: ranges.start[row],
      end: Math.max(end, ranges.start[row]),
      facts: match.facts,
      label: profile.strings.text(name),
      open,
      match,
    };
    if (list) list.push(candidate);
    else byThread.set(thread, [candidate]);
  }
  return byThread;
}

/** Of nested markers the outer one is the step; what only the inner one knows is added to it. */
function outermost(candidates: readonly Candidate[]): Candidate[] {
  const sorted = [...candidates].sort((a, b) => a.start - b.start || b.end - a.end);
  const steps: Candidate[] = [];
  for (const candidate of sorted) {
    const outer = steps[steps.length - 1];
    if (!outer || candidate.start >= outer.end) {
      steps.push(candidate);
      continue;
    }
    const phase = outer.facts.phase === 'unknown' ? candidate.facts.phase : outer.facts.phase;
    steps[steps.length - 1] = { ...outer, facts: { ...candidate.facts, ...outer.facts, phase } };
  }
  return steps;
}
