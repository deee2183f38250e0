/**
 * Whether two runs may be held against each other. A figure of another GPU, another batch or another model is not
 * better or worse, it is about something else.
 */
import { formatCount } from '../base/units.js';
import { benchSettings } from '../catalog/bench-metrics.js';
import type { Phase } from '../catalog/phases.js';
import type { PhaseFacts, RunFacts } from './run-facts.js';

export const differenceKinds = [
  { id: 'gpu', about: 'name of the GPU' },
  { id: 'gpus', about: 'number of GPUs with work' },
  { id: 'engine', about: 'engine whose markers were found' },
  { id: 'steps', about: 'how steps were told apart' },
  { id: 'profiler', about: 'tool that recorded the run' },
  { id: 'graphs', about: 'CUDA graphs: by node, as blocks, none' },
  { id: 'phases', about: 'a phase that a limit is about is missing on one side' },
  { id: 'batch', about: 'requests decoding, or tokens prefilled, per step' },
  { id: 'model', about: 'layers of the model' },
  { id: 'load', about: 'model, lengths, concurrency, rate or number of requests of the benchmark' },
] as const;

export type DifferenceKind = (typeof differenceKinds)[number]['id'];

export interface Difference {
  readonly kind: DifferenceKind;
  readonly run: string;
  readonly baseline: string;
  /** One sentence. */
  readonly text: string;
  /** Told to be let pass. */
  readonly allowed: boolean;
}

/** Batches move a little from step to step; beyond this the work is another. */
const SAME_BATCH = 0.1;

const graphWords = { nodes: 'recorded by node', blocks: 'recorded as blocks', none: 'none' } as const;

/** What keeps two runs from being compared, for the phases that matter. What one side does not say is not judged. */
export function differencesOf(
  run: RunFacts,
  baseline: RunFacts,
  phases: readonly Phase[],
  allow: readonly DifferenceKind[] = [],
): Difference[] {
  const found: Difference[] = [];
  const add = (kind: DifferenceKind, what: string, ours: string, theirs: string) => {
    const text = `other ${what}: ${ours}, the baseline ${theirs}`;
    found.push({ kind, run: ours, baseline: theirs, text, allowed: allow.includes(kind) });
  };
  const compare = (kind: DifferenceKind, what: string, ours: string | null, theirs: string | null) => {
    if (ours !== null && theirs !== null && ours !== theirs) add(kind, what, ours, theirs);
  };
  compare('gpu', 'GPU', run.gpu, baseline.gpu);
  compare('gpus', 'number of GPUs', String(run.gpus), String(baseline.gpus));
  compare('engine', 'engine', run.engine, baseline.engine);
  compare('steps', 'way of telling steps', run.stepsFoundBy, baseline.stepsFoundBy);
  compare('profiler', 'profiler', run.profiler, baseline.profiler);
  compare('graphs', 'CUDA graphs', graphWords[run.graphs], graphWords[baseline.graphs]);
  for (const phase of phases) {
    const [ours, theirs] = [run.phases[phase], baseline.phases[phase]];
    if (ours && theirs) comparePhase(phase, ours, theirs, add);
    else if (ours || theirs)
      add(
        'phases',
        'phases',
        ours ? `has ${phase} steps` : `has no ${phase} steps`,
        theirs ? 'has' : 'has not',
      );
  }
  for (const { id, label, tolerance = 0 } of benchSettings) {
    const [ours, theirs] = [run.load?.[id], baseline.load?.[id]];
    if (ours === undefined || theirs === undefined || ours === theirs) continue;
    const isNear =
      typeof ours === 'number' &&
      typeof theirs === 'number' &&
      Math.abs(ours - theirs) <= tolerance * Math.max(ours, theirs);
    if (!isNear) add('load', label, String(ours), String(theirs));
  }
  if (run.model && baseline.model && run.model.layers !== baseline.model.layers) {
    const words = ({ layers, kernelsPerLayer }: NonNullable<RunFacts['model']>) =>
      `${layers} layers of ${kernelsPerLayer} kernels`;
    const total = ({ layers, kernelsPerLayer }: NonNullable<RunFacts['model']>) => layers * kernelsPerLayer;
    // Two layers that alternate may be found as one repetition: the stretch that repeats is then as long.
    if (total(run.model) !== total(baseline.model))
      add('model', 'model structure', words(run.model), words(baseline.model));
  }
  return found;
}

function comparePhase(
  phase: Phase,
  ours: PhaseFacts,
  theirs: PhaseFacts,
  add: (kind: DifferenceKind, what: string, ours: string, theirs: string) => void,
): void {
  const compare = (what: string, a: number | null, b: number | null) => {
    if (a === null || b === null || Math.abs(a - b) <= SAME_BATCH * Math.max(a, b)) return;
    add('batch', `${what} in ${phase}`, formatCount(a), formatCount(b));
  };
  compare('batch', ours.batch, theirs.batch);
  compare('tokens prefilled per step', ours.contextTokens, theirs.contextTokens);
}

/** What differs and may move figures, but is often the very change under test. */
export function remarksOn(run: RunFacts, baseline: RunFacts): string[] {
  const remarks: string[] = [];
  const compare = (what: string, ours: string | number | null, theirs: string | number | null) => {
    if (ours !== null && theirs !== null && ours !== theirs)
      remarks.push(`${what}: ${ours}, the baseline ${theirs}`);
  };
  compare('driver', run.driver, baseline.driver);
  if (run.profiler === baseline.profiler)
    compare('version of the profiler', run.profilerVersion, baseline.profilerVersion);
  if (run.model && baseline.model && run.model.layers === baseline.model.layers)
    compare('kernels per layer', run.model.kernelsPerLayer, baseline.model.kernelsPerLayer);
  const unsaid = (['gpu', 'engine', 'model'] as const).filter(
    name => (run[name] === null) !== (baseline[name] === null),
  );
  if (unsaid.length > 0) remarks.push(`not judged, one side does not say: ${unsaid.join(', ')}`);
  return remarks;
}
