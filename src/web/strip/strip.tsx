/** The iteration strip of one profile: every step as a bar, and the place where steps are chosen. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { makeActive } from '../active-pane.js';
import { type Pane, panes } from '../state.js';
import { theme } from '../theme.js';
import { drawStrip, type Inks } from './draw-strip.js';
import { spokenSpan, stepFacts } from './step-words.js';
import { outliers, stripLayout, stripScale, zoomSteps } from './strip-layout.js';
import { useStripInput } from './use-strip-input.js';

const TOOLTIP_WIDTH = 210;
const ZOOM_PER_PIXEL = 0.0032;
/** Steps behind one bar, by profile; said above the strip. */
export const stepsPerBar = signal<ReadonlyMap<number, number>>(new Map());

export function Strip({ pane }: { readonly pane: Pane }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const { steps } = pane.document;
  const inView = pane.stripSpan.value ?? undefined;
  const layout = useMemo(() => stripLayout(steps, Math.max(1, width), inView), [steps, width, inView]);
  const scales = useMemo(() => stripScale(panes.value.map(one => one.document.steps)), [panes.value]);
  const unusual = useMemo(() => outliers(steps), [steps]);
  const { hover, handlers } = useStripInput(pane, layout);
  const shown = pane.window.value;
  const selected = pane.steps.value;

  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    watch.observe(canvas.current!);
    setWidth(canvas.current!.clientWidth);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    stepsPerBar.value = new Map(stepsPerBar.value).set(pane.id, layout.perBar);
  }, [pane.id, layout.perBar]);
  const drawn = theme.value;
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    drawStrip(canvas.current, {
      document: pane.document,
      layout,
      scales,
      outliers: unusual,
      window: shown,
      selected,
      hovered: hover?.bar ?? -1,
      inks: inksOf(canvas.current),
    });
  }, [pane, layout, scales, unusual, shown, selected, hover?.bar, width, drawn]);
  useLayoutEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const by = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      const now = pane.stripSpan.peek() ?? { first: 0, last: steps.length - 1 };
      const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      const next = zoomSteps(now, steps.length, part, Math.exp(by * ZOOM_PER_PIXEL));
      pane.stripSpan.value = next.last - next.first + 1 >= steps.length ? null : next;
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, [pane]);

  return (
    <div
      class="strip-bars"
      role="slider"
      tabIndex={0}
      aria-label={`Steps of ${pane.name}`}
      aria-valuemin={1}
      aria-valuemax={steps.length}
      aria-valuenow={(selected?.first ?? 0) + 1}
      aria-valuetext={selected ? spokenSpan(pane.document, selected) : 'no step selected'}
      onFocus={() => makeActive(pane)}
      onDblClick={() => {
        pane.stripSpan.value = null;
      }}
      {...handlers}
    >
      <canvas ref={canvas} />
      {hover && layout.slowest[hover.bar] !== undefined && (
        <Tooltip pane={pane} bar={hover.bar} x={hover.x} width={width} layout={layout} />
      )}
    </div>
  );
}

function Tooltip(props: {
  readonly pane: Pane;
  readonly bar: number;
  readonly x: number;
  readonly width: number;
  readonly layout: ReturnType<typeof stripLayout>;
}) {
  const { pane, bar, x, width, layout } = props;
  const step = layout.slowest[bar];
  const left = Math.min(Math.max(0, x - TOOLTIP_WIDTH / 2), Math.max(0, width - TOOLTIP_WIDTH));
  return (
    <div class="tooltip" aria-hidden="true" style={{ left: `${left}px`, width: `${TOOLTIP_WIDTH}px` }}>
      <b>iteration {pane.document.steps.iteration[step]}</b>
      {layout.perBar > 1 && <span class="muted"> · slowest of {layout.perBar}</span>}
      <dl>
        {stepFacts(pane.document, step).map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function inksOf(element: HTMLElement): Inks {
  const style = getComputedStyle(element);
  const ink = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: ink('--text'),
    muted: ink('--muted'),
    band: ink('--band'),
    line: ink('--line'),
    accent: ink('--accent'),
    page: ink('--strip'),
    font: `500 11px ${style.fontFamily}`,
  };
}
