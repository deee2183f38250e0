/** Findings as cards: what is wrong, what it costs, what it rests on, what to do, and how to make sure. */
import type { FindingsBlock } from '../../analyze/block.js';
import { evidenceText } from '../../analyze/findings/evidence-text.js';
import type { Finding, Gain, Severity } from '../../analyze/findings/finding.js';
import { formatThroughput, ofStep, perStep } from '../../analyze/words.js';
import { formatCount, formatDuration, formatShare } from '../../base/units.js';
import { escapeHtml, proseToHtml } from './escape.js';

const severities: Readonly<Record<Severity, string>> = {
  high: 'high',
  medium: 'medium',
  low: 'low',
  note: 'note',
};

export function findingsToHtml({
  findings,
  more,
  unmeasured,
  all = 'stepscope analyze FILE --only findings',
}: FindingsBlock): string {
  const cards = findings.map(card).join('\n');
  const none = findings.length === 0 ? '<p>No problems found beyond the times shown below.</p>' : '';
  const rest = more > 0 ? `<p class="muted">${formatCount(more)} more: ${escapeHtml(all)}</p>` : '';
  const missing = unmeasured.map(
    ({ what, hint }) => `<li>${escapeHtml(what)} <span class="muted">→ ${proseToHtml(hint)}</span></li>`,
  );
  const unseen = missing.length > 0 ? `<h3>Not measured</h3><ul class="plain">${missing.join('')}</ul>` : '';
  return `<ol class="cards">${cards}</ol>${none}${rest}${unseen}`;
}

function card(finding: Finding): string {
  const { claim, severity, evidence, advice, confirm, phase, confidence, gain } = finding;
  const facts = [
    ['costs', costText(finding)],
    ['gain', gain ? gainText(gain, phase) : ''],
    ['confidence', confidence],
    ['phase', phase === null || phase === 'unknown' ? '' : phase],
  ].filter(([, text]) => text !== '');
  const list = facts.map(([label, text]) => `<div><dt>${label}</dt><dd>${escapeHtml(text)}</dd></div>`);
  const proof = evidence.map(item => `<li>${proseToHtml(evidenceText(item))}</li>`).join('');
  const todo = advice
    .map(({ engine, text }) => {
      const whose = engine === 'any' ? '' : `<b>${escapeHtml(engine)}</b> `;
      return `<li>${whose}${proseToHtml(text)}</li>`;
    })
    .join('');
  return `<li class="card ${severities[severity]}"><h3><span class="tag">${severities[severity]}</span> ${escapeHtml(claim)}</h3>
<dl class="figures">${list.join('')}</dl>
${todo && `<h4>What to do</h4><ul>${todo}</ul>`}${proof && `<details><summary>Evidence</summary><ul>${proof}</ul></details>`}${confirm === '' ? '' : commandMarkup(confirm)}</li>`;
}

function commandMarkup(command: string): string {
  return `<h4>Confirm</h4><div class="command"><code>${proseToHtml(command)}</code><button type="button" data-copy hidden>Copy</button></div>`;
}

function costText({ costNs, costShare, phase }: Finding): string {
  const parts = [
    costNs === null ? '' : `${formatDuration(costNs)} ${perStep(phase)}`,
    costShare === null ? '' : `${formatShare(costShare)} ${ofStep(phase)}`,
  ];
  return parts.filter(Boolean).join(', ');
}

function gainText({ nsPerStep, throughput, how }: Gain, phase: Finding['phase']): string {
  return `${formatDuration(nsPerStep)} ${perStep(phase)}, ${formatThroughput(throughput)} throughput (${how})`;
}
