/** Where the evidence of a finding is to be seen: stretches of the timeline, or a search. */
import type { Finding } from '../analyze/findings/finding.js';
import { nameQuery } from '../analyze/row-places.js';
import { HOST_CAUSES } from '../catalog/host-causes.js';
import type { TimelineDocument } from '../timeline/wire.js';
import type { Highlight } from './state.js';
import { medianStep } from './strip/choose-step.js';
import { phaseOf } from './strip/step-words.js';

/** More outlines than this are a pattern, not evidence. */
const MOST = 500;

interface EvidencePlaces {
  /** Stretches and steps that the evidence names. */
  readonly highlights: readonly Highlight[];
  /** Finds what the finding is about: gaps of a cause, a kernel, a family, a call. */
  readonly query: string | null;
  /** What to bring into view: the first place named, else the typical step of the phase. */
  readonly view: Highlight | null;
}

const hostWork = `cause:${HOST_CAUSES.join(',')}`;

/** What the rules are about, where it is a cause of idle time or a family of kernels. */
const subjects: Readonly<Record<string, string>> = {
  'launch-overhead': 'cause:launch-bound',
  'launch-stall': 'cause:launch-bound',
  'partial-graphs': 'cause:launch-bound',
  'graphs-in-pieces': 'cause:launch-bound',
  'garbage-collection': 'cause:garbage-collection',
  'gil-contention': 'cause:gil',
  'steady-allocations': 'cause:allocation',
  'sync-in-decode': 'cause:synchronisation',
  'blocking-in-layers': 'cause:synchronisation',
  'exposed-host-work': hostWork,
  'host-work-in-step': hostWork,
  'page-faults': hostWork,
  'lost-cpu': hostWork,
  'cpu-contention': hostWork,
  'core-migrations': hostWork,
  'profiler-overhead': 'cause:profiler-overhead',
  'exposed-communication': 'family:communication',
  'waiting-for-slowest-rank': 'family:communication',
  'rank-skew': 'family:communication',
  'link-bound': 'family:copy',
  'tiny-copies': 'family:copy',
  'pageable-copies': 'family:copy',
  'unfused-elementwise': 'family:elementwise',
  'unfused-attention': 'family:elementwise',
  concatenation: 'family:elementwise',
  'costly-sampling': 'family:sampling',
  'graph-kernels-hidden': 'track:stream family:graph-block',
  'low-utilisation': 'track:"idle, by cause"',
};

/** Where each rank is a row, these are parts of it. */
const partsOfRanks: Readonly<Record<string, string>> = {
  'exposed-communication': 'exposed communication',
  'waiting-for-slowest-rank': 'waiting for the last rank',
  'rank-skew': 'waiting for the last rank',
  'pipeline-waiting': 'waiting for the last rank',
};

function subjectOf(id: string, { tracks }: TimelineDocument): string | undefined {
  const part = partsOfRanks[id];
  const isRows = tracks.some(track => track.isSummary);
  // Their names all end with the GPU.
  return part && isRows ? `track:gpu ${nameQuery(part)}` : subjects[id];
}

/** Windows first, then the steps named; where evidence names neither, the typical step of the phase, or the one chosen. */
export function evidencePlaces(
  finding: Finding,
  document: TimelineDocument,
  chosen: number | null = null,
): EvidencePlaces {
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
  const query = subjectOf(finding.id, document) ?? queries[0] ?? null;
  const typical = typicalStep(finding, document, chosen);
  // Without a place or a name of its own, the step itself is what there is to see.
  if (highlights.length === 0 && !query && typical) highlights.push(typical);
  return { highlights: highlights.slice(0, MOST), query, view: highlights[0] ?? typical };
}

/** Whether there is anything to see: a capture of the wrong process has no place for what is wrong with it. */
export const isSomewhere = ({ query, view }: EvidencePlaces): boolean => query !== null || view !== null;

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

/** The chosen step if it is of the phase, else the median of the phase. */
function typicalStep(
  { phase }: Finding,
  { steps, palettes }: TimelineDocument,
  chosen: number | null,
): Highlight | null {
  const wanted = palettes.phase.findIndex(look => look.id === phase);
  if (phase === null || wanted < 0) return null;
  const like = steps.phase.indexOf(wanted);
  const step =
    chosen !== null && steps.phase[chosen] === wanted ? chosen : like < 0 ? -1 : medianStep(steps, like);
  return step < 0 ? null : stepHighlight(step, { steps, palettes });
}

function stepHighlight(
  step: number,
  { steps, palettes }: Pick<TimelineDocument, 'steps' | 'palettes'>,
): Highlight {
  return {
    fromNs: steps.startNs[step],
    toNs: steps.endNs[step],
    label: [`iteration ${steps.iteration[step]}`, phaseOf({ steps, palettes }, step)]
      .filter(Boolean)
      .join(', '),
  };
}
