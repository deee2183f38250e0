/** The host's code: the flame graph of the chosen steps or of the area dragged over, and the places that hold most of the time. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import { formatDuration } from '../../base/units.js';
import { flamePath, useDocument } from '../documents.js';
import { FlameGraph } from '../flame/flame-graph.js';
import { isOffline } from '../offline/offline.js';
import type { Pane } from '../state.js';
import { AnalysisPanel, Skeleton } from './analysis-panel.js';
import { ProblemView } from './problem-view.js';

export function HostPanel({ pane }: { readonly pane: Pane }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const enlarged = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const move = (from: HTMLElement | null, to: HTMLElement | null) => to?.append(...(from?.childNodes ?? []));
  return (
    <>
      <section class="block">
        <div class="block-head">
          <h3>Flame graph of the host</h3>
          {pane.area.value && !isOffline && (
            <span class="muted">
              the selected {formatDuration(pane.area.value.toNs - pane.area.value.fromNs)}
            </span>
          )}
          <button
            type="button"
            class="small"
            onClick={() => {
              dialog.current?.showModal();
              move(place.current, enlarged.current);
            }}
          >
            Enlarge
          </button>
        </div>
        <Flame pane={pane} place={place} />
        <dialog
          ref={dialog}
          class="flame-dialog"
          aria-label="Flame graph of the host"
          onClose={() => move(enlarged.current, place.current)}
        >
          <div class="block-head">
            <h3>Flame graph of the host</h3>
            <button type="button" class="small" onClick={() => dialog.current?.close()}>
              Close
            </button>
          </div>
          <div ref={enlarged} />
        </dialog>
      </section>
      <AnalysisPanel id="host-code" pane={pane} />
    </>
  );
}

function Flame(props: { readonly pane: Pane; readonly place: RefObject<HTMLDivElement | null> }) {
  const { pane, place } = props;
  const { document, problem, isLoading } = useDocument<FlameDocument>(flamePath(pane));
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
