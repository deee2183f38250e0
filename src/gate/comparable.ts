/**
 * Whether a run may be held against its baseline. A figure of another GPU, another batch or another model is not
 * better or worse, it is about something else.
 */
import { UserError } from '../base/user-error.js';
import type { Phase } from '../catalog/phases.js';
import type { Run } from '../run/run.js';
import { samenessOf } from '../run/sameness.js';

/** What `--allow-different` may be told to let pass. */
export const differenceKinds = [
  { id: 'gpu', about: 'name of the GPU' },
  { id: 'gpus', about: 'number of GPUs in use' },
  { id: 'engine', about: 'engine, from its step markers' },
  { id: 'steps', about: 'how steps were identified' },
  { id: 'profiler', about: 'profiler that recorded the run' },
  { id: 'graphs', about: 'CUDA graph tracing: by node, as blocks, none' },
  { id: 'phases', about: 'a phase with a limit is missing on one side' },
  { id: 'batch', about: 'requests decoding, or tokens prefilled, per step' },
  { id: 'model', about: 'layers of the model' },
  { id: 'load', about: 'model, lengths, concurrency, rate or number of requests of the benchmark' },
] as const;

export type DifferenceKind = (typeof differenceKinds)[number]['id'];

export function readDifferenceKinds(names: readonly string[]): DifferenceKind[] {
  return names.map(name => {
    const known = differenceKinds.find(({ id }) => id === name);
    if (known) return known.id;
    throw new UserError(
      'usage',
      `${JSON.stringify(name)} is not a known kind of difference.`,
      `--allow-different takes: ${differenceKinds.map(({ id }) => id).join(', ')}`,
    );
  });
}

export interface Obstacle {
  readonly kind: DifferenceKind;
  readonly run: string;
  readonly baseline: string;
  /** One sentence. */
  readonly text: string;
  /** Told to be let pass. */
  readonly allowed: boolean;
}

/** What keeps two runs from being compared, for the phases that matter. What one side does not say is not judged. */
export function obstaclesOf(
  run: Run,
  baseline: Run,
  phases: readonly Phase[],
  allow: readonly DifferenceKind[] = [],
): Obstacle[] {
  return samenessOf('check', [[run], [baseline]], phases).flatMap(
    ({ status, effect, label, values, kind }) => {
      if (status !== 'differs' || effect !== 'prevents') return [];
      const [ours, theirs] = values.map(String);
      return [
        {
          kind: kind as DifferenceKind,
          run: ours,
          baseline: theirs,
          text: `different ${label}: ${ours}, baseline ${theirs}`,
          allowed: allow.includes(kind as DifferenceKind),
        },
      ];
    },
  );
}

/** What differs and may move figures, but is often the very change under test; and what could not be judged. */
export function remarksOn(run: Run, baseline: Run, phases: readonly Phase[]): string[] {
  const all = samenessOf('check', [[run], [baseline]], phases);
  const unsaid = all.filter(
    ({ status, effect, values }) =>
      status === 'unknown' && effect === 'prevents' && values.some(value => value !== null),
  );
  // A benchmark beside the profile says the load.
  const isLoadKnown = [run, baseline].every(({ facts }) => facts.load !== undefined);
  const unsized = phases.filter(
    phase =>
      !isLoadKnown &&
      [run, baseline].every(({ facts }) => {
        const known = facts.phases[phase];
        return known && known.batch === null && known.contextTokens === null;
      }),
  );
  return [
    ...(unsized.length > 0
      ? [
          `the batch of ${unsized.join(', ')} steps is not recorded: a different load would look like a change`,
        ]
      : []),
    ...all
      .filter(({ status, effect }) => status === 'differs' && effect === 'explains')
      .map(({ label, values: [ours, theirs] }) => `${label}: ${ours}, baseline ${theirs}`),
    ...(unsaid.length > 0
      ? [`not checked because unknown on a side: ${unsaid.map(({ label }) => label).join(', ')}`]
      : []),
  ];
}
