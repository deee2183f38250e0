/** Where everything stands: groups and tracks from top to bottom, pinned tracks first, each lane with its place. */
import type { TimelineDocument, TrackDocument } from '../../timeline/wire.js';

const LANE_HEIGHT = 18;
const LANE_GAP = 2;
const AREA_HEIGHT = 38;
const FOLDED_HEIGHT = 24;
const TRACK_PADDING = 5;
const GROUP_HEIGHT = 24;

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

interface LayoutWishes {
  readonly pinned: ReadonlySet<string>;
  /** Tracks whose folding differs from what the profile proposes. */
  readonly toggled: ReadonlySet<string>;
  readonly filter: string;
}

export function layOutTracks(document: TimelineDocument, { pinned, toggled, filter }: LayoutWishes): Layout {
  const rows: Row[] = [];
  const laneAt = new Map<number, LanePlace>();
  let y = 0;
  const groupLabel = new Map(document.groups.map(({ id, label }) => [id, label]));
  const wanted = filter.trim().toLowerCase();
  const fits = (track: TrackDocument) =>
    `${groupLabel.get(track.group)} ${track.label}`.toLowerCase().includes(wanted);
  const addGroup = (id: string, label: string) => {
    rows.push({ kind: 'group', id, label, y, height: GROUP_HEIGHT });
    y += GROUP_HEIGHT;
  };
  const addTrack = (track: TrackDocument, isPinned: boolean) => {
    const folded = track.collapsed !== toggled.has(track.id);
    const top = y + TRACK_PADDING;
    const lanes = folded ? foldedLanes(track, y) : openLanes(track, top);
    const height = folded
      ? FOLDED_HEIGHT
      : lanes[lanes.length - 1].y + lanes[lanes.length - 1].height - y + TRACK_PADDING;
    for (const lane of lanes) if (!laneAt.has(lane.id)) laneAt.set(lane.id, lane);
    rows.push({ kind: 'track', track, folded, pinned: isPinned, y, height, lanes });
    y += height;
  };
  const held = document.tracks.filter(track => pinned.has(track.id));
  if (held.length > 0) {
    addGroup('pinned', 'Pinned');
    for (const track of held) addTrack(track, true);
  }
  for (const { id, label } of document.groups) {
    const own = document.tracks.filter(track => track.group === id && !pinned.has(track.id) && fits(track));
    if (own.length === 0) continue;
    addGroup(id, label);
    for (const track of own) addTrack(track, false);
  }
  return { rows, height: y, laneAt };
}

function openLanes(track: TrackDocument, top: number): LanePlace[] {
  if (track.kind === 'area') return [{ id: track.lanes[0].id, y: top, height: AREA_HEIGHT }];
  return track.lanes.map(({ id }, i) => ({
    id,
    y: top + i * (LANE_HEIGHT + LANE_GAP),
    height: LANE_HEIGHT,
  }));
}

/** A folded track shows its first lane as a thin line: that there is something is worth knowing. */
function foldedLanes(track: TrackDocument, y: number): LanePlace[] {
  return [{ id: track.lanes[0].id, y: y + 9, height: FOLDED_HEIGHT - 18 }];
}

/** The track row and lane at a height, if any. */
export function placeAt(
  layout: Layout,
  y: number,
): { row: Row & { kind: 'track' }; lane: LanePlace } | undefined {
  const row = layout.rows.find(candidate => y >= candidate.y && y < candidate.y + candidate.height);
  if (row?.kind !== 'track') return undefined;
  const lane = row.lanes.find(place => y >= place.y && y < place.y + place.height);
  return lane ? { row, lane } : undefined;
}
