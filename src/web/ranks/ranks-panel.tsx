/** Ranks against each other: every rank in every step and layer as shades; a cell selects the step and unfolds the rank. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDuration, plural } from '../../base/units.js';
import type { RankHeat, RanksDocument } from '../../timeline/wire.js';
import { useDocument } from '../documents.js';
import { AnalysisPanel, Skeleton } from '../panels/analysis-panel.js';
import { ProblemView } from '../panels/problem-view.js';
import { type Pane, query, selectSteps, toggled } from '../state.js';
import { theme } from '../theme.js';
import { canvasOf } from '../timeline/canvas-of-pane.js';
import { groupKey } from '../timeline/layout.js';
import { cellText, depthOf, type HeatGrid, heatGrid, largestBehind } from './heat-cells.js';

export function RanksPanel({ pane }: { readonly pane: Pane }) {
  const { document, problem } = useDocument<RanksDocument>(`/api/profiles/${pane.id}/ranks`);
  const [measure, setMeasure] = useState('waiting');
  if (problem) return <ProblemView problem={problem} />;
  if (!document) return <Skeleton />;
  const heat = document.bySteps.find(({ id }) => id === measure) ?? document.bySteps[0];
  const { steps } = pane.document;
  return (
    <>
      {heat && (
        <section class="block">
          <div class="block-head">
            <h3>Ranks by step</h3>
            <select
              aria-label="Measure"
              value={heat.id}
              onChange={event => setMeasure(event.currentTarget.value)}
            >
              {document.bySteps.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          </div>
          <Heat
            heat={heat}
            ranks={document.ranks}
            columnText={step => `iteration ${steps.iteration[step]}`}
            selected={pane.steps.value?.first ?? -1}
            onSelect={(rank, step) => {
              unfold(pane, document.ranks[rank].group);
              selectSteps(pane, { first: step, last: step });
            }}
          />
        </section>
      )}
      {document.byLayers.map(own => (
        <section class="block" key={own.id}>
          <h3>Ranks by layer</h3>
          <Heat
            heat={own}
            ranks={document.ranks}
            columnText={layer => `layer ${layer}`}
            selected={-1}
            onSelect={(rank, layer) => {
              unfold(pane, document.ranks[rank].group);
              query.value = `track:layers name:"layer ${layer}"`;
            }}
          />
        </section>
      ))}
      <AnalysisPanel id="rank-steps" pane={pane} />
    </>
  );
}

function unfold(pane: Pane, group: string): void {
  if (!toggled.value.has(groupKey(group))) toggled.value = new Set([...toggled.value, groupKey(group)]);
  const summary = pane.document.tracks.find(track => track.isSummary && track.group === group);
  if (summary) requestAnimationFrame(() => canvasOf(pane)?.reveal(summary.lanes[0].id));
}

/** Lower rows have no room for a name. */
const NAMED_HEIGHT = 12;

interface HeatProps {
  readonly heat: RankHeat;
  readonly ranks: RanksDocument['ranks'];
  readonly columnText: (column: number) => string;
  readonly selected: number;
  readonly onSelect: (rank: number, column: number) => void;
}

function Heat({ heat, ranks, columnText, selected, onSelect }: HeatProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<{ readonly rank: number; readonly column: number } | null>(null);
  const [width, setWidth] = useState(360);
  const rowHeight = Math.max(4, Math.min(18, Math.floor(320 / Math.max(1, ranks.length))));
  const grid = heatGrid(heat, ranks.length, Math.floor(width / 3));
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 360));
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, []);
  const shownTheme = theme.value;
  useEffect(() => {
    if (canvas.current) drawHeat(canvas.current, grid, ranks.length, selected, at);
  }, [heat, width, selected, at, shownTheme]);
  const value = at && (grid.values[at.rank * grid.columns + at.column] ?? null);
  const words = at
    ? `${ranks[at.rank].label}, ${columnText(largestBehind(heat, grid, at.rank, at.column))}: ${cellText(value)}`
    : `${plural(ranks.length, 'rank')}, ${formatDuration(grid.least)} to ${formatDuration(grid.most)}`;
  const choose = () => {
    if (at) onSelect(at.rank, largestBehind(heat, grid, at.rank, at.column));
  };
  const place = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const part = (value: number, length: number, count: number) =>
      Math.max(0, Math.min(count - 1, Math.floor((value / length) * count)));
    return {
      rank: part(event.clientY - box.top, box.height, ranks.length),
      column: part(event.clientX - box.left, box.width, grid.columns),
    };
  };
  return (
    <>
      <div class="heat-rows">
        {rowHeight >= NAMED_HEIGHT && (
          <ul class="heat-names" aria-hidden="true">
            {ranks.map(({ label }) => (
              <li key={label} style={{ height: `${rowHeight}px`, lineHeight: `${rowHeight}px` }}>
                {label.split(' · ')[0]}
              </li>
            ))}
          </ul>
        )}
        <div
          class="rank-heat"
          role="slider"
          tabIndex={0}
          data-own-keys
          aria-label={`${heat.label} of each rank`}
          aria-valuemin={0}
          aria-valuemax={ranks.length * grid.columns - 1}
          aria-valuenow={at ? at.rank * grid.columns + at.column : 0}
          aria-valuetext={words}
          onPointerMove={event => setAt(place(event))}
          onPointerLeave={() => setAt(null)}
          onClick={choose}
          onKeyDown={event => {
            const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
              event.key
            ];
            if (event.key === 'Enter') choose();
            else if (by)
              setAt({
                rank: Math.max(0, Math.min(ranks.length - 1, (at?.rank ?? 0) + by[0])),
                column: Math.max(0, Math.min(grid.columns - 1, (at?.column ?? 0) + by[1])),
              });
            else return;
            event.preventDefault();
          }}
        >
          <canvas ref={canvas} style={{ height: `${ranks.length * rowHeight}px` }} />
        </div>
      </div>
      <p class="muted figure">{words}</p>
    </>
  );
}

function drawHeat(
  canvas: HTMLCanvasElement,
  grid: HeatGrid,
  ranks: number,
  selected: number,
  at: { readonly rank: number; readonly column: number } | null,
): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const style = getComputedStyle(canvas);
  const [wide, tall] = [canvas.width / grid.columns, canvas.height / ranks];
  pen.fillStyle = style.getPropertyValue('--bad').trim();
  for (let rank = 0; rank < ranks; rank++)
    for (let column = 0; column < grid.columns; column++) {
      const value = grid.values[rank * grid.columns + column];
      if (value === null) continue;
      pen.globalAlpha = 0.06 + 0.94 * depthOf(grid, value);
      pen.fillRect(
        column * wide,
        rank * tall,
        Math.max(1, wide - (wide > 4 ? ratio : 0)),
        Math.max(1, tall - (tall > 4 ? 1 : 0)),
      );
    }
  pen.globalAlpha = 1;
  pen.strokeStyle = style.getPropertyValue('--text').trim();
  pen.lineWidth = ratio;
  if (selected >= 0) {
    const column = Math.floor(selected / grid.per);
    pen.strokeRect(column * wide + 0.5, 0.5, wide - 1, canvas.height - 1);
  }
  if (at)
    pen.strokeRect(
      at.column * wide + 0.5,
      at.rank * tall + 0.5,
      Math.max(2, wide - 1),
      Math.max(2, tall - 1),
    );
}
