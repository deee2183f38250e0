/** The events of a selection as columns: for questions that no split of the panel answers. */
import { formatCount } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { palettes } from '../palettes.js';
import type { TimelineData } from '../timeline-data.js';
import { type ChosenLane, chosenLanes, type SelectionAsked, sectionOf } from './chosen-events.js';
import { stepAt } from './dimensions.js';

/** Texts by number. */
interface Texts {
  readonly ids: ArrayLike<number>;
  text(id: number): string;
}

export interface SelectedEvents {
  readonly rows: number;
  /** Undefined: there is no such column. */
  column(name: string): Texts | Float64Array | Int32Array | undefined;
}

const MOST_EVENTS = 1_000_000;

export function selectedEvents(data: TimelineData, asked: SelectionAsked): SelectedEvents {
  const lanes = chosenLanes(data, asked);
  const rows = lanes.reduce((sum, lane) => sum + lane.rows.length, 0);
  if (rows > MOST_EVENTS)
    throw new UserError(
      'too-large',
      `${formatCount(rows)} events are selected, and SQL takes ${formatCount(MOST_EVENTS)} at most.`,
      'Select less time or fewer tracks, or ask the whole profile: stepscope sql "SELECT …" FILE',
    );
  const perEvent = (of: (lane: ChosenLane) => (event: number) => number): Float64Array => {
    const column = new Float64Array(rows);
    let at = 0;
    for (const lane of lanes) {
      const value = of(lane);
      for (let i = 0; i < lane.rows.length; i++) column[at++] = value(lane.rows[i]);
    }
    return column;
  };
  const texts = (of: (lane: ChosenLane) => (event: number) => string): Texts => {
    const known = new Map<string, number>();
    const all: string[] = [];
    const ids = perEvent(lane => {
      const text = of(lane);
      return event => {
        const own = text(event);
        let id = known.get(own);
        if (id === undefined) known.set(own, (id = all.push(own) - 1));
        return id;
      };
    });
    return { ids, text: id => all[id] };
  };
  const ofLane = (text: (lane: ChosenLane) => string) =>
    texts(lane => {
      const own = text(lane);
      return () => own;
    });
  const { document, labels } = data;
  const columns: Readonly<Record<string, () => Texts | Float64Array | Int32Array>> = {
    kind: () => ofLane(({ track, events }) => sectionOf(track, events)),
    name: () => ({
      ids: perEvent(
        ({ events }) =>
          event =>
            events.label[event],
      ),
      text: labels.name,
    }),
    category: () =>
      texts(
        ({ track, events }) =>
          event =>
            palettes[track.palette][events.tone[event]]?.label ?? '',
      ),
    track: () => ofLane(({ track }) => track.label),
    place: () =>
      ofLane(({ track }) => document.groups.find(({ id }) => id === track.group)?.label ?? track.group),
    iteration: () =>
      perEvent(({ events }) => event => {
        const step = stepAt(document.steps, events.start[event]);
        return step < 0 ? Number.NaN : document.steps.iteration[step];
      }),
    startNs: () =>
      perEvent(
        ({ events }) =>
          event =>
            events.start[event],
      ),
    endNs: () =>
      perEvent(
        ({ events }) =>
          event =>
            events.end[event],
      ),
    durationNs: () =>
      perEvent(
        ({ events }) =>
          event =>
            events.end[event] - events.start[event],
      ),
    insideNs: () =>
      perEvent(
        ({ events }) =>
          event =>
            Math.max(
              0,
              Math.min(events.end[event], asked.toNs) - Math.max(events.start[event], asked.fromNs),
            ),
      ),
  };
  return { rows, column: name => columns[name]?.() };
}
