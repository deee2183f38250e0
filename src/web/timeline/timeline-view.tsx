/** The timeline of one pane: ruler, track names and canvas. */
import { forwardRef } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { TimelineDocument } from '../../timeline/wire.js';
import { type Pane, trackFilter } from '../state.js';
import { rememberCanvas } from './canvas-of-pane.js';
import { attachGestures } from './gestures.js';
import { layOutTracks } from './layout.js';
import { layoutWishes } from './layout-wishes.js';
import { Legend } from './legend.js';
import type { Tick } from './ruler.js';
import { type Hit, TimelineCanvas } from './timeline-canvas.js';
import { RowHeightButton, TrackNames } from './track-names.js';

interface Props {
  readonly pane: Pane;
  readonly onTrouble?: (error: unknown) => void;
}

export function TimelineView({ pane, onTrouble = () => {} }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLDivElement>(null);
  const [timeline, setTimeline] = useState<TimelineCanvas | null>(null);
  const [ready, setReady] = useState(false);
  const [hover, setHover] = useState<{ hit: Hit; x: number; y: number } | null>(null);

  useEffect(() => {
    const made = new TimelineCanvas(pane, canvas.current!, scroller.current!, onTrouble);
    setTimeline(made);
    made.load().then(() => {
      made.draw();
      setReady(true);
    }, onTrouble);
    const stops = [
      attachGestures(made, ruler.current!, {
        onHover: (hit, x, y) => setHover(hit ? { hit, x, y } : null),
      }),
      rememberCanvas(pane, made),
      () => made.dispose(),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [pane]);

  const layout = layOutTracks(pane.document, layoutWishes());
  return (
    <section
      class="timeline"
      aria-label={`Timeline of ${pane.name}`}
      data-ready={ready ? 'yes' : 'no'}
      data-highlights={pane.highlights.value.length}
      data-marks={pane.marks.value?.count ?? 0}
    >
      <div class="timeline-top">
        <div class="track-tools">
          <input
            class="track-filter"
            type="search"
            placeholder="filter tracks"
            aria-label="Filter tracks by name"
            value={trackFilter.value}
            onInput={event => {
              trackFilter.value = event.currentTarget.value;
            }}
          />
          <RowHeightButton />
        </div>
        <Ruler timeline={timeline} ref={ruler} />
      </div>
      <div class="timeline-scroll" ref={scroller} onScroll={() => timeline?.schedule()} tabIndex={-1}>
        <div class="timeline-content" style={{ height: `${layout.height}px` }}>
          <TrackNames layout={layout} />
          <div class="timeline-canvas">
            <canvas ref={canvas} role="img" tabIndex={0} aria-label={canvasWords(pane.document)} />
          </div>
        </div>
        {layout.rows.length === 0 && (
          <p class="timeline-empty">
            {pane.document.tracks.length > 0 ? 'No track name matches.' : 'No events were recorded.'}
          </p>
        )}
      </div>
      {hover && <HoverCard document={pane.document} {...hover} />}
      {timeline && ready && <Legend document={pane.document} />}
    </section>
  );
}

function canvasWords({ tracks }: TimelineDocument): string {
  const events = tracks.reduce((sum, track) => sum + track.events, 0);
  return `${plural(tracks.length, 'track')} with ${plural(events, 'event')}. Press the bracket and arrow keys to go from event to event. The panels show the same data as text.`;
}

const Ruler = forwardRef<HTMLDivElement, { readonly timeline: TimelineCanvas | null }>(
  ({ timeline }, ref) => {
    const [ticks, setTicks] = useState<readonly { readonly x: number; readonly label: string }[]>([]);
    useEffect(() => {
      if (!timeline) return;
      timeline.onFrame = (all: readonly Tick[]) => {
        const { fromNs, nsPerPixel } = timeline.frame();
        setTicks(all.map(({ ns, label }) => ({ x: (ns - fromNs) / nsPerPixel, label })));
      };
      timeline.schedule();
    }, [timeline]);
    return (
      <div class="ruler" ref={ref} aria-hidden="true">
        {ticks.map(({ x, label }) => (
          <span key={label} style={{ transform: `translateX(${x}px)` }}>
            {label}
          </span>
        ))}
      </div>
    );
  },
);

interface HoverProps {
  readonly document: TimelineDocument;
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

/** What is under the mouse, in two lines. */
function HoverCard({ document, hit, x, y }: HoverProps) {
  const look = document.palettes[hit.row.track.palette][hit.tone];
  const span = formatDuration(hit.endNs - hit.startNs);
  const flip = x > globalThis.innerWidth - 340;
  return (
    <div
      class="hover-card"
      style={{
        transform: `translate(${flip ? x - 330 : x + 14}px, ${Math.min(y + 14, globalThis.innerHeight - 90)}px)`,
      }}
    >
      <b>
        {hit.count > 1 ? `${plural(hit.count, 'event')}, too short to draw separately` : (hit.name ?? '…')}
      </b>
      <span>
        {look && <i style={{ background: look.color }} />}
        {look?.label} · {span}
        {hit.count > 1 && ` · ${formatShare(hit.fill)} covered · click to zoom in`}
      </span>
    </div>
  );
}
