/** The top of a page: figures, a stacked bar for each thing compared, and what to do. Markup alone, no script. */
import type { PageSummary, SummaryBar } from '../../analyze/page-summary.js';
import { formatDuration, formatShare } from '../../base/units.js';
import { elementId, escapeHtml, proseToHtml } from './escape.js';
import { fillOf } from './hatch.js';

/** Parts named below a bar; all are in its label. */
const NAMED_PARTS = 6;
const LEAST_NAMED = 0.02;

export function summaryToHtml({ figures, bars, title, actions }: PageSummary): string {
  const tiles = figures
    .map(({ value, label }) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd></div>`)
    .join('');
  const stacks = bars.map(stack).join('');
  const list = actions
    .map(({ text, about, section }) => {
      const name = `<b>${proseToHtml(firstSentence(text))}</b>`;
      const linked = section ? `<a href="#${elementId(section)}">${name}</a>` : name;
      // The claim behind the gain: on a phone it is left to the findings below, so that three actions are in sight.
      const [gain, ...claim] = about.split(/(?=: )/);
      return `<li>${linked}<span class="muted">${escapeHtml(gain)}<span class="claim">${escapeHtml(claim.join(''))}</span></span></li>`;
    })
    .join('');
  return `<div class="summary">${tiles && `<dl class="tiles">${tiles}</dl>`}${stacks && `<div class="phase-bars">${stacks}</div>`}${list && `<div class="actions"><h2>${escapeHtml(title)}</h2><ol>${list}</ol></div>`}</div>`;
}

/** What more there is to say is with the finding. */
const firstSentence = (text: string): string => text.split(/\. (?=[A-Z])/)[0];

function stack({ name, wallNs, wholeNs = wallNs, parts }: SummaryBar): string {
  const share = (ns: number) => (wallNs > 0 ? ns / wallNs : 0);
  const said = (part: SummaryBar['parts'][number]) => `${part.label} ${formatShare(share(part.ns))}`;
  let at = 0;
  const rects = parts.map(({ color, ns }) => {
    const left = (at / Math.max(1, wholeNs)) * 100;
    at += ns;
    const width = (ns / Math.max(1, wholeNs)) * 100;
    return `<rect x="${left.toFixed(2)}%" width="${width.toFixed(2)}%" height="100%" fill="${fillOf(color)}"/>`;
  });
  const named = [...parts]
    .sort((a, b) => b.ns - a.ns)
    .filter(({ ns }) => share(ns) >= LEAST_NAMED)
    .slice(0, NAMED_PARTS)
    .map(part => `<li>${swatch(part.color)}${escapeHtml(said(part))}</li>`);
  const label = `${name} ${formatDuration(wallNs)}: ${parts.map(said).join(', ')}`;
  return `<div><p><b>${escapeHtml(name)}</b> ${formatDuration(wallNs)}</p><svg class="stack" role="img" aria-label="${escapeHtml(label)}">${rects.join('')}</svg><ul class="keys">${named.join('')}</ul></div>`;
}

/** Hatching is in units of the page: a swatch is not scaled. */
export const swatch = (color: string): string =>
  `<svg class="swatch" width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" fill="${fillOf(color)}"/></svg>`;
