/** A small card next to the pointer, never outside its place. */
import { element } from './element.js';

const GAP = 8;

export class FlameTip {
  private readonly card = element('div', { class: 'flame-tip', 'aria-hidden': 'true' });

  constructor(private readonly place: HTMLElement) {
    this.card.hidden = true;
    place.append(this.card);
  }

  show(
    title: string,
    lines: readonly (readonly [label: string, text: string])[],
    at: { readonly x: number; readonly y: number },
  ): void {
    const rows = lines.flatMap(([label, text]) => [element('dt', {}, label), element('dd', {}, text)]);
    this.card.replaceChildren(element('b', {}, title), element('dl', {}, ...rows));
    this.card.hidden = false;
    const room = this.place.clientWidth - this.card.offsetWidth;
    this.card.style.left = `${Math.max(0, Math.min(at.x + GAP, room))}px`;
    this.card.style.top = `${at.y}px`;
  }

  hide(): void {
    this.card.hidden = true;
  }
}
