/** Idle time is hatched in its colour wherever the page draws it, so that it cannot be taken for work. */
import { isIdleColor } from '../catalog/palette.js';

const STRIPE = 2.5;
const PERIOD = 4;
const PALE = 0.45;

/** What an element is filled with. Without a colour the style of the page has one: see `hatchClass`. */
export const fillOf = (color: string | undefined): string | undefined =>
  color !== undefined && isIdleColor(color)
    ? `repeating-linear-gradient(135deg, ${color} 0 ${STRIPE}px, color-mix(in srgb, ${color} ${100 * PALE}%, transparent) ${STRIPE}px ${PERIOD}px)`
    : color;

/** Of what has no colour of its own, which is idle time. */
export const hatchClass = (color: string | undefined): string => (color === undefined ? 'hatched' : '');

const nameOf = (color: string) => `idle-${color.slice(1)}`;

/** What a shape of an SVG is filled with; its document needs the `hatchPatterns` of the colours it uses. */
export const svgFill = (color: string): string => (isIdleColor(color) ? `url(#${nameOf(color)})` : color);

export const hatchPatterns = (colors: Iterable<string>): string => {
  const patterns = [...new Set(colors)]
    .filter(isIdleColor)
    .map(
      color =>
        `<pattern id="${nameOf(color)}" width="${PERIOD}" height="${PERIOD}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="${PERIOD}" height="${PERIOD}" fill="${color}" fill-opacity="${PALE}"/><rect width="${STRIPE}" height="${PERIOD}" fill="${color}"/></pattern>`,
    );
  return `<defs>${patterns.join('')}</defs>`;
};

/** The same on a canvas. */
export function fillBox(
  pen: CanvasRenderingContext2D,
  color: string,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.fillStyle = color;
  if (!isIdleColor(color)) pen.fillRect(x, y, width, height);
  else {
    pen.globalAlpha = PALE;
    pen.fillRect(x, y, width, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = color;
    pen.lineWidth = STRIPE;
    pen.beginPath();
    // Along the diagonal the stripes are a period apart.
    for (let at = x - height; at < x + width; at += PERIOD * Math.SQRT2) {
      pen.moveTo(at, y + height);
      pen.lineTo(at + height, y);
    }
    pen.stroke();
  }
  pen.restore();
}
