/** An entry of the journal of `stepscope optimize`: one change, from the profile that asked for it to its verdict. */
import {
  byName,
  choice,
  count,
  document,
  flag,
  list,
  mapOf,
  number,
  object,
  optional,
  orNull,
  string,
} from '../base/document.js';
import { figuresSchema, phaseIds, runFactsSchema } from '../run/document.js';
import { entryStates } from './entry-states.js';

const measuredRun = object({
  files: list(string(), 'base names'),
  facts: runFactsSchema,
  figures: figuresSchema,
  steps: byName(phaseIds, list(number(), 'wall times in nanoseconds, in order')),
});

const measurement = object({
  files: list(
    object({
      name: string('relative to the journal’s project, or the base name of a file outside it'),
      bytes: count(),
      hash: string(),
    }),
  ),
  tool: string('version of Stepscope that measured it'),
  environment: object({
    engine: orNull(string()),
    engineVersion: orNull(string()),
    versions: mapOf(string(), 'driver, CUDA, libraries; as the profile states them'),
    flags: orNull(list(string(), 'options on the recorded command line, without values')),
  }),
  runs: list(measuredRun, 'the run, and its repeats', { minItems: 1 }),
  findings: list(
    object({
      ...{ rule: string(), claim: string(), severity: string(), confidence: string() },
      costNs: orNull(number('per step')),
      gainThroughput: orNull(number('estimated; 0.25: a quarter more steps per second')),
      advice: list(string()),
    }),
    'what is wrong, most promising first',
  ),
});

const figure = object({
  ...{ metric: string(), phase: string('or run'), unit: string(), better: choice(['higher', 'lower']) },
  ...{ from: number(), to: number(), change: number() },
  interval: orNull(object({ low: number(), high: number() }), '95%; null: too few steps or repeats'),
  verdict: choice(['better', 'worse', 'no measurable change', 'cannot tell']),
});

const comparison = object({
  comparable: flag(),
  obstacles: list(string(), 'what keeps the runs from being compared'),
  remarks: list(string(), 'what else differs, and what could not be checked'),
  phase: orNull(string('that decides the verdict')),
  verdict: choice(['faster', 'slower', 'no measurable change', 'cannot tell', 'not comparable']),
  figures: list(figure),
});

export const journalEntrySchema = document(
  'stepscope-journal-entry/1',
  'One change and its verdict',
  'stepscope optimize --json; entry.json of the journal',
  {
    number: count('counted from 1'),
    title: string(),
    state: choice(entryStates),
    base: measurement,
    change: orNull(
      object({
        text: string('what was changed'),
        git: orNull(
          object({
            commit: string(),
            diffHash: orNull(string('SHA-256 of git diff HEAD; null: nothing is uncommitted')),
            changedFiles: count('that are not committed'),
          }),
          'state of the repository; null: not a repository',
        ),
        capture: list(string(), 'command that records the changed program, word by word; empty: not given'),
      }),
    ),
    result: orNull(measurement),
    comparison: orNull(comparison),
    decision: orNull(object({ kept: flag(), reason: string() })),
    next: optional(string('the command that goes on')),
  },
);

export const journalSchema = document(
  'stepscope-journal/1',
  'The journal of optimize',
  'stepscope optimize status --json',
  {
    folder: string(),
    entries: list(
      object({
        ...{ key: string('name of its folder'), number: count(), title: string() },
        state: choice(entryStates),
        change: orNull(string()),
        verdict: orNull(string()),
        stepChange: orNull(number('of the mean step, in nanoseconds')),
        reason: orNull(string('of the decision')),
      }),
    ),
    unreadable: list(string(), 'folders without a valid entry.json'),
    next: string('the command that goes on'),
  },
);
