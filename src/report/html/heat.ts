/** A heat map as one SVG: a path per shade, so that a map of fifteen thousand cells stays small. */
import type { HeatBlock } from '../../analyze/block.js';
import { heatColors, heatShades, shadeLabel, shadePath, shrinkHeat } from '../../analyze/heat-cells.js';
import { escapeHtml } from './escape.js';

const MOST_ROWS = 128;
const MOST_COLUMNS = 512;

export function heatToHtml(block: HeatBlock): string {
  const shown = shrinkHeat(block, MOST_ROWS, MOST_COLUMNS);
  const paths = Array.from({ length: heatShades }, (_, shade) => {
    const path = shadePath(shown, shade);
    return path === '' ? '' : `<path fill="${heatColors[shade]}" d="${path}"/>`;
  });
  const legend = heatColors
    .map(
      (color, shade) =>
        `<li><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill="${color}"/></svg> ${escapeHtml(shadeLabel(shade))}</li>`,
    )
    .join('');
  const first = shown.rows[0] ?? '';
  const last = shown.rows[shown.rows.length - 1] ?? '';
  const label = `${block.title}: ${block.caption}. Rows ${first} to ${last}, columns ${block.from} to ${block.to}.`;
  return `<figure class="heat"><figcaption><h3>${escapeHtml(block.title)}</h3><p class="muted">${escapeHtml(block.caption)}</p></figcaption>
<svg class="heat-map" role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${shown.columns} ${shown.rows.length}" preserveAspectRatio="none" shape-rendering="crispEdges">${paths.join('')}</svg>
<p class="muted heat-axis"><span>${escapeHtml(`${first}, ${block.from}`)}</span><span>${escapeHtml(`${last}, ${block.to}`)}</span></p>
<ul class="legend">${legend}</ul></figure>`;
}
