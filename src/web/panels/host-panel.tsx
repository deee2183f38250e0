/** The host's code: the flame graph of the chosen steps, and the places that hold most of the time. */
import { useEffect, useRef } from 'preact/hooks';
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import { flamePath, useDocument } from '../documents.js';
import { FlameGraph } from '../flame/flame-graph.js';
import type { Pane } from '../state.js';
import { AnalysisPanel, Skeleton } from './analysis-panel.js';
import { ProblemView } from './problem-view.js';

export function HostPanel({ pane }: { readonly pane: Pane }) {
  return (
    <>
      <section class="block">
        <h3>Flame graph of the host</h3>
        <Flame pane={pane} />
      </section>
      <AnalysisPanel id="host-code" pane={pane} />
    </>
  );
}

function Flame({ pane }: { readonly pane: Pane }) {
  const { document, problem, isLoading } = useDocument<FlameDocument>(flamePath(pane));
  const place = useRef<HTMLDivElement>(null);
  const shown = useRef<FlameGraph | null>(null);
  useEffect(() => {
    if (!document || !place.current) return;
    // Another selection of steps is looked at in the same way.
    const graph = new FlameGraph(document, shown.current?.settings);
    shown.current = graph;
    place.current.replaceChildren(graph.root);
    return () => graph.stop();
  }, [document]);
  if (problem) return <ProblemView problem={problem} />;
  return (
    <>
      {!document && <Skeleton />}
      <div ref={place} class={isLoading ? 'stale' : undefined} aria-busy={isLoading} />
    </>
  );
}
