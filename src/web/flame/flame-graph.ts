/**
 * The flame graph of the host: controls, canvas and words. Plain elements, because it stands in the page of `view` and
 * alone in a report.
 */
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import type { HostWeight } from '../../analyze/host-code/host-profile.js';
import { printable } from '../../base/printable.js';
import { choice, element } from './element.js';
import { FlameCanvas, ROW_HEIGHT } from './flame-canvas.js';
import {
  boxAt,
  callersOf,
  type Direction,
  type FlameBox,
  matchedNs,
  matchingNames,
  nextBox,
  sandwichBoxes,
  treeBoxes,
} from './flame-layout.js';
import { FlameTip } from './flame-tip.js';
import {
  callersTree,
  type FlameNode,
  type NameTimes,
  nodeAlong,
  type Sandwich,
  sandwichOf,
  timesByName,
  topDownTree,
} from './flame-tree.js';
import { boxLines, meanTime, type Told, timeAndShare, weightName } from './flame-words.js';

type View = 'top-down' | 'inverted' | 'sandwich';

/** What Escape goes back to: names, so that it survives another weight. */
interface Place {
  readonly view: View;
  readonly way: readonly number[];
  readonly pivot: number;
}

const arrows: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

const abouts: Readonly<Record<View, string>> = {
  'top-down': 'Callers on top, what they call below.',
  inverted: 'What takes the time on top, its callers below.',
  sandwich: 'Callers above the framed function, what it calls below.',
};

/** Names of a path that are shown; the outer ones say least. */
const SHOWN_PATH = 5;

export class FlameGraph {
  readonly root = element('div', { class: 'flame' });
  private readonly canvas = element('canvas', {
    tabindex: '0',
    role: 'application',
    'aria-roledescription': 'flame graph',
    'data-own-keys': '',
  });
  private readonly said = element('p', { class: 'flame-said', role: 'status' });
  private readonly spoken = element('p', { class: 'unseen', 'aria-live': 'polite' });
  private readonly path = element('ol', { class: 'flame-path', 'aria-label': 'Zoomed to' });
  private readonly hint = element('p', { class: 'flame-hint' });
  private readonly place = element('div', { class: 'flame-place' }, this.canvas);
  private readonly search = element('input', {
    type: 'search',
    placeholder: 'Search functions',
    'aria-label': 'Search functions',
  });
  private readonly views = choice<View>(
    'Direction',
    [
      ['top-down', 'Top-down'],
      ['inverted', 'Inverted'],
      ['sandwich', 'Sandwich'],
    ],
    view => this.go({ ...this.here(), view, way: [], pivot: this.chosenName() }),
  );
  private readonly weights = choice<HostWeight>(
    'Weight',
    [
      ['idle', 'GPU idle'],
      ['time', 'Host time'],
    ],
    weight => this.weigh(weight),
  );
  private readonly painter: FlameCanvas;
  private readonly tip: FlameTip;

  private weight: HostWeight;
  private at: Place = { view: 'top-down', way: [], pivot: -1 };
  private readonly before: Place[] = [];
  private topDown!: FlameNode;
  private tree!: FlameNode;
  private times!: ReadonlyMap<number, NameTimes>;
  private zoomed!: FlameNode;
  private sandwich: Sandwich | undefined;
  private boxes: readonly FlameBox[] = [];
  private firstRow = 0;
  private active: FlameBox | undefined;
  private width = 0;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly flame: FlameDocument,
    start: { readonly view?: View; readonly weight?: HostWeight; readonly query?: string } = {},
  ) {
    const hasIdle = topDownTree(flame, 'idle').totalNs > 0;
    this.weight = start.weight ?? (hasIdle ? 'idle' : 'time');
    this.at = { ...this.at, view: start.view ?? 'top-down' };
    this.search.value = start.query ?? '';
    this.painter = new FlameCanvas(this.canvas, flame);
    this.tip = new FlameTip(this.place);
    const controls = element(
      'div',
      { class: 'flame-controls' },
      this.views.group,
      this.weights.group,
      this.search,
    );
    const legend = flame.groups.map(({ label, color }) => {
      const swatch = element('span', { class: 'flame-swatch', 'aria-hidden': 'true' });
      swatch.style.background = color;
      return element('li', {}, swatch, printable(label));
    });
    this.root.append(
      controls,
      this.said,
      this.path,
      this.place,
      element('ul', { class: 'flame-legend', 'aria-label': 'Colors' }, ...legend),
      this.hint,
      this.spoken,
    );
    this.listen();
    this.build();
  }

  /** What another graph in its place starts with. */
  get settings() {
    return { view: this.at.view, weight: this.weight, query: this.search.value };
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }

  private listen(): void {
    this.search.addEventListener('input', () => this.paint());
    this.search.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || this.search.value === '') return;
      event.preventDefault();
      this.search.value = '';
      this.paint();
    });
    this.canvas.addEventListener('pointermove', event => this.point(this.boxUnder(event), event));
    this.canvas.addEventListener('pointerleave', () => this.point(undefined));
    this.canvas.addEventListener('click', event => {
      const box = this.boxUnder(event);
      if (box) this.enter(box.node);
    });
    this.canvas.addEventListener('keydown', event => this.press(event));
    this.canvas.addEventListener('blur', () => this.point(undefined));
    const resized = new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width) this.paint();
    });
    resized.observe(this.place);
    const themed = new MutationObserver(() => this.paint());
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    this.stops.push(
      () => resized.disconnect(),
      () => themed.disconnect(),
    );
    for (const query of ['(prefers-color-scheme: dark)', 'print']) {
      const media = window.matchMedia(query);
      const repaint = () => this.paint();
      media.addEventListener('change', repaint);
      this.stops.push(() => media.removeEventListener('change', repaint));
    }
  }

  private here = (): Place => this.at;

  private go(place: Place): void {
    this.before.push(this.at);
    this.at = place;
    this.build();
  }

  private back(): boolean {
    const place = this.before.pop();
    if (!place) return false;
    this.at = place;
    this.build();
    return true;
  }

  private weigh(weight: HostWeight): void {
    this.weight = weight;
    this.build();
  }

  /** Zooms; in a sandwich, asks about another function. */
  private enter(node: FlameNode): void {
    if (this.at.view === 'sandwich') {
      if (node.name >= 0 && node.name !== this.at.pivot) this.go({ ...this.at, pivot: node.name });
    } else if (node !== this.zoomed) this.go({ ...this.at, way: wayTo(node) });
  }

  /** The function a sandwich is about when it is first asked for. */
  private chosenName(): number {
    if (this.at.view === 'sandwich') return this.at.pivot;
    return this.zoomed.name >= 0 ? this.zoomed.name : (this.active?.node.name ?? -1);
  }

  private build(): void {
    const topDown = topDownTree(this.flame, this.weight);
    this.topDown = topDown;
    this.times = timesByName(topDown);
    this.tree = this.at.view === 'inverted' ? callersTree(topDown) : topDown;
    this.zoomed = nodeAlong(this.tree, this.at.way);
    if (this.at.view === 'sandwich' && !this.times.has(this.at.pivot))
      this.at = { ...this.at, pivot: this.times.keys().next().value ?? -1 };
    this.sandwich = this.at.view === 'sandwich' ? sandwichOf(topDown, this.at.pivot) : undefined;
    this.active = undefined;
    this.views.press(this.at.view);
    this.weights.press(this.weight);
    const { hint } = this.flame.weights[this.weight];
    this.hint.textContent = hint === null ? '' : `To name the rest: ${hint}.`;
    this.hint.hidden = hint === null;
    this.drawPath();
    this.paint();
  }

  private get told(): Told {
    return { document: this.flame, weight: this.weight, allNs: this.tree.totalNs };
  }

  private paint(): void {
    this.width = this.place.clientWidth;
    if (this.width === 0) return;
    const isEmpty = this.tree.totalNs === 0;
    this.place.hidden = isEmpty;
    this.boxes = isEmpty
      ? []
      : this.sandwich
        ? sandwichBoxes(this.sandwich, this.width)
        : treeBoxes(this.zoomed, this.width);
    if (this.active) this.active = this.boxes.find(({ node }) => node === this.active!.node);
    this.firstRow = this.boxes.reduce((least, { row }) => Math.min(least, row), 0);
    this.redraw();
    this.say();
  }

  private redraw(): void {
    const { boxes, firstRow, width, active } = this;
    const lastRow = boxes.reduce((most, { row }) => Math.max(most, row), 0);
    const zoomedRow = boxes.find(({ node }) => node === this.zoomed)?.row ?? 0;
    this.painter.paint({
      boxes,
      firstRow,
      rows: lastRow - firstRow + 1,
      width,
      found: matchingNames(this.flame, this.search.value),
      isFaded: ({ row }) => !this.sandwich && row < zoomedRow,
      pivot: this.sandwich && boxes.find(({ row }) => row === 0),
      active,
    });
  }

  private say(): void {
    const { told, tree } = this;
    const what = weightName(this.weight);
    if (tree.totalNs === 0) {
      this.said.textContent =
        this.weight === 'idle'
          ? 'The GPU does not wait for the host in the selected steps.'
          : 'No host events are recorded in the selected steps.';
      return;
    }
    const found = matchingNames(this.flame, this.search.value);
    const shown = this.sandwich?.callees ?? this.zoomed;
    const parts = [
      shown.name < 0
        ? `${meanTime(told, tree.totalNs)} of ${what}.`
        : `${this.painter.nameOf(shown.name)}: ${timeAndShare(told, shown.totalNs)}.`,
      found ? this.foundWords(found) : abouts[this.at.view],
    ];
    this.said.textContent = parts.join(' ');
    this.canvas.setAttribute(
      'aria-label',
      `Flame graph of ${what}. ${parts.join(' ')} Arrow keys move, Enter zooms, Escape goes back.`,
    );
  }

  private foundWords(found: ReadonlySet<number>): string {
    const words = `“${this.search.value.trim()}”`;
    const ns = matchedNs(this.topDown, found);
    return ns > 0 ? `${words} and what it calls: ${timeAndShare(this.told, ns)}.` : `${words} is not found.`;
  }

  /** The way to what is shown; in a sandwich, the functions asked about before. */
  private drawPath(): void {
    const steps = this.sandwich ? this.pivotsBefore() : this.callersBefore();
    const shown = steps.length > SHOWN_PATH ? [steps[0], ...steps.slice(1 - SHOWN_PATH)] : steps;
    const current = this.sandwich ? this.at.pivot : this.zoomed.name;
    const items = shown.map(({ name, go }, i) => {
      const button = element('button', { type: 'button', class: 'small' }, this.painter.nameOf(name));
      button.addEventListener('click', go);
      const isGap = i === 0 && shown.length < steps.length;
      return element('li', {}, button, ...(isGap ? [element('span', {}, '…')] : []));
    });
    const last = element('li', { 'aria-current': 'true' }, this.painter.nameOf(current));
    this.path.replaceChildren(...items, ...(shown.length > 0 ? [last] : []));
    this.path.hidden = shown.length === 0;
  }

  private callersBefore() {
    return callersOf(this.zoomed).map(node => ({
      name: node.name,
      go: () => this.go({ ...this.at, way: wayTo(node) }),
    }));
  }

  private pivotsBefore() {
    const asked = this.before.filter(({ view, pivot }) => view === 'sandwich' && pivot !== this.at.pivot);
    return [...new Set(asked.map(({ pivot }) => pivot))].map(pivot => ({
      name: pivot,
      go: () => this.go({ ...this.at, pivot }),
    }));
  }

  private boxUnder({ offsetX, offsetY }: MouseEvent): FlameBox | undefined {
    return boxAt(this.boxes, offsetX, Math.floor(offsetY / ROW_HEIGHT) + this.firstRow);
  }

  /** Marks a box and shows what is known about it. */
  private point(box: FlameBox | undefined, pointer?: { readonly offsetX: number; readonly offsetY: number }) {
    if (box !== this.active) {
      this.active = box;
      this.redraw();
    }
    this.canvas.style.cursor = box ? 'pointer' : '';
    if (!box) {
      this.tip.hide();
      return [];
    }
    const isCaller = box.row < 0 || (this.at.view === 'inverted' && box.row > 0);
    const lines = boxLines(this.told, box.node, this.times.get(box.node.name), isCaller);
    const y = (box.row - this.firstRow + 1) * ROW_HEIGHT;
    this.tip.show(this.painter.nameOf(box.node.name), lines, {
      x: pointer?.offsetX ?? Math.max(0, box.x),
      y: pointer ? Math.max(y, pointer.offsetY + 14) : y + 2,
    });
    return lines;
  }

  private press(event: KeyboardEvent): void {
    if (this.answers(event.key)) event.preventDefault();
  }

  private answers(key: string): boolean {
    if (arrows[key]) this.move(arrows[key]);
    else if (key === 'Escape') return this.back();
    else if ((key === 'Enter' || key === ' ') && this.active) this.enter(this.active.node);
    else if (key === 'Home') this.go({ ...this.at, way: [] });
    else return false;
    return true;
  }

  private move(direction: Direction): void {
    const first = this.boxes.find(({ node }) => node === (this.sandwich?.callees ?? this.zoomed));
    const next = this.active ? nextBox(this.boxes, this.active, direction) : first;
    if (!next) return;
    const lines = this.point(next);
    const words = lines.map(([label, text]) => `${label}: ${text}`);
    this.spoken.textContent = [this.painter.nameOf(next.node.name), ...words].join('. ');
  }
}

const wayTo = (node: FlameNode): readonly number[] =>
  node.parent ? [...callersOf(node).slice(1), node].map(({ name }) => name) : [];
