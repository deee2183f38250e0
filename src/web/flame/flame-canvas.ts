/** Paints boxes: colors of their groups, names shortened to the width, everything else dimmed while searching. */
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import { printable } from '../../base/printable.js';
import { inkOn } from '../timeline/look.js';
import { mix, parseColor, type Rgb } from '../timeline/raster.js';
import { type FlameBox, fittingText } from './flame-layout.js';

export const ROW_HEIGHT = 20;
const FONT_SIZE = 12;
/** Left and right of a name. */
const PADDING = 5;
const LEAST_LABELLED = 22;
/** What is not found, and the callers above a zoomed function. */
const DIMMED = 0.18;
const FADED = 0.5;

interface Painting {
  readonly boxes: readonly FlameBox[];
  /** Of the uppermost row. */
  readonly firstRow: number;
  readonly rows: number;
  readonly width: number;
  /** Names found by a search; null: none is under way. */
  readonly found: ReadonlySet<number> | null;
  isFaded(box: FlameBox): boolean;
  /** The function a sandwich is about. */
  readonly pivot: FlameBox | undefined;
  readonly active: FlameBox | undefined;
}

const ROOT_LABEL = 'all host code';

export class FlameCanvas {
  private readonly pen: CanvasRenderingContext2D;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly flame: FlameDocument,
  ) {
    this.pen = canvas.getContext('2d')!;
  }

  nameOf(name: number): string {
    return name < 0 ? ROOT_LABEL : printable(this.flame.names[name].text);
  }

  paint(painting: Painting): void {
    const { canvas, pen } = this;
    const { boxes, firstRow, rows, width, pivot, active } = painting;
    const style = getComputedStyle(canvas);
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(rows * ROW_HEIGHT * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${rows * ROW_HEIGHT}px`;
    pen.scale(ratio, ratio);
    pen.font = `${FONT_SIZE}px ${style.fontFamily}`;
    pen.textBaseline = 'middle';
    const paper = parseColor(style.getPropertyValue('--page').trim());
    const neutral = parseColor(style.getPropertyValue('--line').trim());
    const colors = this.flame.groups.map(({ color }) => parseColor(color));
    for (const box of boxes) {
      const { name } = box.node;
      const color = name < 0 ? neutral : colors[this.flame.names[name].group];
      const isDimmed = painting.found !== null && !painting.found.has(name);
      const part = isDimmed ? DIMMED : painting.isFaded(box) ? FADED : 1;
      this.box(box, (box.row - firstRow) * ROW_HEIGHT, mix(paper, color, part));
    }
    const accent = style.getPropertyValue('--text').trim();
    for (const box of [pivot, active]) if (box) this.outline(box, firstRow, accent);
  }

  private box({ node, x, width }: FlameBox, y: number, color: Rgb): void {
    const { pen } = this;
    const shown = width > 3 ? width - 1 : width;
    pen.fillStyle = `rgb(${color.map(Math.round).join(' ')})`;
    pen.fillRect(x, y, shown, ROW_HEIGHT - 1);
    if (width < LEAST_LABELLED) return;
    const text = this.nameOf(node.name);
    const label = fittingText(text, width - 2 * PADDING, part => pen.measureText(part).width);
    if (label === '') return;
    pen.fillStyle = inkOn(color);
    pen.fillText(label, x + PADDING, y + ROW_HEIGHT / 2);
  }

  private outline({ x, width, row }: FlameBox, firstRow: number, color: string): void {
    this.pen.strokeStyle = color;
    this.pen.lineWidth = 2;
    const y = (row - firstRow) * ROW_HEIGHT;
    this.pen.strokeRect(x + 1, y + 1, Math.max(1, width - 3), ROW_HEIGHT - 3);
  }
}
