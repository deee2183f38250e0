/** JSON Schemas (2020-12) of what the gate reads and writes; published in docs/schemas. */
import type { Json } from '../analyze/analysis.js';
import { phases } from '../catalog/phases.js';
import { metrics } from '../run/metrics.js';
import { BASELINES_SCHEMA, MOST_RUNS } from './baselines.js';
import { CHECK_SCHEMA } from './check-document.js';
import { differenceKinds } from './comparable.js';
import { limitKinds } from './policy.js';
import { TREND_SCHEMA } from './trend.js';

const phaseIds = phases.map(({ id }) => id);
const kinds = differenceKinds.map(({ id }) => id);
const units = ['ns', 'share', 'count', 'bytes', 'per-second'];

/** An object that has all of these, and nothing else but what is optional. */
const object = (properties: { readonly [name: string]: Json }, optional: readonly string[] = []): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter(name => !optional.includes(name)),
  additionalProperties: false,
});
const list = (items: Json): Json => ({ type: 'array', items });
const oneOf = (values: readonly (string | null)[]): Json => ({ enum: values });
const text: Json = { type: 'string' };
const number: Json = { type: 'number' };
const flag: Json = { type: 'boolean' };
const orNull = (type: string): Json => ({ type: [type, 'null'] });
const described = (schema: Json, description: string): Json => ({ ...(schema as object), description });

const facts = object(
  {
    gpu: orNull('string'),
    gpus: number,
    engine: orNull('string'),
    stepsFoundBy: orNull('string'),
    profiler: text,
    profilerVersion: orNull('string'),
    driver: orNull('string'),
    graphs: oneOf(['nodes', 'blocks', 'none']),
    model: {
      oneOf: [
        object(
          {
            layers: number,
            kernelsPerLayer: number,
            otherKernels: number,
            guessed: described({ const: true }, 'by their repeating pattern'),
          },
          ['guessed'],
        ),
        { type: 'null' },
      ],
    },
    load: described(
      { type: 'object', additionalProperties: { type: ['string', 'number'] } },
      'what the benchmark asked of the engine, where there is one',
    ),
    phases: {
      type: 'object',
      propertyNames: oneOf(phaseIds),
      additionalProperties: object({
        steps: number,
        timeShare: number,
        batch: orNull('number'),
        contextTokens: orNull('number'),
      }),
    },
  },
  ['load'],
);

const document = (id: string, title: string, schema: Json): Json => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: id,
  title,
  ...(schema as object),
});

const figures: Json = {
  type: 'object',
  propertyNames: oneOf([...phaseIds, 'run']),
  additionalProperties: {
    type: 'object',
    additionalProperties: object({ value: number, error: number }, ['error']),
  },
};

const policyLimit = object(
  {
    metric: oneOf(metrics.map(({ id }) => id)),
    phase: oneOf(phaseIds),
    ...Object.fromEntries(
      limitKinds.map(kind => [
        kind,
        described(
          { type: ['string', 'number'] },
          kind.includes('crease')
            ? 'against the baseline: 3% of it, or an amount with its unit; of shares points: 2pp'
            : 'an amount with its unit: 5ms, 12%, 0.9, 16GB, 1200/s',
        ),
      ]),
    ),
    severity: oneOf(['fail', 'warn']),
    unless_not_recorded: oneOf(['fail', 'skip']),
    note: text,
  },
  ['phase', ...limitKinds, 'severity', 'unless_not_recorded', 'note'],
);

export const gateSchemas: { readonly [file: string]: Json } = {
  policy: document(
    'stepscope-policy-1',
    'Limits of stepscope check',
    object(
      {
        version: { const: 1 },
        baseline: text,
        phase: oneOf(phaseIds),
        confidence: { type: ['string', 'number'], description: '95% or 0.95' },
        allow_different: list(oneOf(kinds)),
        severity: oneOf(['fail', 'warn']),
        unless_not_recorded: oneOf(['fail', 'skip']),
        limits: { ...(list(policyLimit) as object), minItems: 1 },
      },
      ['version', 'baseline', 'phase', 'confidence', 'allow_different', 'severity', 'unless_not_recorded'],
    ),
  ),
  baselines: document(
    'stepscope-baselines-1',
    'Named baselines',
    object({
      schema: { const: BASELINES_SCHEMA },
      baselines: list(
        object({
          name: text,
          tool: text,
          runs: {
            type: 'array',
            minItems: 1,
            maxItems: MOST_RUNS,
            items: object({
              files: described(list(text), 'base names'),
              facts,
              figures: described(
                figures,
                'by phase, and of the run; base units; error: standard error over the steps',
              ),
              steps: {
                type: 'object',
                propertyNames: oneOf(phaseIds),
                additionalProperties: described(list(number), 'wall times in nanoseconds, in order'),
              },
            }),
          },
        }),
      ),
    }),
  ),
  check: document(
    'stepscope-check-1',
    'Result of stepscope check',
    object({
      schema: { const: CHECK_SCHEMA },
      tool: text,
      verdict: oneOf(['pass', 'regression', 'not-comparable']),
      exitCode: { enum: [0, 1, 2] },
      policy: text,
      run: object({ files: list(text), repeats: number, facts }),
      baseline: {
        oneOf: [object({ name: text, tool: text, repeats: number, facts }), { type: 'null' }],
      },
      differences: list(object({ kind: oneOf(kinds), run: text, baseline: text, allowed: flag })),
      limits: list(
        object({
          metric: text,
          phase: oneOf([...phaseIds, null]),
          unit: oneOf(units),
          better: oneOf(['lower', 'higher']),
          kind: oneOf(limitKinds),
          limit: number,
          limitIs: oneOf(['absolute', 'relative']),
          written: text,
          line: number,
          severity: oneOf(['fail', 'warn']),
          verdict: oneOf([
            'pass',
            'regression',
            'warning',
            'not-measurable',
            'not-recorded',
            'not-comparable',
            'skipped',
          ]),
          measured: orNull('number'),
          baseline: orNull('number'),
          change: orNull('number'),
          changeShare: orNull('number'),
          noiseFloor: orNull('number'),
          noiseFrom: oneOf(['repeats', 'steps', 'unknown', null]),
        }),
      ),
      remarks: list(text),
    }),
  ),
  trend: document(
    'stepscope-trend-1',
    'Metrics over runs',
    object({
      schema: { const: TREND_SCHEMA },
      tool: text,
      series: list(
        object({
          metric: text,
          phase: oneOf([...phaseIds, null]),
          unit: oneOf(units),
          better: oneOf(['lower', 'higher']),
          measured: number,
          tooFew: flag,
          runs: list(
            object({
              label: text,
              value: orNull('number'),
              error: orNull('number'),
              changeShare: orNull('number'),
            }),
          ),
          changes: list(
            object({
              after: described(text, 'label of the last run before the change'),
              position: described(number, 'its place, from 1'),
              from: number,
              to: number,
              changeShare: orNull('number'),
              p: number,
            }),
          ),
        }),
      ),
      differences: list(object({ label: text, reasons: list(text) })),
    }),
  ),
};
