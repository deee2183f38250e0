/** The events of a stretch of time as CSV, track by track. */
import { lowerBound } from '../base/bisect.js';
import { csvCell } from '../base/csv-cell.js';
import type { TimeWindow } from '../model/slice.js';
import { palettes } from './palettes.js';
import type { TimelineData } from './timeline-data.js';

const LINES_PER_PIECE = 1000;

export function* csvOf(
  { document, labels, lanes }: TimelineData,
  { fromNs, toNs }: TimeWindow,
): Iterable<string> {
  let lines = ['group,track,start_ns,duration_ns,kind,label,name'];
  for (const { track, lane } of lanes) {
    if (lane.kind !== 'slices') continue;
    const group = document.groups.find(({ id }) => id === track.group)?.label ?? '';
    const place = `${csvCell(group)},${csvCell(track.label)}`;
    const { start, end, label, tone, length } = lane.data;
    for (let i = lowerBound(end, fromNs); i < length && start[i] < toNs; i++) {
      const kind = palettes[track.palette][tone[i]]?.id ?? '';
      const names = `${csvCell(labels.text(label[i]))},${csvCell(labels.name(label[i]))}`;
      lines.push(`${place},${start[i]},${end[i] - start[i]},${kind},${names}`);
      if (lines.length >= LINES_PER_PIECE) {
        yield `${lines.join('\n')}\n`;
        lines = [];
      }
    }
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`;
}
