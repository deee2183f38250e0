/** What stands around the lanes in a saved picture: the verdict above, the axis, the names, the legend below. */
import type { TimelineDocument } from '../../timeline/wire.js';
import { type Pane, panes } from '../state.js';
import { tonesInUse } from './legend-tones.js';
import type { Frame } from './painter.js';
import { type Tick, ticksOf } from './ruler.js';

export const NAMES_WIDTH = 190;
/** Verdict and facts, then the axis. */
export const TOP = 62;
export const AXIS = 20;
const LEGEND_LINE = 18;
const LEGEND_PADDING = 8;
const LETTER = 6.3;

interface LegendEntry {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly color: string;
}

interface PictureFrame {
  readonly width: number;
  readonly height: number;
  readonly verdict: string;
  readonly facts: string;
  readonly ticks: readonly Tick[];
  readonly names: readonly {
    readonly text: string;
    readonly x: number;
    readonly y: number;
    readonly isGroup: boolean;
  }[];
  readonly legend: readonly LegendEntry[];
  /** Where the legend begins. */
  readonly bottom: number;
}

export function pictureFrame(pane: Pane, frame: Frame): PictureFrame {
  const width = frame.width + NAMES_WIDTH;
  const content = Math.min(frame.height, Math.max(40, frame.layout.height - frame.scrollTop));
  const bottom = TOP + content;
  const legend = legendOf(pane.document, width, bottom + LEGEND_PADDING);
  const last = legend[legend.length - 1]?.y ?? bottom;
  const { startNs } = pane.document.steps;
  const zero = pane.steps.value ? startNs[pane.steps.value.first] : 0;
  const toNs = frame.fromNs + frame.width * frame.nsPerPixel;
  return {
    width,
    height: last + LEGEND_LINE + LEGEND_PADDING,
    verdict: document.querySelector('.verdict h1')?.textContent?.trim() ?? '',
    facts: [...(panes.value.length > 1 ? [pane.name] : []), ...pane.document.facts].join(' · '),
    ticks: ticksOf(frame.fromNs, toNs, frame.width, zero),
    names: frame.layout.rows.flatMap(row => {
      const y = row.y - frame.scrollTop + TOP;
      if (y < TOP - 2 || y > bottom - 10) return [];
      const isGroup = row.kind === 'group';
      const text = isGroup ? row.label : row.track.label;
      return [
        { text: middleCut(text, 28), x: isGroup ? 8 : 16, y: y + Math.min(row.height, 24) / 2, isGroup },
      ];
    }),
    legend,
    bottom,
  };
}

const middleCut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most / 2)}…${text.slice(1 - most / 2)}`;

function legendOf(document: TimelineDocument, width: number, top: number): LegendEntry[] {
  const entries: LegendEntry[] = [];
  let [x, y] = [8, top];
  for (const looks of tonesInUse(document).values())
    for (const { label, color } of looks) {
      const own = 24 + label.length * LETTER;
      if (x + own > width) [x, y] = [8, y + LEGEND_LINE];
      entries.push({ x, y, label, color });
      x += own;
    }
  return entries;
}
