/** Tracks as the page is told of them. */
import type { ColumnsFile } from './columns-file.js';
import type { Track } from './track.js';
import type { TrackDocument } from './wire.js';

export function trackDocuments(tracks: readonly Track[], columns: ColumnsFile): TrackDocument[] {
  let next = 0;
  return tracks.map(track => {
    const lanes = columns.lanes.slice(next, (next += track.lanes.length));
    return {
      id: track.id,
      group: track.group,
      label: track.label,
      kind: track.lanes[0].kind,
      palette: track.palette,
      lanes,
      collapsed: track.collapsed === true,
      ...(track.isSummary ? { isSummary: true as const } : {}),
      ...(track.highest === undefined ? {} : { highest: track.highest, unit: track.unit }),
      tones: tonesOf(track),
      events: track.lanes.reduce((sum, lane) => sum + lane.levels[0].length, 0),
    };
  });
}

function tonesOf({ lanes }: Track): number[] {
  const seen = new Uint8Array(256);
  for (const lane of lanes) {
    if (lane.kind !== 'slices') continue;
    const { tone } = lane.data;
    for (let i = 0; i < tone.length; i++) seen[tone[i]] = 1;
  }
  return [...seen.keys()].filter(tone => seen[tone] === 1);
}
