/** What the gate reads and writes, declared; published in docs/schemas. */
import {
  byName,
  choice,
  document,
  flag,
  list,
  number,
  object,
  only,
  orNull,
  sparse,
  string,
  stringOrNumber,
  titled,
} from '../base/document.js';
import { figuresSchema, phaseIds, runFactsSchema } from '../run/document.js';
import { metrics } from '../run/metrics.js';
import { BASELINES_FORM, MOST_RUNS } from './baselines.js';
import { differenceKinds } from './comparable.js';
import { limitKinds } from './policy.js';

const kind = choice(differenceKinds.map(({ id }) => id));
const limitKind = choice(limitKinds);
const severity = choice(['fail', 'warn']);
const unit = choice(['ns', 'share', 'count', 'bytes', 'per-second']);
const better = choice(['lower', 'higher']);
const phase = choice(phaseIds);
const ifNotRecorded = choice(['fail', 'skip']);

const [absolute, relative] = [
  'a value with its unit: 5ms, 12%, 0.9, 16GB, 1200/s',
  'relative to the baseline: 3%, or a value with its unit; for shares, percentage points: 2pp',
];

const policyLimit = object({
  metric: choice(metrics.map(({ id }) => id)),
  ...sparse({
    phase,
    max: stringOrNumber(absolute),
    min: stringOrNumber(absolute),
    max_increase: stringOrNumber(relative),
    max_decrease: stringOrNumber(relative),
    severity,
    unless_not_recorded: ifNotRecorded,
    note: string(),
  }).properties,
});

export const policySchema = titled(
  'stepscope-policy-1',
  'Limits of stepscope check',
  undefined,
  object({
    ...sparse({
      version: only(1),
      baseline: string(),
      phase,
      confidence: stringOrNumber('95% or 0.95'),
      allow_different: list(kind),
      severity,
      unless_not_recorded: ifNotRecorded,
    }).properties,
    limits: list(policyLimit, undefined, { minItems: 1 }),
  }),
);

export const baselinesSchema = document(BASELINES_FORM, 'Named baselines', undefined, {
  baselines: list(
    object({
      name: string(),
      tool: string(),
      runs: list(
        object({
          files: list(string(), 'base names'),
          facts: runFactsSchema,
          figures: figuresSchema,
          steps: byName(phaseIds, list(number(), 'wall times in nanoseconds, in order')),
        }),
        undefined,
        { minItems: 1, maxItems: MOST_RUNS },
      ),
    }),
  ),
});

const limit = object({
  metric: string(),
  phase: orNull(phase),
  unit,
  better,
  kind: limitKind,
  limit: number(),
  limitIs: choice(['absolute', 'relative']),
  written: string(),
  line: number(),
  severity,
  // `not-measurable`: beyond the limit but inside the noise. `skipped`: not recorded, and the policy lets that pass.
  verdict: choice([
    'pass',
    'regression',
    'warning',
    'not-measurable',
    'not-recorded',
    'not-comparable',
    'skipped',
  ]),
  measured: orNull(number()),
  baseline: orNull(number()),
  change: orNull(number()),
  changeShare: orNull(number()),
  noiseFloor: orNull(number()),
  noiseFrom: orNull(choice(['repeats', 'steps', 'unknown'])),
});

export const checkSchema = document('stepscope-check/1', 'Result of stepscope check', undefined, {
  tool: string(),
  verdict: choice(['pass', 'regression', 'not-comparable']),
  exitCode: choice([0, 1, 2]),
  policy: string(),
  run: object({ files: list(string()), repeats: number(), facts: runFactsSchema }),
  baseline: orNull(object({ name: string(), tool: string(), repeats: number(), facts: runFactsSchema })),
  differences: list(object({ kind, run: string(), baseline: string(), allowed: flag() })),
  limits: list(limit),
  remarks: list(string()),
});

const series = object({
  metric: string(),
  phase: orNull(phase),
  unit,
  better,
  measured: number(),
  tooFew: flag(),
  runs: list(
    object({
      label: string(),
      value: orNull(number()),
      error: orNull(number()),
      changeShare: orNull(number()),
    }),
  ),
  changes: list(
    object({
      after: string('label of the last run before the change'),
      position: number('its position, from 1'),
      from: number(),
      to: number(),
      changeShare: orNull(number()),
      p: number(),
    }),
  ),
});

export const trendSchema = document('stepscope-trend/1', 'Metrics over runs', undefined, {
  tool: string(),
  series: list(series),
  differences: list(object({ label: string(), reasons: list(string()) })),
});
