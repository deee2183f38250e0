/** The verdict on a pair with and without the perfect router, declared. */
import {
  choice,
  document,
  fieldsOf,
  integer,
  list,
  number,
  object,
  orNull,
  pair,
  string,
} from '../../base/document.js';
import type { Phase } from '../../catalog/phases.js';

const evidence = object({
  source: choice(['benchmark', 'profile']),
  measure: string('what was measured'),
  kind: choice(['rate', 'ns'], 'per second, or nanoseconds'),
  phase: orNull(string<Phase>('of the steps; null for a benchmark')),
  normal: number('mean with the learned router'),
  perfect: number('mean with the perfect router'),
  gain: number('throughput increase with the perfect router'),
  interval: orNull(
    pair(number(), '95% confidence interval of the gain'),
    'from repeats, or from the steps; null: unknown',
  ),
  samples: pair(integer(), 'runs or steps on each side'),
});

const perStep = 'mean per step (nanoseconds)';

/** Parts of a step, which sum to the mean step. */
export const meansSchema = object(
  fieldsOf(number, {
    compute: perStep,
    communication: perStep,
    copies: perStep,
    // Idle while the device waits for other devices or itself.
    deviceWait: perStep,
    otherIdle: perStep,
  }),
);

const parts = object({
  phase: string<Phase>('of the steps'),
  normalNs: meansSchema,
  perfectNs: meansSchema,
  gpuGain: number('gain if only kernels, communication and device waits had changed'),
  // What routing does to the GPU, however long the host takes.
  routedGain: number('gain in that time alone'),
  hostShare: number('share of the normal step in which the GPU waits, but not for another GPU (0 to 1)'),
});

export const perfectRouterSchema = document(
  'stepscope-perfect-router/1',
  'Perfect router',
  'Whether uneven expert routing is the bottleneck, from a pair of runs with and without it.',
  {
    files: object({ normal: list(string(), 'as given'), perfect: list(string(), 'as given') }),
    threshold: number('gain above which routing is the bottleneck'),
    conclusion: choice([
      'similar',
      'small-gain',
      'bottleneck',
      'slower',
      'inconclusive',
      'contradictory',
      'not-comparable',
    ]),
    confidence: choice(['certain', 'likely', 'possible'], 'single runs: possible'),
    main: orNull(evidence, 'what the conclusion rests on'),
    evidence: list(evidence, 'all figures present on both sides'),
    parts: list(parts, 'where the step changed'),
    checks: list(
      object({
        id: string('of the check'),
        label: string('readable label'),
        status: choice(['same', 'differs', 'unknown']),
        normal: orNull(string('null: missing')),
        perfect: orNull(string('null: missing')),
      }),
      'whether only the router changed',
    ),
    contradiction: orNull(string('why the data contradict each other')),
    // On one GPU, GPUs cannot wait for each other.
    gpus: orNull(integer('of the normal run')),
    lines: list(string(), 'readable verdict'),
  },
);
