/** While a file is dragged over the page: where to let go, and what will happen. */
import { useEffect, useState } from 'preact/hooks';
import { isOffline } from '../offline/offline.js';
import { screen } from '../session.js';
import { panes } from '../state.js';
import { openFiles, type Where } from './upload.js';

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function DropTarget() {
  const [over, setOver] = useState<Where | null>(null);
  const canCompare = screen.value.kind === 'ready' && panes.value.length > 0;
  useEffect(() => {
    if (isOffline) return;
    const where = (event: DragEvent): Where =>
      canCompare && event.clientX > window.innerWidth / 2 ? 'beside' : 'instead';
    const drag = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(where(event));
    };
    const leave = (event: DragEvent) => {
      // Leaving one element for another is not leaving the page.
      if (event.relatedTarget === null) setOver(null);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(null);
      openFiles([...(event.dataTransfer?.files ?? [])], where(event));
    };
    window.addEventListener('dragenter', drag);
    window.addEventListener('dragover', drag);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', drag);
      window.removeEventListener('dragover', drag);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, [canCompare]);
  if (!over) return null;
  const half = (where: Where) => (over === where ? 'drop-half over' : 'drop-half');
  return (
    <div class="drop" aria-hidden="true">
      <div class={half('instead')}>
        <b>Open</b>
        <span>{canCompare ? `instead of ${panes.value[0].name}` : 'this profile'}</span>
      </div>
      {canCompare && (
        <div class={half('beside')}>
          <b>Compare</b>
          <span>beside {panes.value[0].name}</span>
        </div>
      )}
    </div>
  );
}
