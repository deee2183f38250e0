/**
 * Ranges of the user's own that are called after a step without counting it (`Prefill batch`, `decode`, `forward pass`):
 * where they follow each other and nearly all work is launched inside them, they are the steps.
 *
 *   generate  [                                      ] [                     …
 *   named     [ Prefill batch ] [ decode ] [ decode ]  [ Prefill batch ] [ decode …
 *   inside      model  sample     model …
 */
import { NONE } from '../../base/column.js';
import { layerOf } from '../../catalog/layer-names.js';
import { isPartName, namesForward, namesStep, phaseOfText } from '../../catalog/step-words.js';
import type { Profile, Row } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import type { GpuWork } from '../gpu/gpu-work.js';
import { type Lane, type MarkedRun, withPeriods } from './lane.js';
import { FEWEST_RANGES, LEAST_LAUNCHED, launchedIn, launchesOf, shareInside } from './launches-inside.js';

interface NamedRange {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

interface NamedLanes {
  /** How the ranges are called. */
  readonly engine: string;
  readonly lanes: readonly Lane[];
}

export function findNamedLanes(
  profile: Profile,
  work: GpuWork,
  recordedUntil: Float64Array,
): NamedLanes | undefined {
  const lanes: Lane[] = [];
  const names = new Map<string, number>();
  // What a whole step is called, before what the forward pass inside it is.
  for (const isNamed of [namesStep, namesForward]) {
    for (const [thread, ranges] of rangesByThread(profile, isNamed)) {
      const steps = stepsAmong(ranges, launchesOf(profile, work, thread));
      if (!steps) continue;
      for (const { name } of steps) names.set(name, (names.get(name) ?? 0) + 1);
      const { process } = profile.threads[thread];
      const runs = steps.map(
        ({ start, end, name }): MarkedRun => ({
          start,
          end,
          facts: { phase: phaseOfText(name) },
          label: name,
          open: false,
        }),
      );
      lanes.push({ process, thread, runs: withPeriods(runs, recordedUntil[process]) });
    }
    if (lanes.length > 0) break;
  }
  if (lanes.length === 0) return undefined;
  const [[commonest]] = [...names].sort((a, b) => b[1] - a[1]);
  return { engine: `your own ranges, ${commonest}`, lanes };
}

/** By thread, in order of start. */
function rangesByThread(profile: Profile, isNamed: (name: string) => boolean): Map<number, NamedRange[]> {
  const ranges = profile.tables.ranges;
  const found = new Map<number, NamedRange[]>();
  const known = new Map<number, boolean>();
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
    const kind = ranges!.kind[row];
    const thread = ranges!.thread[row];
    const id = ranges!.name[row];
    if ((kind !== RangeKind.pushPop && kind !== RangeKind.startEnd) || thread === NONE || id === NONE)
      continue;
    if (Number.isNaN(ranges!.end[row])) continue;
    const name = profile.strings.text(id);
    if (!known.has(id)) known.set(id, isNamed(name) && !isPartName(name) && layerOf(name) === undefined);
    if (!known.get(id)) continue;
    const range = { start: ranges!.start[row], end: ranges!.end[row], name };
    const list = found.get(thread);
    if (list) list.push(range);
    else found.set(thread, [range]);
  }
  return found;
}

/** The outermost ranges that launch something, unless what they hold is itself a row of such ranges. */
function stepsAmong(
  ranges: readonly NamedRange[],
  launches: Float64Array,
): readonly NamedRange[] | undefined {
  let rest = ranges.filter(range => launchedIn(launches, range) > 0);
  let steps = outermost(rest);
  for (;;) {
    const outer = new Set(steps);
    rest = rest.filter(range => !outer.has(range));
    const inner = outermost(rest);
    const isRow = inner.length >= 2 * steps.length && shareInside(launches, inner) >= LEAST_LAUNCHED;
    if (!isRow) break;
    steps = inner;
  }
  return steps.length >= FEWEST_RANGES && shareInside(launches, steps) >= LEAST_LAUNCHED ? steps : undefined;
}

function outermost(ranges: readonly NamedRange[]): readonly NamedRange[] {
  const sorted = [...ranges].sort((a, b) => a.start - b.start || b.end - a.end);
  const outer: NamedRange[] = [];
  for (const range of sorted)
    if (outer.length === 0 || range.start >= outer[outer.length - 1].end) outer.push(range);
  return outer;
}
