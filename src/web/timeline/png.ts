/** The timeline as a picture: what the canvas shows, with the names of the tracks beside it. */
import type { Pane } from '../state.js';
import { canvasOf } from './canvas-of-pane.js';

const NAMES_WIDTH = 190;
const TOP = 26;

export async function timelinePng(pane: Pane): Promise<Blob> {
  const timeline = canvasOf(pane);
  if (!timeline) throw new Error('The timeline is not on screen.');
  timeline.draw();
  const frame = timeline.frame();
  const { ratio, look, layout, scrollTop, width, height } = frame;
  const picture = document.createElement('canvas');
  picture.width = (width + NAMES_WIDTH) * ratio;
  picture.height = (height + TOP) * ratio;
  const context = picture.getContext('2d')!;
  context.scale(ratio, ratio);
  context.fillStyle = getComputedStyle(timeline.canvas).getPropertyValue('--page').trim() || '#ffffff';
  context.fillRect(0, 0, width + NAMES_WIDTH, height + TOP);
  context.drawImage(timeline.canvas, NAMES_WIDTH, TOP, width, height);
  context.fillStyle = look.text;
  context.font = '600 12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillText(pane.document.facts.slice(0, 3).join(' · '), 8, TOP / 2);
  for (const row of layout.rows) {
    const y = row.y - scrollTop + TOP;
    if (y < TOP || y > height + TOP - 8) continue;
    const isGroup = row.kind === 'group';
    context.font = `${isGroup ? '600 ' : ''}11px system-ui, sans-serif`;
    const text = isGroup ? row.label : row.track.label;
    context.fillText(
      text.length > 30 ? `${text.slice(0, 29)}…` : text,
      isGroup ? 8 : 16,
      y + Math.min(row.height, 24) / 2,
    );
  }
  return new Promise((resolve, reject) =>
    picture.toBlob(
      blob => (blob ? resolve(blob) : reject(new Error('The image could not be created.'))),
      'image/png',
    ),
  );
}
