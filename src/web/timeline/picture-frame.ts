/** What stands around the lanes in a saved picture: the verdict above, the axis, the names, the legend below. */
import type { TimelineDocument } from '../../timeline/wire.js';
import { type Pane, panes } from '../state.js';
import { spokenSpan } from '../strip/step-words.js';
import { FittingText } from './fitting-text.js';
import { tonesInUse } from './legend-tones.js';
import type { Frame } from './painter.js';
import { type Tick, ticksOf } from './ruler.js';

export const NAMES_WIDTH = 190;
/** Verdict and facts, then the axis. */
export const TOP = 62;
export const AXIS = 20;
const LEGEND_LINE = 18;
const LEGEND_PADDING = 8;
const FAMILY = 'system-ui, sans-serif';
const LARGEST = 14;

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
  /** Of its letters: smaller where it is long. */
  readonly verdictSize: number;
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
  const pen = document.createElement('canvas').getContext('2d')!;
  pen.font = `11px ${FAMILY}`;
  const fitting = new FittingText(text => pen.measureText(text).width);
  const content = Math.min(frame.height, Math.max(40, frame.layout.height - frame.scrollTop));
  const bottom = TOP + content;
  const legend = legendOf(pane.document, width, bottom + LEGEND_PADDING, fitting);
  const last = legend[legend.length - 1]?.y ?? bottom;
  const { startNs } = pane.document.steps;
  const verdict = document.querySelector('.verdict h1')?.textContent?.trim() ?? '';
  const zero = pane.steps.value ? startNs[pane.steps.value.first] : 0;
  const toNs = frame.fromNs + frame.width * frame.nsPerPixel;
  return {
    width,
    height: last + LEGEND_LINE + LEGEND_PADDING,
    verdict,
    verdictSize: fittingSize(verdict, width - 16),
    facts: fitting.shortened(factsOf(pane), width - 16),
    ticks: ticksOf(frame.fromNs, toNs, frame.width, zero),
    names: frame.layout.rows.flatMap(row => {
      const y = row.y - frame.scrollTop + TOP;
      if (y < TOP - 2 || y > bottom - 10) return [];
      const isGroup = row.kind === 'group';
      const text = isGroup ? row.label : row.track.label;
      return [
        {
          text: fitting.shortened(text, NAMES_WIDTH - 26),
          x: isGroup ? 8 : 16,
          y: y + Math.min(row.height, 24) / 2,
          isGroup,
        },
      ];
    }),
    legend,
    bottom,
  };
}

function fittingSize(text: string, room: number): number {
  const pen = document.createElement('canvas').getContext('2d')!;
  pen.font = `600 ${LARGEST}px ${FAMILY}`;
  return Math.min(LARGEST, Math.floor((10 * LARGEST * room) / pen.measureText(text).width) / 10);
}

/** The file, which part of it, and how it was recorded. */
function factsOf({ name, document: own, steps }: Pane): string {
  const [file, ...facts] = own.facts;
  const part = steps.value ? [spokenSpan(own, steps.value)] : [];
  return [panes.value.length > 1 ? name : file, ...part, ...facts].join(' · ');
}

function legendOf(
  document: TimelineDocument,
  width: number,
  top: number,
  fitting: FittingText,
): LegendEntry[] {
  const entries: LegendEntry[] = [];
  let [x, y] = [8, top];
  for (const looks of tonesInUse(document).values())
    for (const { label, color } of looks) {
      const own = 26 + fitting.width(label);
      if (x + own > width) [x, y] = [8, y + LEGEND_LINE];
      entries.push({ x, y, label, color });
      x += own;
    }
  return entries;
}
