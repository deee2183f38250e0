/**
 * Where everything stands: groups and tracks from top to bottom, pinned tracks first, each lane with its place. Where
 * there are several GPUs, each is one slim row; unfolded, its tracks and its processes follow right below.
 */
import type { GroupDocument, TimelineDocument, TrackDocument } from '../../timeline/wire.js';
import type { RowHeight } from '../row-heights.js';

interface Sizes {
  readonly lane: number;
  readonly gap: number;
  readonly area: number;
  readonly padding: number;
}
const sizes: Readonly<Record<RowHeight, Sizes>> = {
  compact: { lane: 10, gap: 1, area: 22, padding: 6 },
  normal: { lane: 18, gap: 2, area: 38, padding: 5 },
  tall: { lane: 28, gap: 3, area: 64, padding: 6 },
};
/** 24 pixels, which a finger or a shaky hand can hit, and the line below. */
const FOLDED_HEIGHT = 25;
const SUMMARY_HEIGHT = 25;
const SUMMARY_LANE = 16;
const GROUP_HEIGHT = 25;
/** In place of a track: put behind all others of its group. */
export const LAST = '~';

export interface LanePlace {
  readonly id: number;
  readonly y: number;
  readonly height: number;
}

export type Row =
  | {
      readonly kind: 'group';
      readonly id: string;
      readonly label: string;
      readonly folded: boolean;
      /** Under a row that stands for a GPU. */
      readonly isInner: boolean;
      readonly y: number;
      readonly height: number;
    }
  | {
      readonly kind: 'track';
      readonly track: TrackDocument;
      readonly folded: boolean;
      readonly pinned: boolean;
      readonly y: number;
      readonly height: number;
      readonly lanes: readonly LanePlace[];
    };

export interface Layout {
  readonly rows: readonly Row[];
  readonly height: number;
  readonly laneAt: ReadonlyMap<number, LanePlace>;
}

export interface LayoutWishes {
  readonly pinned: ReadonlySet<string>;
  /** Tracks, and groups as `group:ID`, whose folding differs from what the profile proposes. */
  readonly toggled: ReadonlySet<string>;
  /** Per track the one it was put before. */
  readonly moved: ReadonlyMap<string, string>;
  readonly filter: string;
  readonly rowHeight: RowHeight;
}

export const groupKey = (id: string): string => `group:${id}`;

export function layOutTracks(document: TimelineDocument, wishes: LayoutWishes): Layout {
  const { pinned, toggled, filter } = wishes;
  const size = sizes[wishes.rowHeight];
  const rows: Row[] = [];
  const laneAt = new Map<number, LanePlace>();
  let y = 0;
  const groupLabel = new Map(document.groups.map(({ id, label }) => [id, label]));
  const wanted = filter.trim().toLowerCase();
  const fits = (track: TrackDocument) =>
    `${groupLabel.get(track.group)} ${track.label}`.toLowerCase().includes(wanted);
  const addGroup = (id: string, label: string, folded: boolean, isInner: boolean) => {
    rows.push({ kind: 'group', id, label, folded, isInner, y, height: GROUP_HEIGHT });
    y += GROUP_HEIGHT;
  };
  const addTrack = (track: TrackDocument, isPinned: boolean, isFolded?: boolean) => {
    const folded = isFolded ?? track.collapsed !== toggled.has(track.id);
    const lanes = lanesOf(track, y, folded, size);
    const last = lanes[lanes.length - 1];
    const height = track.isSummary
      ? SUMMARY_HEIGHT
      : folded
        ? FOLDED_HEIGHT
        : last.y + last.height - y + size.padding;
    for (const lane of lanes) if (!laneAt.has(lane.id)) laneAt.set(lane.id, lane);
    rows.push({ kind: 'track', track, folded, pinned: isPinned, y, height, lanes });
    y += height;
  };
  const held = inOrder(
    [...pinned].flatMap(id => document.tracks.filter(track => track.id === id)),
    wishes.moved,
  );
  if (held.length > 0) {
    addGroup('pinned', 'Pinned', false, false);
    for (const track of held) addTrack(track, true);
  }
  const byGroup = new Map<string, TrackDocument[]>();
  for (const track of document.tracks) byGroup.set(track.group, [...(byGroup.get(track.group) ?? []), track]);
  const summaries = new Map(
    document.tracks.filter(track => track.isSummary).map(track => [track.group, track]),
  );
  const shownTracks = ({ id }: GroupDocument) =>
    inOrder(
      (byGroup.get(id) ?? []).filter(track => !track.isSummary && !pinned.has(track.id) && fits(track)),
      wishes.moved,
    );
  const addMembers = (group: GroupDocument, isInner: boolean) => {
    const own = shownTracks(group);
    if (own.length === 0) return;
    // A filter looks into what is folded away.
    const begins = (group.folded === true && wanted === '') || (summaries.size > 0 && !isInner);
    const folded = toggled.has(groupKey(group.id)) !== begins;
    addGroup(group.id, group.label, folded, isInner);
    if (!folded) for (const track of own) addTrack(track, false);
  };
  for (const group of document.groups) {
    const summary = summaries.get(group.id);
    if (!summary) {
      if (!summaries.has(group.under ?? '')) addMembers(group, false);
      continue;
    }
    const inside = document.groups.filter(({ under }) => under === group.id);
    // A filter looks into what is folded away.
    const found = [group, ...inside].some(one => shownTracks(one).length > 0);
    if (wanted !== '' && !found && !fits(summary)) continue;
    const isOpen = toggled.has(groupKey(group.id)) || (wanted !== '' && found && !fits(summary));
    if (!pinned.has(summary.id)) addTrack(summary, false, !isOpen);
    if (!isOpen) continue;
    for (const track of shownTracks(group)) addTrack(track, false);
    for (const one of inside) addMembers(one, true);
  }
  return { rows, height: y, laneAt };
}

/** Tracks that were moved stand before the one they were put before. */
function inOrder(tracks: readonly TrackDocument[], moved: ReadonlyMap<string, string>): TrackDocument[] {
  const list = [...tracks];
  for (const [id, before] of moved) {
    const from = list.findIndex(track => track.id === id);
    if (from < 0 || id === before) continue;
    const to = before === LAST ? list.length : list.findIndex(track => track.id === before);
    if (to < 0) continue;
    const [track] = list.splice(from, 1);
    list.splice(to > from ? to - 1 : to, 0, track);
  }
  return list;
}

function lanesOf(track: TrackDocument, y: number, folded: boolean, size: Sizes): LanePlace[] {
  const [first] = track.lanes;
  if (track.isSummary) return [{ id: first.id, y: y + 4, height: SUMMARY_LANE }];
  // A folded track shows its first lane as a thin line: that there is something is worth knowing.
  if (folded) return [{ id: first.id, y: y + 9, height: FOLDED_HEIGHT - 19 }];
  const top = y + size.padding;
  if (track.kind === 'area') return [{ id: first.id, y: top, height: size.area }];
  return track.lanes.map(({ id }, i) => ({
    id,
    y: top + i * (size.lane + size.gap),
    height: size.lane,
  }));
}

/** The track row and lane at a height, if any. */
export function placeAt(
  layout: Layout,
  y: number,
): { row: Row & { kind: 'track' }; lane: LanePlace } | undefined {
  const row = rowAt(layout, y);
  if (row?.kind !== 'track') return undefined;
  const lane = row.lanes.find(place => y >= place.y && y < place.y + place.height);
  return lane ? { row, lane } : undefined;
}

export const rowAt = ({ rows }: Layout, y: number): Row | undefined =>
  rows.find(row => y >= row.y && y < row.y + row.height);
