/** The timeline as a picture of twice the pixels: verdict, axis, names, lanes and legend. */
import { fillBox } from '../idle-fill.js';
import type { Pane } from '../state.js';
import { canvasOf } from './canvas-of-pane.js';
import { AXIS, NAMES_WIDTH, pictureFrame, TOP } from './picture-frame.js';

const RATIO = 2;
const FONT = 'system-ui, sans-serif';

export async function timelinePng(pane: Pane): Promise<Blob> {
  const timeline = canvasOf(pane);
  if (!timeline) throw new Error('The timeline is not on screen.');
  const lanes = timeline.drawnAt(RATIO);
  const frame = timeline.frame();
  const around = pictureFrame(pane, frame);
  const picture = document.createElement('canvas');
  picture.width = Math.round(around.width * RATIO);
  picture.height = Math.round(around.height * RATIO);
  const pen = picture.getContext('2d')!;
  pen.scale(RATIO, RATIO);
  pen.fillStyle = frame.look.paperText;
  pen.fillRect(0, 0, around.width, around.height);
  const height = around.bottom - TOP;
  pen.drawImage(lanes, 0, 0, frame.width * RATIO, height * RATIO, NAMES_WIDTH, TOP, frame.width, height);
  pen.textBaseline = 'middle';
  const write = (text: string, x: number, y: number, font: string, ink: string) => {
    pen.font = font;
    pen.fillStyle = ink;
    pen.fillText(text, x, y);
  };
  write(around.verdict, 8, 14, `600 ${around.verdictSize}px ${FONT}`, frame.look.text);
  write(around.facts, 8, 32, `11px ${FONT}`, frame.look.muted);
  for (const { ns, label } of around.ticks)
    write(
      label,
      NAMES_WIDTH + (ns - frame.fromNs) / frame.nsPerPixel + 4,
      TOP - AXIS / 2,
      `11px ${FONT}`,
      frame.look.muted,
    );
  for (const { text, x, y, isGroup } of around.names)
    write(text, x, y, `${isGroup ? '600 ' : ''}11px ${FONT}`, frame.look.text);
  for (const { x, y, label, color } of around.legend) {
    fillBox(pen, color, x, y + 3, 9, 9);
    write(label, x + 13, y + 8, `11px ${FONT}`, frame.look.text);
  }
  timeline.draw();
  return new Promise((resolve, reject) =>
    picture.toBlob(
      blob => (blob ? resolve(blob) : reject(new Error('The image could not be created.'))),
      'image/png',
    ),
  );
}
