/** The timeline of a pane as a picture. */
import { Problem } from '../api.js';
import type { Pane } from '../state.js';

export async function timelinePng(pane: Pane): Promise<Blob> {
  const section = document.querySelector(`[data-pane="${pane.id}"]`);
  const canvas = section?.querySelector('canvas');
  const blob = await new Promise<Blob | null>(done => (canvas ? canvas.toBlob(done) : done(null)));
  if (!blob) throw new Problem('There is no timeline to draw.', 'Open a profile first.');
  return blob;
}
