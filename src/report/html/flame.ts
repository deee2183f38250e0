/** The flame graph of the host in a page: its data, its place, and the same tree as a table. */
import type { Analyzer } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import { hostBlocks } from '../../analyze/host-code/describe-host.js';
import { type FlameDocument, flameDocument } from '../../analyze/host-code/flame-document.js';
import { hostCode } from '../../analyze/host-code/host-code.js';
import { hostProfile } from '../../analyze/host-code/host-profile.js';
import { hintForNames } from '../../analyze/host-code/names-hint.js';
import { blockToHtml } from './blocks.js';
import { jsonForScript, withVisibleMarks } from './escape.js';
import type { Cutter } from './limits.js';

/** Of the whole; a table of everything would be no table. */
const LISTED_SHARE = 0.02;

interface HostFlame {
  readonly answer: Block;
  readonly flame: FlameDocument;
  /** The call tree as a table. */
  readonly figures: readonly Block[];
}

/** undefined: nothing of the host was recorded. */
export function hostFlame(analyzer: Analyzer, cutter: Cutter): HostFlame | undefined {
  if (analyzer.run(hostCode).status !== 'ok') return undefined;
  const flame = flameDocument(analyzer, cutter.limits.nodes);
  const isEmpty = Object.values(flame.weights).every(({ selfNs }) => selfNs.every(ns => ns === 0));
  if (isEmpty) return undefined;
  const found = hostProfile(analyzer, { weight: 'idle', inverted: false, leastShare: LISTED_SHARE });
  const [answer, ...figures] = hostBlocks(found, hintForNames(analyzer.profile, found));
  return {
    answer: cutter.block(answer),
    flame: withShortNames(flame, cutter),
    figures: figures.map(block => cutter.block(block)),
  };
}

/** Names come from strangers: the page's script takes them from its data, not through its markup. */
function withShortNames(flame: FlameDocument, cutter: Cutter): FlameDocument {
  const cut = (text: string) => withVisibleMarks(cutter.text(text));
  const names = flame.names.map(({ text, file, group }) => ({
    text: cut(text),
    ...(file === undefined ? {} : { file: cut(file) }),
    group,
  }));
  const groups = flame.groups.map(group => ({ ...group, id: cut(group.id), label: cut(group.label) }));
  return { ...flame, names, groups };
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
