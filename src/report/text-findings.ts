/** Findings for a terminal: one line each with cost and gain, what it rests on, and what to do. */
import type { FindingsBlock } from '../analyze/block.js';
import type { Finding } from '../analyze/findings/finding.js';
import { formatThroughput, readsAsGain } from '../analyze/words.js';
import { printable } from '../base/printable.js';
import { formatDuration, formatShare } from '../base/units.js';
import type { RenderContext } from './renderer.js';
import { cutAfterWord, painter, widthOf, wrap } from './terminal.js';

const FIGURES = [10, 8, 9, 12];
const SUM = FIGURES.reduce((sum, width) => sum + width, 0);
const LEAST_CLAIM = 30;
const MOST_CLAIM = 72;

export function renderFindings(block: FindingsBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const claims = Math.max(LEAST_CLAIM, Math.min(MOST_CLAIM, context.width - SUM - 5));
  // Too narrow for columns: figures follow the claim.
  const inColumns = context.width >= SUM + LEAST_CLAIM + 5;
  const figures = (texts: readonly string[]) => texts.map((text, i) => text.padStart(FIGURES[i])).join('');
  const head = inColumns
    ? `${paint.bold(block.title.padEnd(claims + 5))}${paint.dim(figures([block.per, 'share', 'gain', 'confidence']))}`
    : paint.bold(block.title);
  const lines = block.findings.flatMap((finding, i) => {
    const [first, ...rest] = wrap(printable(finding.claim), inColumns ? claims : context.width - 5);
    const space = ' '.repeat(Math.max(0, claims - widthOf(first)));
    const body = [...evidenceLines(finding, context), ...adviceLines(finding, context)];
    return [
      `  ${i + 1}  ${paint.bold(first)}${inColumns ? `${space}${figures(figuresOf(finding))}` : ''}`,
      ...rest.map(line => `     ${paint.bold(line)}`),
      ...(inColumns
        ? []
        : wrap(figureWords(finding, block.per), context.width - 5).map(line => `     ${line}`)),
      ...body.map(line => `     ${paint.dim(line)}`),
    ];
  });
  if (block.findings.length === 0) lines.push(`  ${paint.dim('no problems found')}`);
  if (block.more > 0) lines.push(`     ${paint.dim(`… ${block.more} more: analyze --only findings`)}`);
  if (block.unmeasured.length > 0) {
    const missing = block.unmeasured.map(({ what, hint }) => `${what} (${hint})`).join('; ');
    lines.push(...wrap(`not measured: ${missing}`, context.width - 2).map(line => `  ${paint.dim(line)}`));
  }
  return `${[head.trimEnd(), ...lines].join('\n')}\n`;
}

function figuresOf({ costNs, costShare, gain, confidence }: Finding): string[] {
  return [
    costNs === null ? '' : formatDuration(costNs),
    costShare === null ? '' : formatShare(costShare),
    gain && readsAsGain(gain.throughput) ? formatThroughput(gain.throughput) : '',
    confidence,
  ];
}

function figureWords(finding: Finding, per: FindingsBlock['per']): string {
  const [cost, share, gain, confidence] = figuresOf(finding);
  const parts = [cost && `${cost} ${per}`, share, gain && `gain ${gain}`, confidence];
  return parts.filter(Boolean).join(', ');
}

function evidenceLines({ evidence }: Finding, context: RenderContext): string[] {
  return evidence.slice(0, 1).flatMap(({ text }) => {
    const [first, ...rest] = wrap(printable(text), context.width - 5);
    return rest.length === 0 ? [first] : [first, cutAfterWord(rest.join(' '), context.width - 5)];
  });
}

function adviceLines({ advice }: Finding, context: RenderContext): string[] {
  return advice.slice(0, 1).flatMap(({ engine, text }) => {
    const whose = engine === 'any' ? '' : `${engine}: `;
    return wrap(`→ ${whose}${printable(text)}`, context.width - 5);
  });
}
