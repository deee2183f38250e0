/** Finding events: the matches of a query lane by lane, drawable like any lane, and numbered in order of time. */
import { upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { orderBy } from '../../base/order.js';
import { UserError } from '../../base/user-error.js';
import { type ColumnsFile, columnsFile } from '../columns-file.js';
import { laneOf, makeLane } from '../make-lanes.js';
import { palettes } from '../palettes.js';
import type { TimelineData } from '../timeline-data.js';
import type { LaneData, LaneSource, Track } from '../track.js';
import type { MatchDocument, SearchDocument, StepsDocument } from '../wire.js';
import { type Condition, parseQuery } from './query.js';

export interface SearchResult {
  readonly document: SearchDocument;
  readonly columns: ColumnsFile;
  /** The n-th match in order of time. */
  match(n: number): MatchDocument;
  /** The first match that starts at or after the moment, or the first of all. */
  near(moment: number): MatchDocument;
}

type Test = (index: number) => boolean;

/** Per lane the events that fit the query. `named`: lanes were chosen, so those made from events may match too. */
export function matchesOf(data: TimelineData, query: string, isNamed = false) {
  const conditions = parseQuery(query);
  // Steps, idle time, replays and time on a CPU are made from events: they match where the query speaks of tracks or causes.
  const named = isNamed || conditions.some(({ kind }) => kind === 'track' || kind === 'cause');
  return data.lanes.flatMap(({ track, lane }, id) => {
    if (lane.kind !== 'slices' || conditions.length === 0) return [];
    if (!named && derived.has(lane.data.source)) return [];
    const test = testFor(conditions, data, track, lane.data);
    if (!test) return [];
    const rows = matchesIn(lane.data, test);
    return rows.length > 0 ? [{ id, track, events: lane.data, rows }] : [];
  });
}

export function search(data: TimelineData, query: string): SearchResult {
  const found = matchesOf(data, query);
  // Copies and communication are drawn on their stream too: each event counts once.
  const counted = found.filter(({ track }) => !isRepeated(track));
  const totals = new Map<string, { count: number; totalNs: number }>();
  let totalNs = 0;
  for (const { track, events, rows } of counted) {
    const own = totals.get(track.id) ?? { count: 0, totalNs: 0 };
    for (const i of rows) own.totalNs += events.end[i] - events.start[i];
    own.count += rows.length;
    totals.set(track.id, own);
  }
  for (const own of totals.values()) totalNs += own.totalNs;
  const columns = columnsFile(
    found.map(({ id, events, rows }) => ({ id, lane: makeLane(chosen(events, rows, data.labels)) })),
  );
  const count = counted.reduce((sum, { rows }) => sum + rows.length, 0);
  const inOrder = ordered(counted, count);
  return {
    document: {
      query,
      count,
      totalNs,
      byTrack: [...totals].map(([track, own]) => ({ track, ...own })),
      lanes: columns.lanes,
      overviewBytes: columns.overviewBytes,
    },
    columns,
    match: n => matchAt(inOrder(), n),
    near(moment) {
      const all = inOrder();
      const n = upperBound(all.start, moment - 1);
      return matchAt(all, n >= all.start.length ? 0 : n);
    },
  };
}

const derived = new Set<LaneSource>(['steps', 'idle', 'replays', 'layers', 'ranks', 'contextSwitches']);
const isRepeated = (track: Track) => /\/(copies|communication)$/.test(track.id);

function matchesIn(events: LaneData, test: Test): Int32Array {
  const rows = new Int32Array(events.length);
  let length = 0;
  for (let i = 0; i < events.length; i++) if (test(i)) rows[length++] = i;
  return rows.slice(0, length);
}

/** The matches as a lane of their own; `row` becomes the number of the event in its lane. */
function chosen(events: LaneData, rows: Int32Array, labels: TimelineData['labels']): LaneData {
  return laneOf(rows, {
    source: events.source,
    labels,
    start: events.start,
    end: i => events.end[i],
    describe(own, label, tone) {
      for (let at = 0; at < own.length; at++) {
        label[at] = events.label[own[at]];
        tone[at] = events.tone[own[at]];
      }
    },
  });
}

/** Undefined where no event of the lane can match. */
function testFor(
  conditions: readonly Condition[],
  data: TimelineData,
  track: Track,
  events: LaneData,
): Test | undefined {
  const tests: Test[] = [];
  for (const condition of conditions) {
    const test = conditionTest(condition, data, track, events);
    if (test === true) continue;
    if (test === false) return undefined;
    tests.push(test);
  }
  if (tests.length === 1) return tests[0];
  return i => tests.every(test => test(i));
}

function conditionTest(
  condition: Condition,
  data: TimelineData,
  track: Track,
  events: LaneData,
): Test | boolean {
  const { not } = condition;
  switch (condition.kind) {
    case 'track': {
      const group = data.document.groups.find(({ id }) => id === track.group)?.label ?? '';
      return `${group} ${track.label}`.toLowerCase().includes(condition.text) !== not;
    }
    case 'name': {
      const { text } = condition;
      return nameTest(name => name.includes(text), not, data, events, familyNamed(text, track));
    }
    case 'pattern':
      return nameTest(name => condition.pattern.test(name), not, data, events);
    case 'duration': {
      const { least, most, open } = condition;
      return i => {
        const ns = events.end[i] - events.start[i];
        return (open ? ns > least && ns < most : ns >= least && ns <= most) !== not;
      };
    }
    case 'step':
      return inSteps(data.document.steps, events, not, (steps, i) => {
        const number = steps.iteration[i];
        return number >= condition.first && number <= condition.last;
      });
    case 'phase':
      if (track.palette === 'phase') return toneTest(condition, track, events);
      return inSteps(data.document.steps, events, not, (steps, i) => {
        return isOneOf(condition.text, palettes.phase[steps.phase[i]]);
      });
    default:
      if (track.palette !== condition.kind) return false;
      return toneTest(condition, track, events);
  }
}

/** One of several names, each as far as it was typed. */
const isOneOf = (text: string, { id, label }: { readonly id: string; readonly label: string }): boolean =>
  text.split(',').some(one => id.startsWith(one) || label.toLowerCase().startsWith(one));

/** Families, causes and phases by id or label. */
function toneTest({ text, not }: { text: string; not: boolean }, track: Track, events: LaneData): Test {
  const fits = palettes[track.palette].map(look => isOneOf(text, look) !== not);
  return i => fits[events.tone[i]] === true;
}

/** The tone of the family that is called so: nobody who searches for `attention` means only kernels named after it. */
function familyNamed(text: string, { palette }: Track): number {
  if (palette !== 'family') return NONE;
  return palettes.family.findIndex(({ id, label }) => id === text || label.toLowerCase() === text);
}

function nameTest(
  fits: (name: string) => boolean,
  not: boolean,
  { labels }: TimelineData,
  events: LaneData,
  family: number = NONE,
): Test {
  const known: (boolean | undefined)[] = [];
  const named = (id: number) => {
    known[id] ??= fits(labels.name(id).toLowerCase()) || fits(labels.text(id).toLowerCase());
    return known[id];
  };
  return i => (named(events.label[i]) || (family !== NONE && events.tone[i] === family)) !== not;
}

/** Events that start within the window of a fitting step. */
function inSteps(
  steps: StepsDocument,
  events: LaneData,
  not: boolean,
  fits: (steps: StepsDocument, index: number) => boolean,
): Test {
  const fitting = steps.iteration.map((_, i) => fits(steps, i));
  return i => {
    const at = upperBound(steps.startNs, events.start[i]) - 1;
    const inside = at >= 0 && events.start[i] < steps.endNs[at];
    return (inside && fitting[at]) !== not;
  };
}

interface Ordered {
  readonly start: Float64Array;
  readonly lane: Int32Array;
  readonly index: Int32Array;
  readonly end: Float64Array;
}

/** Putting a million matches in order takes a moment, and most searches are never walked through. */
function ordered(
  found: readonly { readonly id: number; readonly events: LaneData; readonly rows: Int32Array }[],
  count: number,
): () => Ordered {
  let known: Ordered | undefined;
  return () => {
    if (known) return known;
    const start = new Float64Array(count);
    const end = new Float64Array(count);
    const lane = new Int32Array(count);
    const index = new Int32Array(count);
    let at = 0;
    for (const { id, events, rows } of found)
      for (const i of rows) {
        start[at] = events.start[i];
        end[at] = events.end[i];
        lane[at] = id;
        index[at++] = i;
      }
    const order = orderBy(start);
    known = {
      start: start.map((_, i) => start[order[i]]),
      end: end.map((_, i) => end[order[i]]),
      lane: lane.map((_, i) => lane[order[i]]),
      index: index.map((_, i) => index[order[i]]),
    };
    return known;
  };
}

function matchAt({ start, end, lane, index }: Ordered, n: number): MatchDocument {
  if (!(Number.isInteger(n) && n > NONE && n < start.length))
    throw new UserError(
      'usage',
      'The requested match does not exist.',
      'Request one of the counted matches.',
    );
  return { n, lane: lane[n], index: index[n], startNs: start[n], endNs: end[n] };
}
