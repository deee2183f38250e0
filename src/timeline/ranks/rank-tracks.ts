/**
 * One row per GPU where there are several: what it does with its time, each moment once. Compute hides communication;
 * what is left of that is waiting for the last rank, or transfer.
 *
 *   rank 0   ███▒▒▒▓▓███        █ compute  ▒ waiting  ▓ exposed communication
 *   rank 1   ██████▓▓███
 */
import type { Analyzer } from '../../analyze/analysis.js';
import { rankMatching } from '../../analyze/comm/collective-waits.js';
import { deviceTimelines } from '../../analyze/gpu/device-timeline.js';
import { type Intervals, intersect, NO_INTERVALS, subtract } from '../../base/intervals.js';
import { type EventLabels, LaneBuilder } from '../labels.js';
import { makeLane } from '../make-lanes.js';
import { palettes, toneOf } from '../palettes.js';
import type { Track } from '../track.js';
import { rankLabels } from './rank-labels.js';

/** Per device what its time is made of, none overlapping another; in the order of the palette. */
export function rankParts(analyzer: Analyzer): Map<number, readonly (readonly [string, Intervals])[]> {
  const waits = analyzer.get(rankMatching).waits;
  return new Map(
    analyzer.get(deviceTimelines).map(({ device, compute, communicationExposed, copiesExposed }) => {
      const waiting = intersect(communicationExposed, waits?.waiting.get(device) ?? NO_INTERVALS);
      return [
        device,
        [
          ['compute', compute],
          ['communication', subtract(communicationExposed, waiting)],
          ['waiting', waiting],
          ['copy', copiesExposed],
        ],
      ] as const;
    }),
  );
}

export function rankTracks(analyzer: Analyzer, labels: EventLabels): Track[] {
  if (analyzer.get(deviceTimelines).length < 2) return [];
  const parts = rankParts(analyzer);
  const names = rankLabels(analyzer.profile);
  return [...parts].map(([device, own]): Track => {
    const group = `gpu:${device}`;
    const lane = makeLane({ source: 'ranks', ...laneOf(own, labels) });
    return {
      id: `${group}/rank`,
      group,
      label: names.get(device) ?? `GPU ${device}`,
      palette: 'rank',
      lanes: [lane],
      isSummary: true,
    };
  });
}

function laneOf(parts: readonly (readonly [string, Intervals])[], labels: EventLabels) {
  const looks = parts.map(([id]) => {
    const tone = toneOf('rank', id);
    return { tone, label: labels.of(palettes.rank[tone].label) };
  });
  const at = parts.map(() => 0);
  const lane = new LaneBuilder();
  for (;;) {
    let next = -1;
    for (let i = 0; i < parts.length; i++) {
      const { start, length } = parts[i][1];
      if (at[i] >= length) continue;
      if (next < 0 || start[at[i]] < parts[next][1].start[at[next]]) next = i;
    }
    if (next < 0) return lane.finish();
    const { start, end } = parts[next][1];
    lane.add(start[at[next]], end[at[next]], looks[next].label, looks[next].tone, lane.length);
    at[next]++;
  }
}
