/** Where boxes are, which is next to which, and what a search finds. Without a page, so that it can be tested. */
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import type { FlameNode, Sandwich } from './flame-tree.js';

export interface FlameBox {
  readonly node: FlameNode;
  readonly x: number;
  readonly width: number;
  /** 0 is the root; callers in a sandwich are above it, at negative rows. */
  readonly row: number;
}

/** Narrower boxes are not drawn: thousands of them share a pixel. */
const LEAST_WIDTH = 1;

/** The zoomed node and its callers over the whole width, what it calls in proportion. */
export function treeBoxes(zoomed: FlameNode, width: number): FlameBox[] {
  const above = callersOf(zoomed);
  const boxes: FlameBox[] = above.map((node, row) => ({ node, x: 0, width, row }));
  addBoxes(boxes, zoomed, 0, width, above.length, 1);
  return boxes;
}

export function sandwichBoxes({ callers, callees }: Sandwich, width: number): FlameBox[] {
  const boxes: FlameBox[] = [];
  addBoxes(boxes, callees, 0, width, 0, 1);
  const above: FlameBox[] = [];
  addBoxes(above, callers, 0, width, 0, -1);
  return [...boxes, ...above.slice(1)];
}

function addBoxes(
  boxes: FlameBox[],
  node: FlameNode,
  x: number,
  width: number,
  row: number,
  step: number,
): void {
  boxes.push({ node, x, width, row });
  let at = x;
  for (const child of node.children) {
    const own = (child.totalNs / node.totalNs) * width;
    // Children are sorted: the others are narrower still.
    if (own < LEAST_WIDTH) break;
    addBoxes(boxes, child, at, own, row + step, step);
    at += own;
  }
}

/** From the root down, without the node itself. */
export function callersOf(node: FlameNode): FlameNode[] {
  const above: FlameNode[] = [];
  for (let at = node.parent; at; at = at.parent) above.unshift(at);
  return above;
}

export const boxAt = (boxes: readonly FlameBox[], x: number, row: number): FlameBox | undefined =>
  boxes.find(box => box.row === row && x >= box.x && x < box.x + box.width);

export type Direction = 'up' | 'down' | 'left' | 'right';

/** The box that an arrow key leads to. */
export function nextBox(
  boxes: readonly FlameBox[],
  from: FlameBox,
  direction: Direction,
): FlameBox | undefined {
  if (direction === 'up' || direction === 'down') {
    const row = from.row + (direction === 'down' ? 1 : -1);
    // Above or below a wide box there may be many: the first is the largest.
    const overlapping = boxes.filter(
      box => box.row === row && box.x < from.x + from.width && box.x + box.width > from.x,
    );
    return overlapping.find(({ node }) => node === from.node.parent) ?? overlapping[0];
  }
  const inRow = boxes.filter(({ row }) => row === from.row).sort((a, b) => a.x - b.x);
  return inRow[inRow.indexOf(from) + (direction === 'right' ? 1 : -1)];
}

/** Names that hold the text, or whose file or package does. null: nothing is searched for. */
export function matchingNames({ names, groups }: FlameDocument, query: string): ReadonlySet<number> | null {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return null;
  const found = new Set<number>();
  names.forEach(({ text, file, group }, i) => {
    if ([text, file ?? '', groups[group].label].some(own => own.toLowerCase().includes(wanted))) found.add(i);
  });
  return found;
}

/** Time in matching functions and what they call; inside a match nothing counts again. */
export function matchedNs(node: FlameNode, names: ReadonlySet<number>): number {
  if (names.has(node.name)) return node.totalNs;
  return node.children.reduce((sum, child) => sum + matchedNs(child, names), 0);
}

/** The start of a text that fits; empty where not even two letters do. */
export function fittingText(text: string, room: number, widthOf: (text: string) => number): string {
  const width = widthOf(text);
  if (width <= room) return text;
  for (let letters = Math.floor((room / width) * text.length); letters >= 2; letters--) {
    const shown = `${text.slice(0, letters).trimEnd()}…`;
    if (widthOf(shown) <= room) return shown;
  }
  return '';
}
