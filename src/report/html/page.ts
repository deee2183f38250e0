/** One file that opens anywhere: markup, style, script and data, and a policy that lets nothing else in. */
import type { StatementBlock } from '../../analyze/block.js';
import type { PageSummary } from '../../analyze/page-summary.js';
import { UserError } from '../../base/user-error.js';
import { blockToHtml } from './blocks.js';
import { chartData, chartToHtml } from './chart.js';
import { chartClient } from './chart-client.js';
import { elementId, escapeHtml, jsonForScript, proseToHtml } from './escape.js';
import { flameData, flameToHtml } from './flame.js';
import { hatchPatterns } from './hatch.js';
import { kernelsToHtml } from './kernels-table.js';
import { Cutter, levels } from './limits.js';
import type { Piece, Report, Section } from './sections.js';
import { style } from './style.js';
import { summaryToHtml } from './summary.js';

/** What the page is made with and this folder cannot have: files and hashes. */
export interface Assets {
  /** The text of Chart.js, as one script. */
  readonly chartJs: string;
  /** The flame graph, built for a browser. */
  readonly flame: { readonly script: string; readonly style: string };
  /** SHA-256 in base64, for the page's policy. */
  sha256(text: string): string;
  /** The tool and its version. */
  readonly madeBy: string;
}

export const DEFAULT_MAX_BYTES = 5e6;
const LINES_BEFORE_FIGURES = 2;

/** A page composed with ever smaller limits, until it fits. */
export function fitPage(
  compose: (cutter: Cutter) => Report,
  assets: Assets,
  maxBytes = DEFAULT_MAX_BYTES,
): string {
  let smallest = Infinity;
  for (const [level, limits] of levels.entries()) {
    const cutter = new Cutter(limits);
    const page = pageOf(compose(cutter), cutter, assets, level > 0 ? maxBytes : undefined);
    const size = new TextEncoder().encode(page).length;
    if (size <= maxBytes) return page;
    smallest = Math.min(smallest, size);
  }
  const needed = (Math.ceil(smallest / 1e4) / 100).toFixed(2);
  throw new UserError(
    'usage',
    `The report cannot be that small: the minimum is ${needed} MB.`,
    `Give --max-size ${needed} or more.`,
  );
}

export function pageOf(report: Report, cutter: Cutter, assets: Assets, cappedAt?: number): string {
  const sections = report.sections.map(section => sectionToHtml(section, cutter)).join('\n');
  const charts = report.sections.flatMap(({ pieces }) =>
    pieces.flatMap(piece => (piece.kind === 'chart' ? [chartData(piece.chart)] : [])),
  );
  const library = scriptText(assets.chartJs);
  const client = scriptText(chartClient);
  const flame = flameParts(report, assets);
  const policy = [
    "default-src 'none'",
    `script-src ${hashes([library, client, ...flame.scripts], assets)}`,
    `style-src ${hashes([style, ...flame.styles], assets)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const title = [report.answer?.lines[0], report.header?.lines[0]?.split(' · ')[0]]
    .filter(Boolean)
    .join(' · ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title || 'Stepscope report')}</title>
${[style, ...flame.styles].map(text => `<style>${text}</style>`).join('\n')}
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
${hatchPatterns()}
${headerToHtml(report, cutNote(cutter, cappedAt))}
<nav aria-label="Sections"><div class="wide"><ul>${report.sections.map(({ id, title }) => `<li><a href="#${elementId(id)}">${escapeHtml(title)}</a></li>`).join('')}</ul></div></nav>
<main id="main" class="wide">
${sections}
</main>
<footer><div class="wide">Made by ${escapeHtml(assets.madeBy)} from the files named above. This page loads no external resources.</div></footer>
<script type="application/json" id="report-data">${jsonForScript({ charts })}</script>
<script>${library}</script>
<script>${client}</script>${flame.markup}
</body>
</html>
`;
}

const hashes = (texts: readonly string[], { sha256 }: Assets) =>
  texts.map(text => `'sha256-${sha256(text)}'`).join(' ');

/** Only where there is a flame graph: script, style and data. */
function flameParts({ sections }: Report, assets: Assets) {
  const piece = sections.flatMap(({ pieces }) => pieces).find(({ kind }) => kind === 'flame');
  if (piece?.kind !== 'flame') return { scripts: [], styles: [], markup: '' };
  const script = scriptText(assets.flame.script);
  return {
    scripts: [script],
    styles: [assets.flame.style],
    markup: `\n${flameData(piece.flame)}\n<script>${script}</script>`,
  };
}

/** What may stand inside a script element: no end tag, no map to fetch, and line ends the parser will not change. */
function scriptText(text: string): string {
  return text
    .replaceAll('\r', '')
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
    .replace(/<(?=\/script|!--)/gi, '\\x3c');
}

function headerToHtml({ header, answer, summary }: Report, note: string): string {
  const facts = (header?.lines ?? [])
    .flatMap(line => line.split(' · '))
    .map(part => `<li>${escapeHtml(part)}</li>`)
    .join('');
  return `<header><div class="wide">
<div class="top"><span><b>Stepscope</b> report</span><button type="button" data-theme-toggle hidden>Dark theme</button></div>
<ul class="facts-line muted">${facts}</ul>
${answerToHtml(answer, summary)}${note}
</div></header>`;
}

/** Verdict, why, figures and actions; further sentences follow them in small print, so that these stay in sight. */
function answerToHtml(answer: StatementBlock | undefined, summary: PageSummary | undefined): string {
  const [first = 'Report', ...why] = answer?.lines ?? [];
  const lines = (of: readonly string[]) => of.map(line => `<p>${proseToHtml(line)}</p>`).join('');
  const before = summary ? why.slice(0, LINES_BEFORE_FIGURES) : why;
  const after = summary ? why.slice(LINES_BEFORE_FIGURES) : [];
  return `<h1>${proseToHtml(first)}</h1><div class="why">${lines(before)}</div>${summary ? summaryToHtml(summary) : ''}${after.length > 0 ? `<div class="why small">${lines(after)}</div>` : ''}`;
}

function cutNote({ rows, points, texts, limits }: Cutter, cappedAt: number | undefined): string {
  if (cappedAt === undefined) return '';
  const what = [
    rows > 0 && `tables to ${limits.rows} rows`,
    points > 0 && `charts to ${limits.points} points`,
    texts > 0 && `names to ${limits.text} characters`,
  ].filter(Boolean);
  return `<p class="cut">Truncated to stay under ${Number((cappedAt / 1e6).toFixed(2))} MB: ${what.join(', ')}. --json has everything.</p>`;
}

function sectionToHtml({ id, title, pieces, appendix }: Section, cutter: Cutter): string {
  const name = elementId(id);
  const parts: string[] = [];
  pieces.forEach((piece, i) => {
    const markup = pieceToHtml(piece, title, cutter);
    // Small charts of one kind stand side by side where there is room.
    const isSmall = (other: Piece | undefined) => other?.kind === 'chart' && id === 'kernels';
    const opens = isSmall(piece) && !isSmall(pieces[i - 1]) && isSmall(pieces[i + 1]);
    const closes = isSmall(piece) && isSmall(pieces[i - 1]) && !isSmall(pieces[i + 1]);
    parts.push(`${opens ? '<div class="columns">' : ''}${markup}${closes ? '</div>' : ''}`);
  });
  const heading = `<h2 id="${name}-title">${escapeHtml(title)}</h2>`;
  const body = parts.join('\n');
  return appendix
    ? `<section id="${name}" class="appendix" aria-labelledby="${name}-title"><details><summary>${heading}</summary>${body}</details></section>`
    : `<section id="${name}" aria-labelledby="${name}-title">${heading}${body}</section>`;
}

function pieceToHtml(piece: Piece, under: string, cutter: Cutter): string {
  switch (piece.kind) {
    case 'block':
      return blockToHtml(piece.block, under);
    case 'chart':
      return chartToHtml(piece.chart, piece.figures);
    case 'flame':
      return flameToHtml(piece.figures);
    case 'kernels':
      return kernelsToHtml(piece.rows, piece.distinct, cutter);
    case 'folded':
      return `<details class="folded"><summary><h3>${escapeHtml(piece.title)}</h3> <span class="muted">${escapeHtml(piece.about)}</span></summary>${piece.blocks.map(block => blockToHtml(block, piece.title)).join('')}</details>`;
  }
}
