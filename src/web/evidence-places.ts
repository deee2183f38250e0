/** Where the evidence of a finding is to be seen: stretches of the timeline, or a search. */
import type { Finding } from '../analyze/findings/finding.js';
import { nameQuery } from '../analyze/row-places.js';
import type { TimelineDocument } from '../timeline/wire.js';
import type { Highlight } from './state.js';

/** More outlines than this are a pattern, not evidence. */
const MOST = 500;

interface EvidencePlaces {
  readonly highlights: readonly Highlight[];
  /** Finds what the evidence names: a kernel, a family, a call. */
  readonly query: string | null;
}

/** Windows first, then the steps named, then a search; where evidence names nothing, the steps of the phase. */
export function evidencePlaces(finding: Finding, document: TimelineDocument): EvidencePlaces {
  const highlights: Highlight[] = [];
  const queries: string[] = [];
  for (const { text, window, rows = [] } of finding.evidence) {
    if (window) highlights.push({ fromNs: window.startNs, toNs: window.endNs, label: text });
    for (const key of rows) {
      const step = stepOf(key, document);
      if (step >= 0) highlights.push(stepHighlight(step, document));
      const query = queryOf(key);
      if (query) queries.push(query);
    }
  }
  if (highlights.length === 0 && queries.length === 0) highlights.push(...phaseSteps(finding, document));
  return { highlights: highlights.slice(0, MOST), query: queries[0] ?? null };
}

/** `iteration:12@3` is the step at position 3; what follows a slash says which part of it. */
function stepOf(key: string, { steps }: TimelineDocument): number {
  const found = /^iteration:(-?\d+)@(\d+)(?:\/|$)/.exec(key);
  const position = found ? Number(found[2]) : -1;
  return position < steps.length && steps.iteration[position] === Number(found?.[1]) ? position : -1;
}

function queryOf(key: string): string | null {
  if (key.startsWith('kernel:')) return nameQuery(key.slice('kernel:'.length));
  if (/^family:[a-z-]+$/.test(key)) return key;
  const call = /(?:^|\/)call:(.+)$/.exec(key);
  return call ? nameQuery(call[1]) : null;
}

function phaseSteps({ phase }: Finding, { steps, palettes }: TimelineDocument): Highlight[] {
  const wanted = palettes.phase.findIndex(look => look.id === phase);
  if (phase === null || wanted < 0) return [];
  const places = steps.phase.flatMap((own, i) => (own === wanted ? [i] : []));
  const steady = places.filter(i => steps.state[i] === 'steady');
  return (steady.length > 0 ? steady : places).slice(0, MOST).map(i => stepHighlight(i, { steps, palettes }));
}

function stepHighlight(
  step: number,
  { steps, palettes }: Pick<TimelineDocument, 'steps' | 'palettes'>,
): Highlight {
  const phase = palettes.phase[steps.phase[step]]?.label ?? '';
  return {
    fromNs: steps.startNs[step],
    toNs: steps.endNs[step],
    label: `iteration ${steps.iteration[step]}, ${phase}`,
  };
}
