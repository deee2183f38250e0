/** The names of the panels. Those without room move to "More", so that none is cut off. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { panel } from '../state.js';
import { moreTab, type PanelTab } from './panel-list.js';

const GAP = 2;
const PADDING = 16;

/** How many of the tabs fit beside the ones that must be there. */
function fitting(tabs: readonly PanelTab[], always: readonly PanelTab[], width: number, font: string) {
  const pen = document.createElement('canvas').getContext('2d');
  if (!pen || width === 0) return tabs.length;
  pen.font = font;
  const widthOf = ({ label }: PanelTab) => Math.ceil(pen.measureText(label).width) + PADDING + GAP;
  let left = width - always.reduce((sum, tab) => sum + widthOf(tab), 0);
  let count = 0;
  for (const tab of tabs) {
    left -= widthOf(tab);
    if (left < 0) break;
    count++;
  }
  return count;
}

export function useTabs(tabs: readonly PanelTab[], current: PanelTab) {
  const bar = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [font, setFont] = useState('500 13px sans-serif');
  useLayoutEffect(() => {
    const element = bar.current;
    if (!element) return;
    const measure = () => {
      setWidth(element.clientWidth);
      setFont(`600 13px ${getComputedStyle(element).fontFamily}`);
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => watch.disconnect();
  }, []);
  let shown = tabs.slice(0, fitting(tabs, [moreTab], width, font));
  const isGuest = current.id !== moreTab.id && !shown.some(tab => tab.id === current.id);
  if (isGuest) shown = tabs.slice(0, fitting(tabs, [moreTab, current], width, font));
  const hidden = tabs.filter(tab => !shown.includes(tab));
  return { bar, shown: [...shown, ...(isGuest ? [current] : []), moreTab], hidden };
}

export function TabBar(props: {
  readonly bar: { current: HTMLDivElement | null };
  readonly shown: readonly PanelTab[];
  readonly current: PanelTab;
}) {
  const { bar, shown, current } = props;
  const move = (event: KeyboardEvent) => {
    const at = shown.findIndex(tab => tab.id === current.id);
    const last = shown.length - 1;
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: at === 0 ? last : at - 1,
      ArrowRight: at === last ? 0 : at + 1,
      Home: 0,
      End: last,
    };
    const next = places[event.key];
    if (next === undefined || event.shiftKey) return;
    event.preventDefault();
    panel.value = shown[next].id;
    bar.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Panels" ref={bar} onKeyDown={move}>
      {shown.map(tab => (
        <button
          type="button"
          role="tab"
          key={tab.id}
          id={`tab-${tab.id}`}
          aria-selected={tab.id === current.id}
          aria-controls="panel"
          tabIndex={tab.id === current.id ? 0 : -1}
          onClick={() => {
            panel.value = tab.id;
          }}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
