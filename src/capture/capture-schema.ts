/** A plan as `stepscope capture --json` prints it, and the recipe kept beside a profile, declared. */
import {
  anyObject,
  choice,
  count,
  document,
  either,
  flag,
  integer,
  list,
  mapOf,
  number,
  object,
  only,
  optional,
  orNull,
  string,
} from '../base/document.js';
import { presetNames } from '../catalog/engine-programs.js';

/** When requests have done their part, by what the engine reports about itself. One of these is set. */
const goal = object({
  iteration: optional(count('the iteration after which the window is closed, in the count of the engine')),
  steps: optional(count('steps since the request before it')),
  when: optional(string('a condition on the counters of the engine')),
  full: optional(only(true, 'every request runs, or the engine takes no more')),
  phase: optional(choice(['decode', 'prefill'], 'every step is of this phase')),
});

const shape = object({
  users: integer('requests at a time', { minimum: 1 }),
  inputTokens: count(),
  outputTokens: count('in the mean'),
  once: optional(only(true, 'each user sends one request: no prompt comes in later')),
});

/**
 * What to do, in order. `start` runs `command` with `env` and goes on; `wait-exit` waits for it to end by itself; `load`
 * is where requests come from (the user, or a load generator); `stop` ends what `start` began, politely.
 */
const step = either([
  object({ do: choice(['start', 'wait-exit']) }),
  object({ do: only('wait-http'), url: string(), timeoutS: number() }),
  object({
    do: only('http'),
    method: only('POST'),
    url: string(),
    body: optional(anyObject<Readonly<Record<string, unknown>>>()),
    why: string(),
  }),
  object({ do: only('load'), why: string(), until: optional(goal), shape: optional(shape) }),
  object({ do: only('wait-reports'), why: string() }),
  object({ do: only('stop'), signal: only('SIGINT'), why: string() }),
]);

const output = object({
  kind: choice(['nsys-report', 'torch-trace', 'agent-sidecar']),
  pattern: string('may hold a star, or what nsys fills in: %q{VAR}, %h, %p'),
  // Absent when that is not known beforehand.
  count: optional(integer(undefined, { minimum: 1 })),
  note: optional(string()),
});

const warning = object({
  code: string(),
  // `error`: the capture will be empty, wrong or fail. `warning`: it will be worth less. `note`: good to know.
  severity: choice(['error', 'warning', 'note']),
  text: string(),
  fix: string(),
});

const estimate = object({
  // Report and its SQLite export together, all ranks.
  bytes: number(),
  reportBytes: number(),
  sqliteBytes: number(),
  // What nsys needs beside that while it writes.
  temporaryBytes: number(),
  // Added to a step's time, at most, as a share of it.
  overheadShare: number(undefined, { minimum: 0 }),
  // Where the numbers come from, a line each.
  how: list(string()),
});

export const planSchema = object({
  preset: choice(presetNames),
  engine: string(),
  profiler: choice(['nsys', 'torch'], "torch: the engine's own PyTorch profiler alone, without nsys"),
  server: flag('serves until it is stopped'),
  command: list(
    string(),
    'to be run without a shell, with env added to the environment; empty if a running server is profiled',
  ),
  nsysAt: integer('index of nsys in command; -1 without', { minimum: -1 }),
  programAt: count('index of the profiled program in command'),
  env: mapOf(string()),
  optionalEnv: optional(
    list(
      object({ name: string(), value: string(), module: string() }),
      'variables to set only if the Python of the command can import the module: the engine does not start otherwise',
    ),
  ),
  files: optional(
    list(
      object({ path: string(), text: string() }),
      'small files that the command reads, to be written before it starts',
    ),
  ),
  exitCodes: list(
    integer(),
    'how it ends when all went well; 143 where nsys ends the program after a duration',
  ),
  outputs: list(output),
  steps: list(step, undefined, { minItems: 1 }),
  // Why an argument or a variable is there, as it stands in the command or the environment.
  why: list(object({ what: string(), why: string() })),
  warnings: list(warning),
  estimate,
  far: optional(
    object(
      {
        where: string('pod NAME, ssh HOST, or the labels of pods'),
        copiedTo: string('the report on this machine, without its ending'),
        nsys: string('where nsys comes from there'),
      },
      'the command runs on another machine; its paths are paths there, with a folder name that is decided when it runs',
    ),
  ),
  storedIn: optional(string('where the results are put as well: s3://BUCKET/FOLDER or a folder')),
  calibration: optional(
    object(
      {
        command: list(string(), undefined, { minItems: 1 }),
        env: mapOf(string(), 'instead of the env of the capture'),
        outputs: list(output),
      },
      'the same steps again, after the capture and without a profiler: what they take undisturbed',
    ),
  ),
});

export const capturePlanSchema = document(
  'stepscope-capture-plan/1',
  'What stepscope capture --json prints: a capture to be taken',
  undefined,
  { ...planSchema.properties, shell: string('the command as a POSIX shell reads it') },
);

const span = (description: string) => object({ first: integer(), last: integer() }, description);

export const recipeSchema = document(
  'stepscope-recipe/1',
  'Recipe',
  "How a profile was made by stepscope capture. Written beside it as PROFILE.recipe.json. Holds what Stepscope set, never the user's environment.",
  {
    command: list(string(), 'program and arguments'),
    environment: mapOf(string(), 'variables set by Stepscope, with its values'),
    versions: mapOf(string()),
    startedUtc: string('ISO 8601'),
    endedUtc: string('ISO 8601'),
    status: orNull(integer('of the command; null when it was ended by a signal or runs on')),
    stoppedBy: optional(choice(['interrupt', 'timeout', 'disk', 'kill'])),
    where: string('here, pod NAME or ssh HOST'),
    window: optional(span('iterations asked for, both ends included')),
    iterations: optional(span("first and last in the engine's own log")),
    outputs: list(
      object({
        name: string('without a folder'),
        kind: optional(choice(['nsys-report', 'torch-trace', 'agent-sidecar', 'engine-log', 'load-result'])),
        bytes: integer(),
        sha256: string(undefined, { pattern: '^[0-9a-f]{64}$' }),
      }),
    ),
    plan: optional(anyObject('as in capture-plan.schema.json, without schema and shell')),
  },
);
