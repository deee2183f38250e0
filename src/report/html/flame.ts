/** The flame graph of the host in a page: its data, its place, and the same tree as a table. */
import type { Analyzer } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import { hostBlocks } from '../../analyze/host-code/describe-host.js';
import { type FlameDocument, flameDocument } from '../../analyze/host-code/flame-document.js';
import { hostCode } from '../../analyze/host-code/host-code.js';
import { hostProfile } from '../../analyze/host-code/host-profile.js';
import { hintForNames } from '../../analyze/host-code/names-hint.js';
import { blockToHtml } from './blocks.js';
import { jsonForScript } from './escape.js';
import type { Cutter } from './limits.js';
import type { Piece } from './sections.js';

/** Of the whole; a table of everything would be no table. */
const LISTED_SHARE = 0.02;

/** None where nothing of the host was recorded. */
export function flamePieces(analyzer: Analyzer, cutter: Cutter): Piece[] {
  if (analyzer.run(hostCode).status !== 'ok') return [];
  const found = hostProfile(analyzer, { weight: 'idle', inverted: false, leastShare: LISTED_SHARE });
  const flame = flameDocument(analyzer, cutter.limits.nodes);
  const isEmpty = Object.values(flame.weights).every(({ selfNs }) => selfNs.every(ns => ns === 0));
  if (isEmpty) return [];
  const [answer, ...tables] = hostBlocks(found, hintForNames(analyzer.profile, found));
  return [
    { kind: 'block', block: cutter.block(answer) },
    { kind: 'flame', flame, figures: tables.map(block => cutter.block(block)) },
  ];
}

export function flameToHtml(figures: readonly Block[]): string {
  const table =
    figures.length > 0
      ? `<details><summary>The call tree as a table</summary>${figures.map(block => blockToHtml(block)).join('')}</details>`
      : '';
  return `<figure><figcaption><h3>Flame graph of the host</h3><p class="muted">Each box is a function, as wide as its time. Click to zoom, Escape to go back.</p></figcaption><div data-flame></div>${table}</figure>`;
}

export const flameData = (flame: FlameDocument): string =>
  `<script type="application/json" id="flame-data">${jsonForScript(flame)}</script>`;
