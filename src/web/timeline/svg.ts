/** The timeline as a drawing of lines and letters, for papers and slides: what is on screen, as deep as the screen shows it. */
import { lowerBound, upperBound } from '../../base/bisect.js';
import type { SliceTile } from '../../timeline/slice-pyramid.js';
import type { AreaTile } from '../../timeline/tiles.js';
import { hatchPatterns, svgFill } from '../idle-fill.js';
import type { Pane } from '../state.js';
import { canvasOf } from './canvas-of-pane.js';
import { FittingText } from './fitting-text.js';
import type { LanePlace, Row } from './layout.js';
import type { Frame } from './painter.js';
import { AXIS, NAMES_WIDTH, pictureFrame, TOP } from './picture-frame.js';
import type { TimelineCanvas } from './timeline-canvas.js';

const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const n = (value: number) => String(Math.round(value * 100) / 100);

export function timelineSvg(pane: Pane): string {
  const timeline = canvasOf(pane);
  if (!timeline) throw new Error('The timeline is not on screen.');
  timeline.draw();
  const frame = timeline.frame();
  const around = pictureFrame(pane, frame);
  const style = getComputedStyle(timeline.canvas);
  const [paper, line] = ['--page', '--line'].map(name => style.getPropertyValue(name).trim());
  const { text, muted } = frame.look;
  const pieces: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(around.width)} ${n(around.height)}" width="${n(around.width)}" height="${n(around.height)}" font-family="system-ui, sans-serif" font-size="11">`,
    `<title>${escapeText(around.verdict)}</title>`,
    hatchPatterns(pane.document.palettes.cause.map(({ color }) => color)),
    `<rect width="100%" height="100%" fill="${paper}"/>`,
    `<text x="8" y="18" font-size="${around.verdictSize}" font-weight="600" fill="${text}">${escapeText(around.verdict)}</text>`,
    `<text x="8" y="35" fill="${muted}">${escapeText(around.facts)}</text>`,
    `<clipPath id="lanes"><rect x="${NAMES_WIDTH}" y="${TOP}" width="${n(frame.width)}" height="${n(around.bottom - TOP)}"/></clipPath>`,
    '<g clip-path="url(#lanes)">',
  ];
  const fitting = fittingText();
  for (const row of frame.layout.rows) {
    const y = row.y - frame.scrollTop + TOP;
    if (y + row.height < TOP || y > around.bottom) continue;
    pieces.push(`<path d="M0 ${n(y + row.height)}H${n(around.width)}" stroke="${line}"/>`);
    if (row.kind === 'track')
      for (const place of row.lanes) pieces.push(...lane(timeline, pane, frame, row, place, fitting));
  }
  pieces.push('</g>');
  for (const { ns, label } of around.ticks) {
    const x = NAMES_WIDTH + (ns - frame.fromNs) / frame.nsPerPixel;
    pieces.push(
      `<path d="M${n(x)} ${TOP - AXIS}V${n(around.bottom)}" stroke="${muted}" stroke-opacity=".25"/>`,
      `<text x="${n(x + 4)}" y="${TOP - 6}" fill="${muted}">${label}</text>`,
    );
  }
  for (const { text: name, x, y, isGroup } of around.names)
    pieces.push(
      `<text x="${x}" y="${n(y + 4)}" fill="${text}"${isGroup ? ' font-weight="600"' : ''}>${escapeText(name)}</text>`,
    );
  for (const { x, y, label, color } of around.legend)
    pieces.push(
      `<rect x="${n(x)}" y="${n(y + 3)}" width="9" height="9" rx="2" fill="${svgFill(color)}"/>`,
      `<text x="${n(x + 13)}" y="${n(y + 12)}" fill="${text}">${escapeText(label)}</text>`,
    );
  pieces.push('</svg>\n');
  return pieces.join('\n');
}

function fittingText(): FittingText {
  const pen = document.createElement('canvas').getContext('2d')!;
  pen.font = '11px system-ui, sans-serif';
  return new FittingText(text => pen.measureText(text).width);
}

function* lane(
  timeline: TimelineCanvas,
  { document: { palettes } }: Pane,
  frame: Frame,
  { track, folded }: Row & { kind: 'track' },
  place: LanePlace,
  fitting: FittingText,
): Iterable<string> {
  const { fromNs, nsPerPixel, width, look } = frame;
  const toNs = fromNs + width * nsPerPixel;
  const x = (ns: number) => NAMES_WIDTH + Math.max(-2, Math.min(width + 2, (ns - fromNs) / nsPerPixel));
  const y = place.y - frame.scrollTop + TOP;
  const entries = timeline.tiles.entries(place.id, fromNs, toNs, nsPerPixel);
  if (track.kind === 'area') {
    yield area(entries as readonly AreaTile[], track.highest ?? 1, x, y, place.height);
    return;
  }
  for (const { start, end, tone, fill, label } of entries as readonly SliceTile[]) {
    const last = lowerBound(start, toNs);
    for (let i = upperBound(end, fromNs); i < last; i++) {
      const [left, right] = [x(start[i]), x(end[i])];
      const wide = Math.max(0.4, right - left - (right - left > 3 ? 0.6 : 0));
      const color = palettes[track.palette][tone[i]]?.color ?? '#808080';
      // Host events that explain idle time have its colour, and are not idle time themselves.
      const paint = track.palette === 'cause' ? svgFill(color) : color;
      const shade = fill[i] < 1 ? ` fill-opacity="${n(0.3 + 0.7 * fill[i])}"` : '';
      yield `<rect x="${n(left)}" y="${n(y)}" width="${n(wide)}" height="${place.height}" fill="${paint}"${shade}/>`;
      if (folded || wide < 26 || label[i] < 0 || place.height < 13) continue;
      const shown = fitting.shortened(timeline.labels.text(label[i]) ?? '', wide - 8);
      if (shown)
        yield `<text x="${n(left + 4)}" y="${n(y + place.height / 2 + 4)}" fill="${look.inkOn[track.palette][tone[i]] ?? look.text}">${escapeText(shown)}</text>`;
    }
  }
}

/** A stair from value to value, filled down to the bottom. */
function area(
  tiles: readonly AreaTile[],
  highest: number,
  x: (ns: number) => number,
  y: number,
  height: number,
): string {
  let path = '';
  for (const { start, mean, length } of tiles)
    for (let i = 0; i < length; i++) {
      const level = y + height - Math.min(height, (mean[i] / highest) * height);
      path +=
        path === '' ? `M${n(x(start[i]))} ${n(y + height)}V${n(level)}` : `H${n(x(start[i]))}V${n(level)}`;
    }
  return path === '' ? '' : `<path d="${path}V${n(y + height)}Z" fill="#2f7fb8" fill-opacity=".75"/>`;
}
