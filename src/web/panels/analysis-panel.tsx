/** One analysis: its blocks, or the shape of them while they are computed, or why there are none. */
import type { PanelDocument } from '../../timeline/wire.js';
import { panelPath, stepsAsked, useDocument } from '../documents.js';
import type { Pane } from '../state.js';
import { BlockView } from './block-view.js';
import { ProblemView } from './problem-view.js';

export function AnalysisPanel({ id, pane }: { readonly id: string; readonly pane: Pane }) {
  return <BlocksOf path={panelPath(pane, id)} pane={pane} />;
}

export function BlocksOf({ path, pane }: { readonly path: string | null; readonly pane: Pane }) {
  const { document, answered, problem, isLoading } = useDocument<PanelDocument>(path);
  if (problem) return <ProblemView problem={problem} />;
  if (!document) return <Skeleton />;
  if (document.blocks.length === 0) return <p class="muted nothing">Nothing to report.</p>;
  return (
    <div class={isLoading ? 'stale' : undefined} aria-busy={isLoading}>
      {document.blocks.map((block, i) => (
        <BlockView
          key={`${block.kind}/${block.id}/${i}`}
          block={block}
          pane={pane}
          steps={stepsAsked(answered)}
        />
      ))}
    </div>
  );
}

const widths = ['46%', '92%', '78%', '86%', '64%'];

export function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Computing">
      {widths.map(width => (
        <span key={width} style={{ width }} />
      ))}
    </div>
  );
}
