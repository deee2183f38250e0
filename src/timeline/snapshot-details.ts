/**
 * What is known of each event of a snapshot, packed: facts are numbered, since thousands of events share theirs, and
 * links are numbers of events that are in the snapshot too. Times, name and company follow from the columns.
 */
import type { CutTimeline } from './snapshot.js';
import type { SnapshotDetails } from './snapshot-document.js';
import type { EventDocument, EventLink } from './wire.js';

type Known = Pick<EventDocument, 'facts' | 'links' | 'moreLinks'>;

const relations: readonly EventLink['relation'][] = ['launched-by', 'launches'];
/** Beyond these a file would grow by more than most mail takes: other events have name, times and company. */
const MOST_DETAILED = 20_000;
/** Said by the columns. */
const isTime = (label: string) => label === 'duration' || label === 'start';

export function packDetails(
  cut: CutTimeline,
  knownOf: (lane: number, index: number) => Known,
  keptIndex: (at: { readonly lane: number; readonly index: number }) => number | undefined,
): SnapshotDetails {
  const facts: [string, string][] = [];
  const numbers = new Map<string, number>();
  const numberOf = (label: string, text: string) => {
    const key = `${label}\n${text}`;
    const known = numbers.get(key) ?? facts.push([label, text]) - 1;
    numbers.set(key, known);
    return known;
  };
  const lanes: Record<number, number[][]> = {};
  const links: Record<number, Record<number, number[]>> = {};
  let room = MOST_DETAILED;
  for (const { id, source, length } of cut.tracks.flatMap(track => track.lanes)) {
    if (source === undefined) continue;
    const first = cut.skipped.get(id) ?? 0;
    const count = Math.min(length, room);
    room -= count;
    lanes[id] = Array.from({ length: count }, (_, i) => {
      const known = knownOf(id, first + i);
      const ties = known.links.flatMap(link => {
        const index = keptIndex(link);
        return index === undefined ? [] : [relations.indexOf(link.relation), link.lane, index];
      });
      const more = known.moreLinks + known.links.length - ties.length / 3;
      if (ties.length + more > 0) (links[id] ??= {})[i] = [more, ...ties];
      return known.facts.flatMap(({ label, text }) => (isTime(label) ? [] : [numberOf(label, text)]));
    });
  }
  return { facts, lanes, links };
}

/** Facts without times, and places of what it is tied to; nothing where an event was beyond the limit. */
export function unpackDetails({ facts, lanes, links }: SnapshotDetails, lane: number, index: number) {
  const own = lanes[lane]?.[index];
  if (!own) return undefined;
  const [moreLinks, ...ties] = links[lane]?.[index] ?? [0];
  return {
    facts: own.map(number => ({ label: facts[number][0], text: facts[number][1] })),
    links: Array.from({ length: ties.length / 3 }, (_, i) => ({
      relation: relations[ties[3 * i]],
      lane: ties[3 * i + 1],
      index: ties[3 * i + 2],
    })),
    moreLinks,
  };
}
