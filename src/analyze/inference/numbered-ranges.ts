/**
 * Ranges of the user's own that count something (`token_17_processing`, `request 3 step 17`): where one number rises by
 * one from range to range, the ranges do not overlap and nearly all work is launched inside them, they are the steps.
 */
import { NONE } from '../../base/column.js';
import { layerOf } from '../../catalog/layer-names.js';
import { isPartName, phaseOfText } from '../../catalog/step-words.js';
import type { Profile, Row } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import type { GpuWork } from '../gpu/gpu-work.js';
import { type Lane, withPeriods } from './lane.js';
import { FEWEST_RANGES, LEAST_LAUNCHED, launchesOf, shareInside } from './launches-inside.js';

interface CountedRange {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly numbers: readonly number[];
}

interface NumberedLanes {
  /** How the ranges are called, with # for the number. */
  readonly engine: string;
  readonly lanes: readonly Lane[];
}

/** Numbers longer than this are addresses and times. */
const NUMBER = /\d{1,9}/g;

export function findNumberedLanes(
  profile: Profile,
  work: GpuWork,
  recordedUntil: Float64Array,
): NumberedLanes | undefined {
  const lanes: Lane[] = [];
  let engine = '';
  for (const [thread, byTemplate] of collect(profile)) {
    const launches = launchesOf(profile, work, thread);
    // Of nested counters the outer one counts steps: it has the fewest ranges.
    const candidates = [...byTemplate]
      .map(([template, ranges]) => ({ template, runs: counted(ranges) }))
      .filter(({ runs }) => runs !== undefined && shareInside(launches, runs) >= LEAST_LAUNCHED)
      .sort((a, b) => a.runs!.length - b.runs!.length);
    const [best] = candidates;
    if (!best) continue;
    engine = best.template;
    const { process } = profile.threads[thread];
    lanes.push({ process, thread, runs: withPeriods(best.runs!, recordedUntil[process]) });
  }
  return lanes.length === 0 ? undefined : { engine: `your own ranges, ${engine}`, lanes };
}

function collect(profile: Profile): Map<number, Map<string, CountedRange[]>> {
  const ranges = profile.tables.ranges;
  const found = new Map<number, Map<string, CountedRange[]>>();
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
    const kind = ranges!.kind[row];
    const thread = ranges!.thread[row];
    if ((kind !== RangeKind.pushPop && kind !== RangeKind.startEnd) || thread === NONE) continue;
    if (ranges!.name[row] === NONE || Number.isNaN(ranges!.end[row])) continue;
    const name = profile.strings.text(ranges!.name[row]);
    const numbers = name.match(NUMBER);
    if (!numbers || isPartName(name) || layerOf(name) !== undefined) continue;
    const template = name.replace(NUMBER, '#');
    const byTemplate = found.get(thread) ?? new Map<string, CountedRange[]>();
    found.set(thread, byTemplate);
    const range = { start: ranges!.start[row], end: ranges!.end[row], name, numbers: numbers.map(Number) };
    const list = byTemplate.get(template);
    if (list) list.push(range);
    else byTemplate.set(template, [range]);
  }
  return found;
}

/** The ranges as runs, where one of their numbers counts them and they follow each other. */
function counted(ranges: readonly CountedRange[]) {
  if (ranges.length < FEWEST_RANGES) return undefined;
  if (ranges.some((range, i) => i > 0 && range.start < ranges[i - 1].end)) return undefined;
  const place = ranges[0].numbers.findIndex((_, at) =>
    ranges.every((range, i) => i === 0 || range.numbers[at] === ranges[i - 1].numbers[at] + 1),
  );
  if (place < 0) return undefined;
  return ranges.map(({ start, end, name, numbers }) => ({
    start,
    end,
    facts: { phase: phaseOfText(name), iteration: numbers[place] },
    label: name,
    open: false,
  }));
}
