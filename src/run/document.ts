/** What documents about runs have in common, declared once: facts, figures, budgets, differences. */
import {
  byName,
  choice,
  count,
  either,
  fieldsOf,
  flag,
  list,
  mapOf,
  nothing,
  number,
  object,
  only,
  optional,
  orNull,
  string,
  stringOrNumber,
} from '../base/document.js';
import { phases } from '../catalog/phases.js';
import type { ProfilerKind } from '../model/profile.js';

export const phaseIds = phases.map(({ id }) => id);

/** What a run was, as far as that decides whether it may be held against another. null: it does not say. */
export const runFactsSchema = object({
  gpu: orNull(string()),
  // With work: a stream that nothing ran on is no GPU that took part.
  gpus: number(),
  engine: orNull(string()),
  // How steps were told apart: figures per step mean something else otherwise.
  stepsFoundBy: orNull(string()),
  profiler: string<ProfilerKind | 'none'>(),
  profilerVersion: orNull(string()),
  // Of the GPU driver itself; the version of CUDA it speaks is another fact.
  driver: orNull(string()),
  graphs: choice(['nodes', 'blocks', 'none']),
  model: orNull(
    object({
      ...{ layers: number(), kernelsPerLayer: number(), otherKernels: number() },
      // A pattern may span two layers or miss one.
      guessed: optional(only(true, 'inferred from the repeating kernel pattern')),
    }),
  ),
  // By setting: `inputTokens`, `maxConcurrency` …; what the tool did not print is absent.
  load: optional(mapOf(stringOrNumber(), 'benchmark load, where known')),
  // Of the steps that were counted: part of the wall time of all steps, and medians.
  phases: byName(
    phaseIds,
    object({
      ...{ steps: number(), timeShare: number() },
      ...{ batch: orNull(number()), contextTokens: orNull(number()) },
    }),
  ),
});

/** By phase and of the whole run, then by metric. */
export const figuresSchema = byName(
  [...phaseIds, 'run'],
  mapOf(object({ value: number(), error: optional(number()) })),
  'per phase and for the run; base units; error: standard error over the steps',
);

export const missingSchema = object({
  value: nothing(),
  what: string('what was not recorded'),
  hint: string('how to record it'),
});

/** A figure that was measured, or what is missing. */
export const readingSchema = either([
  object({ value: number('in base units'), note: optional(string('how to read it')) }),
  missingSchema,
]);

const ofWindows = 'whole nanoseconds over all windows';

export const tokenBudgetSchema = object({
  steps: count('steps whose tokens are known'),
  stepsWithoutTokens: count('steps of the phase that were excluded'),
  // A step's tokens count once per device, as its time does.
  tokens: count('once per step and device'),
  windows: count('steps times devices'),
  wallNs: number('the sum of partsNs, exactly (nanoseconds)'),
  partsNs: object(
    fieldsOf(number, {
      kernels: ofWindows,
      communication: ofWindows,
      copies: ofWindows,
      host: ofWindows,
      otherIdle: ofWindows,
    }),
  ),
  // Idle time cannot be seen in it.
  graphReplayNs: number('part of kernels: graph replays recorded as blocks (nanoseconds)'),
});

/** A phase of one framework. */
export const phaseFiguresSchema = object({
  phase: choice(phaseIds, 'of the steps'),
  wallNs: number('of the selected steps (nanoseconds)'),
  batch: orNull(number('median requests per step; prompt tokens in prefill')),
  precision: orNull(string('data type with the most GEMM time')),
  budget: either([tokenBudgetSchema, missingSchema]),
  figures: mapOf(readingSchema),
  families: either([
    list(
      object({
        family: string('see docs/kernel-families.md'),
        nsPerToken: number('sum of durations divided by tokens (nanoseconds)'),
        kernelsPerStep: number('per step and device'),
      }),
      'most time first',
    ),
    missingSchema,
  ]),
});

const sample = object({
  mean: number('over the runs'),
  runs: number('runs that printed it'),
  stddev: optional(number('of the runs')),
});

/** What changed between two benchmarks. */
export const benchDifferenceSchema = object({
  // Settings that no file states are listed, not assumed equal.
  comparable: flag('whether no difference prevents a comparison'),
  settings: list(
    object({
      id: string('setting'),
      label: string('in words'),
      // `unstated`: a side does not say; it is absent below.
      effect: choice(['prevents', 'explains', 'unstated']),
      before: optional(string('of the first')),
      after: optional(string('of this run')),
    }),
    'settings that differ or are missing',
  ),
  metrics: list(
    object({
      id: string('metric'),
      header: string('as in the table'),
      kind: choice(['rate', 'ns']),
      better: choice(['higher', 'lower']),
      before: sample,
      after: sample,
      change: number('after / before − 1'),
      // Absent without repeats.
      noise: optional(number('run-to-run noise as a share of before')),
      verdict: choice(['better', 'worse', 'within-noise', 'unproven']),
    }),
    'figures present on both sides',
  ),
  warnings: list(
    object({
      code: string<'single-runs' | 'few-runs' | 'errors' | 'not-comparable' | 'several-tools'>('kind'),
      text: string('sentence'),
    }),
    'caveats',
  ),
});
