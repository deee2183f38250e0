/** What `stepscope frameworks --json` prints, declared: how frameworks compare, why, and whether that is fair. */
import {
  anyObject,
  choice,
  count,
  document,
  flag,
  integer,
  list,
  mapOf,
  number,
  object,
  optional,
  orNull,
  pair,
  string,
} from '../../base/document.js';
import type { BenchRun } from '../../model/bench-run.js';
import { missingSchema, phaseFiguresSchema, phaseIds, readingSchema } from '../../run/document.js';
import { tokenParts } from '../../run/token-budget.js';

const phase = choice(phaseIds, 'of the steps');

/** How it was profiled. */
const capture = object({
  files: list(string(), 'base names'),
  profiler: string('name and version'),
  gpu: orNull(string('name of the GPUs with work')),
  gpusWithWork: count('GPUs with work in the capture'),
  driver: orNull(string('version')),
  graphMode: choice(['none', 'nodes', 'blocks'], 'how CUDA graphs appear in the capture'),
  engine: orNull(string('whose step markers were found')),
  stepsFoundBy: orNull(string('marker, graph-launches or kernel-sequence')),
  steps: count('in the capture'),
  selectedSteps: count('counted in the figures'),
  steadySteps: count('of those, in the steady state'),
  layers: orNull(integer('marked, or by the repeating pattern')),
  layersGuessed: flag('by a repeating pattern, which may span two layers'),
});

const bench = object({
  loads: count('different loads in the files'),
  runs: list(
    object({
      source: anyObject<BenchRun['source']>(),
      label: optional(string('name given by the author')),
      tool: string('benchmark tool'),
      framework: optional(string('as printed')),
      frameworkVersion: optional(string('as printed')),
      model: optional(string('as printed')),
      load: anyObject<BenchRun['load']>('as in stepscope-bench/1'),
    }),
    'runs at the compared load',
  ),
});

const framework = object({
  name: string('as in CONFIG'),
  notes: orNull(string('as in CONFIG')),
  capture: orNull(capture),
  bench: orNull(bench),
  measured: mapOf(readingSchema, 'figures of the benchmark, means over its runs'),
  gpus: orNull(integer('GPUs the engine ran on')),
  model: orNull(string('the model, as stated in CONFIG')),
  phases: list(phaseFiguresSchema, 'phases in the capture'),
  why: orNull(missingSchema, 'why there are no phases'),
});

/** Pearson's and Spearman's are null where a figure does not vary; chance is, where there are too many orders. */
export const correlationSchema = object({
  points: count('frameworks with both figures'),
  pearson: orNull(number('linear, −1 to 1')),
  spearman: orNull(number('of the ranks, −1 to 1')),
  chance: orNull(number('share of all orderings that correlate at least this closely')),
  warning: string('how much the correlation proves'),
});

const ranked = list(object({ name: string('framework'), value: number('in base units') }), 'best first');

const speed = object({
  measure: string('figure of the benchmark'),
  perGpu: flag('divided by GPUs, because their number differs'),
  label: string('readable label'),
  ranked,
  // `proven` is beyond what repeats differ by, `unproven` has no repeats.
  lead: orNull(choice(['proven', 'within-noise', 'unproven'], 'of the first relative to the second')),
});

/** From the fastest to the slowest profiled. */
const why = object({
  from: string('framework with the least time per token'),
  to: string('framework with the most time per token'),
  changeNs: number('per token (nanoseconds)'),
  terms: list(
    object({ part: choice(tokenParts, 'of the equation'), changeNs: number('nanoseconds') }),
    'the terms sum to changeNs',
  ),
  stepInterval: orNull(
    pair(number(), '95% confidence interval of the step time change (nanoseconds); null: too few steps'),
  ),
});

/** `unfair`: another question was asked. `reservations`: the same one, measured less well, or not all is known. */
export const verdictSchema = object({
  fairness: choice(['fair', 'reservations', 'unfair'], 'unfair: no framework is declared faster'),
  speed: orNull(speed),
  // Wall time and kernel time per token in the profiles.
  profiled: ranked,
  kernels: ranked,
  why: orNull(why),
  lines: list(string(), 'readable answer'),
});

/** Frameworks that have both a per-token time and a measured throughput. */
export const throughputSchema = object({
  measure: orNull(string('benchmark metric used for ranking')),
  label: orNull(string('readable label')),
  points: list(
    object({
      name: string('framework'),
      kernelNsPerToken: number('nanoseconds'),
      wallNsPerToken: number('nanoseconds'),
      throughput: number('per second'),
    }),
    'frameworks with both figures',
  ),
  byKernels: correlationSchema,
  byWall: correlationSchema,
});

export const frameworksSchema = document(
  'stepscope-frameworks/1',
  'Frameworks',
  'Output of stepscope frameworks --json: how frameworks compare, why, and whether the comparison is fair.',
  {
    title: orNull(string('as in CONFIG')),
    frameworks: list(framework, 'in the order of CONFIG'),
    phase: orNull(phase, 'compared phase'),
    checks: list(
      object({
        id: string('of the check'),
        label: string('readable label'),
        status: choice(['same', 'differs', 'unknown'], 'unknown unless all state it'),
        effect: choice(['prevents', 'weakens', 'explains'], 'effect of a difference on the verdict'),
        values: list(orNull(string()), 'per framework; null: not stated'),
        why: string('what a difference means'),
      }),
      'whether the workloads are the same',
    ),
    throughput: throughputSchema,
    verdict: verdictSchema,
  },
);
