/** Idle time is hatched in its colour, so that it cannot be taken for work. Patterns are defined once per page. */
import { causeLook, causeOrder, isIdleColor, OTHER_IDLE } from '../../analyze/names-and-colors.js';
import { escapeHtml } from './escape.js';

const nameOf = (color: string) => `idle-${color.slice(1)}`;

/** What an SVG is filled with. */
export const fillOf = (color: string): string =>
  isIdleColor(color) ? `url(#${nameOf(color)})` : escapeHtml(color);

/** In the units of the page: no drawing that uses them may be stretched. */
export const hatchPatterns = (): string => {
  const colors = [...causeOrder.map(id => causeLook(id).color), OTHER_IDLE];
  const patterns = colors.map(
    color =>
      `<pattern id="${nameOf(color)}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="${color}" fill-opacity="0.35"/><rect width="3.4" height="6" fill="${color}"/></pattern>`,
  );
  return `<svg class="unseen" aria-hidden="true"><defs>${patterns.join('')}</defs></svg>`;
};
