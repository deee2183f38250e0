/** What a view needs where there is no server: the timeline of its stretch, and the panels of its steps. */
import { type CutTimeline, cutTimeline } from './snapshot.js';
import { packDetails } from './snapshot-details.js';
import type { Snapshot, SnapshotAsked } from './snapshot-document.js';
import type { StepSpan } from './spans.js';
import type { TimelineData } from './timeline-data.js';
import type { ViewedProfile } from './viewed-profile.js';
import type { EventDocument, PanelDocument, RanksDocument } from './wire.js';

/** Steps of which the answer and the budget are included one by one. */
const MOST_STEPS = 24;
const ofEachStep = ['findings', 'step-budget'];
/** Rows of a table nobody scrolls to in a page that was sent. */
const MOST_ROWS = 400;

export function makeSnapshot(
  view: ViewedProfile,
  data: TimelineData,
  asked: SnapshotAsked,
  knownOf: (lane: number, index: number) => Pick<EventDocument, 'facts' | 'links' | 'moreLinks'>,
): { snapshot: Snapshot; columns: Uint8Array } {
  const [fromNs, toNs] = withSteps(data, asked);
  const cut = cutTimeline(data, fromNs, toNs);
  const answers: Record<string, unknown> = {};
  const base = '/api/profiles/1';
  const add = (steps: StepSpan | undefined, panels: readonly string[]) => {
    const shifted = steps && shiftedSteps(steps, cut);
    if (steps && !shifted) return;
    const part = shifted ? `?steps=${shifted.first}-${shifted.last}` : '';
    answers[`${base}/answer${part}`] ??= view.answer(steps);
    for (const id of panels) answers[`${base}/panels/${id}${part}`] ??= shortened(view.panel(id, steps));
  };
  const all = data.document.panels.map(({ id }) => id);
  add(asked.steps, all);
  add(undefined, asked.steps ? ofEachStep : all);
  const flame = asked.steps && shiftedSteps(asked.steps, cut);
  answers[`${base}/flame${flame ? `?steps=${flame.first}-${flame.last}` : ''}`] = view.flame(asked.steps);
  if (cut.steps)
    for (let i = cut.steps.first; i <= Math.min(cut.steps.last, cut.steps.first + MOST_STEPS - 1); i++)
      add({ first: i, last: i }, ofEachStep);
  const hasRanks = cut.tracks.some(track => track.isSummary);
  if (hasRanks) answers[`${base}/ranks`] = cutRanks(view.ranks(), cut);
  const { document, tracks, labels } = cut;
  const event = asked.event && keptEvent(view, asked.event, cut);
  return {
    columns: cut.columns,
    snapshot: {
      name: view.name,
      document,
      tracks,
      labels,
      answers,
      events: event ? [event] : [],
      details: packDetails(cut, knownOf, at => keptIndex(at, cut)),
      waits: hasRanks ? view.waits(fromNs, toNs) : [],
      notes: asked.notes
        .filter(note => note.toNs >= fromNs && note.fromNs <= toNs)
        .map(({ event: _, ...note }) => note),
      at: shiftedAddress(asked, cut, view.name),
      about: aboutOf(data, cut),
    },
  };
}

/** Whole steps: those that were chosen, and those in view. */
function withSteps({ document: { steps } }: TimelineData, asked: SnapshotAsked): [number, number] {
  let [fromNs, toNs] = [asked.fromNs, asked.toNs];
  for (let i = 0; i < steps.length; i++) {
    const isChosen = asked.steps && i >= asked.steps.first && i <= asked.steps.last;
    const middle = (steps.startNs[i] + steps.endNs[i]) / 2;
    if (!isChosen && !(middle >= asked.fromNs && middle <= asked.toNs)) continue;
    fromNs = Math.min(fromNs, steps.startNs[i]);
    toNs = Math.max(toNs, steps.endNs[i]);
  }
  return [fromNs, toNs];
}

/** Steps and events have other numbers in a part than in the whole. */
function shiftedAddress({ at, steps, event }: SnapshotAsked, cut: CutTimeline, name: string): string {
  const parts = new URLSearchParams(at.replace(/^#/, ''));
  parts.set('file', `1:${name}`);
  for (const gone of ['with', 'steps', 'event']) parts.delete(gone);
  const own = steps && shiftedSteps(steps, cut);
  if (own) parts.set('steps', `${own.first}-${own.last}`);
  const index = event && keptIndex(event, cut);
  if (event && index !== undefined) parts.set('event', `0.${event.lane}.${index}`);
  else if (parts.get('panel') === 'event') parts.delete('panel');
  return parts.toString();
}

function shiftedSteps({ first, last }: StepSpan, { steps }: CutTimeline): StepSpan | undefined {
  if (!steps || first < steps.first || last > steps.last) return undefined;
  return { first: first - steps.first, last: last - steps.first };
}

interface EventPlace {
  readonly lane: number;
  readonly index: number;
}

/** The number of an event among those of its lane that are kept; undefined where it is not. */
function keptIndex({ lane, index }: EventPlace, { skipped, tracks }: CutTimeline): number | undefined {
  const first = skipped.get(lane);
  const length = tracks.flatMap(({ lanes }) => lanes).find(({ id }) => id === lane)?.length ?? 0;
  return first !== undefined && index >= first && index < first + length ? index - first : undefined;
}

/** The selected event with all that is known of it; what it is tied to, where that is here too. */
function keptEvent(
  view: ViewedProfile,
  at: { readonly lane: number; readonly index: number },
  cut: CutTimeline,
) {
  const place = (one: EventPlace) => keptIndex(one, cut);
  const index = place(at);
  if (index === undefined) return undefined;
  const details = view.event(at.lane, at.index);
  const links = details.links.flatMap(link => {
    const own = place(link);
    return own === undefined ? [] : [{ ...link, index: own }];
  });
  return { ...details, index, links, moreLinks: details.moreLinks + details.links.length - links.length };
}

/** Only the columns of the steps that are here. */
function cutRanks(ranks: RanksDocument, { steps }: CutTimeline): RanksDocument {
  if (!steps) return { ...ranks, bySteps: [] };
  const columns = steps.last - steps.first + 1;
  return {
    ...ranks,
    bySteps: ranks.bySteps.map(heat => ({
      ...heat,
      columns,
      values: ranks.ranks.flatMap((_, rank) => {
        const from = rank * heat.columns + steps.first;
        return heat.values.slice(from, from + columns);
      }),
    })),
  };
}

function shortened({ blocks }: PanelDocument): PanelDocument {
  return {
    blocks: blocks.map(block => {
      if (block.kind !== 'table' || block.rows <= MOST_ROWS) return block;
      return {
        ...block,
        rows: MOST_ROWS,
        columns: block.columns.map(column => ({
          ...column,
          values: Array.from(column.values as ArrayLike<never>).slice(0, MOST_ROWS),
        })),
        ...(block.places ? { places: block.places.slice(0, MOST_ROWS) } : {}),
        ...(block.spreads
          ? { spreads: block.spreads.map(one => ({ ...one, bars: one.bars.slice(0, MOST_ROWS) })) }
          : {}),
        advice: `${block.advice ?? ''} The first ${MOST_ROWS} of ${block.rows} rows.`.trim(),
      };
    }),
  };
}

/** `steps 12–16 of 21` */
function aboutOf({ document: { steps } }: TimelineData, { steps: kept }: CutTimeline): string {
  if (!kept) return 'part of a profile';
  const [first, last] = [steps.iteration[kept.first], steps.iteration[kept.last]];
  return `${first === last ? `step ${first}` : `steps ${first}–${last}`} of ${steps.length} recorded`;
}
