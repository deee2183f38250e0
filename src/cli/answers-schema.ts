/** Answers of commands that have no folder of their own: lists, summaries of files, checks of a machine. */
import {
  anyObject,
  choice,
  count,
  document,
  either,
  flag,
  list,
  mapOf,
  note,
  nothing,
  number,
  object,
  optional,
  orNull,
  string,
  stringOrNumber,
} from '../base/document.js';
import { baselinesSchema } from '../gate/gate-schema.js';
import { benchDifferenceSchema, runFactsSchema } from '../run/document.js';

const titledList = { id: string('as options name it'), title: string() };

export const analyzeListSchema = document(
  'stepscope-analyze-list/1',
  'Analyses',
  'stepscope analyze --list --json',
  {
    analyses: list(object({ ...titledList, question: string('what it answers') })),
  },
);

export const statsListSchema = document(
  'stepscope-stats-list/1',
  'Reports',
  'stepscope stats --list --json',
  {
    reports: list(object({ ...titledList, options: list(string()), aliases: list(string()) })),
  },
);

export const metricsSchema = document('stepscope-metrics/1', 'Metrics', 'stepscope check --metrics --json', {
  metrics: list(
    object({
      ...{ id: string(), unit: string(), better: choice(['higher', 'lower']) },
      ...{ scope: string('phase or run'), about: string() },
    }),
  ),
});

const notRecordedRows = object({ notRecorded: string('what is missing'), hint: string('how to record it') });

export const statsSchema = document(
  'stepscope-stats/1',
  'Summaries of nsys stats',
  'stepscope stats --json',
  {
    files: list(string(), 'base names'),
    reports: list(
      object({
        ...{ id: string('name of the report'), request: string('with its options'), title: string() },
        rows: either([
          list(mapOf(either([stringOrNumber(), nothing()])), 'by column header, as nsys names it'),
          notRecordedRows,
        ]),
      }),
    ),
  },
);

export const statsVerifySchema = document(
  'stepscope-stats-verify/1',
  'Reports compared with nsys',
  'stepscope stats --verify --json',
  {
    nsys: string('version'),
    reports: list(
      object({
        ...{ report: string(), verdict: choice(['equal', 'differs', 'not compared']) },
        ...{ rows: count('rows that both print'), remark: string() },
      }),
    ),
  },
);

const span = object({ startNs: number(), endNs: number(), durationNs: number() });

export const infoSchema = document('stepscope-info/1', 'What a profile contains', 'stepscope info --json', {
  profiler: string(),
  profilerVersion: string(),
  formatVersion: string(),
  files: list(string(), 'base names'),
  sizeBytes: number(),
  startedUtc: optional(string()),
  span,
  gpus: list(anyObject('name, limits and whether it was used')),
  processes: count(),
  threads: count(),
  streams: count(),
  ranks: list(number()),
  worldSize: optional(number()),
  clock: choice(['utc', 'session']),
  cudaGraphs: string('how graph launches were recorded'),
  markers: list(anyObject('of engines: how many, and their iterations')),
  recorded: list(object({ table: string(), label: string(), rows: count() })),
  notRecorded: list(
    object({
      table: string(),
      label: string(),
      hint: string('how to record it'),
      damaged: optional(flag()),
      none: optional(flag()),
    }),
  ),
  gpuHint: string('how to record GPU work'),
  sourceCounts: mapOf(number(), 'rows of the file'),
  settings: mapOf(string()),
  versions: mapOf(string()),
  environment: object({ variables: count(), looksSecret: count() }),
  recipe: optional(anyObject('how it was captured, see recipe.schema.json')),
});

const evidenceRow = anyObject<{ readonly key: string }>('a row of the analysis, see its schema');

export const explainSchema = document(
  'stepscope-explain/1',
  'One thing explained',
  'stepscope explain --json',
  {
    files: list(string(), 'base names'),
    about: string('what is explained'),
    claims: list(
      object({
        text: string('one claim'),
        evidence: list(object({ analysis: string(), rows: list(string(), 'keys of rows in evidence') })),
      }),
    ),
    evidence: mapOf(list(evidenceRow), 'rows that claims rest on, by analysis'),
    notRecorded: list(
      object({ analysis: string(), what: string(), hint: string('how to record it') }),
      'what could not be answered',
    ),
    notes: list(note),
  },
);

export const reproSchema = document('stepscope-repro/1', 'An operator alone', 'stepscope repro --json', {
  files: list(string(), 'base names'),
  operator: string('with its namespace'),
  inputs: list(anyObject('shape and type of each argument; kind other: its value is not recorded')),
  count: count('recorded calls'),
  gpuNs: number('GPU work per call'),
  kernels: list(string()),
  script: string('Python'),
  notes: list(note),
});

const ncuFigure = object({
  ...{ metric: string('of Nsight Compute'), label: string(), value: number(), unit: string() },
});

export const ncuSchema = document('stepscope-ncu/1', 'A kernel in Nsight Compute', 'stepscope ncu --json', {
  files: list(string(), 'base names'),
  kernel: string(),
  functionName: string('as ncu filters it'),
  launches: count('recorded launches of the kernel'),
  medianNs: number('their median duration'),
  step: orNull(number('in which it is measured')),
  skip: count('launches of the function to pass over'),
  command: list(string(), 'word by word'),
  measured: list(
    object({
      ...{ kernel: string(), grid: string(), block: string(), limit: string('what limits it') },
      figures: list(ncuFigure),
    }),
    'launches that Nsight Compute measured',
  ),
  notes: list(note),
});

export const exportSchema = document(
  'stepscope-export/1',
  'A file for other tools',
  'stepscope export --json',
  {
    files: list(string(), 'base names'),
    file: string('that was written'),
    format: choice(['perfetto', 'chrome', 'otlp']),
    sizeBytes: number(),
    clock: object({
      kind: choice(['utc', 'session']),
      originNs: string('what times of the profile count from'),
    }),
    events: list(object({ key: string(), category: string('kind of event'), events: count() })),
    unplaced: list(
      object({ table: string(), rows: count() }),
      'rows that belong to no thread and no stream, and are not in the file',
    ),
    remarks: list(string(), 'what is missing, and what to know about times'),
    notes: list(note),
  },
);

export const viewSchema = document('stepscope-view/1', 'A running view', 'stepscope view --json', {
  url: string('with the key that the page needs'),
  profiles: list(
    object({ id: count(), name: string(), status: choice(['opening', 'ready', 'failed']) }),
    'in the order in which they were given',
  ),
});

export const searchSchema = document('stepscope-search/1', 'Names found', 'stepscope search --json', {
  files: list(string(), 'base names'),
  pattern: string('regular expression'),
  names: list(
    object({
      ...{ key: string(), table: string(), name: string(), count: count() },
      ...{ totalNs: orNull(number('sum of durations')), longestNs: orNull(number()), firstNs: number() },
    }),
    'most time first',
  ),
  notes: list(note),
});

export const sqlAnswerSchema = document('stepscope-sql/1', 'An answer to SQL', 'stepscope sql --json', {
  sql: string('the question'),
  columns: list(object({ name: string(), type: string('as DuckDB names it') })),
  rows: list(anyObject<Readonly<Record<string, unknown>>>('by column name; null: not known or not recorded')),
  complete: flag('false: there are more rows (--max-rows)'),
});

export const sqlTablesSchema = document(
  'stepscope-sql-tables/1',
  'Tables for SQL',
  'stepscope sql --tables --json',
  {
    tables: list(
      object({
        ...{ key: string(), name: string(), aliases: list(string()), about: string() },
        columns: list(object({ name: string(), type: string(), about: string() })),
      }),
    ),
  },
);

export const writtenTablesSchema = document(
  'stepscope-tables/1',
  'Tables written as files',
  'stepscope sql FILE --arrow DIR --json',
  {
    clock: orNull(
      object({ kind: string(), originNs: string('nanosecond 0 of all times, as a whole number') }),
      'null: a lake',
    ),
    tables: list(
      object({
        ...{ key: string(), name: string(), about: string() },
        status: choice(['ok', 'not-recorded', 'damaged', 'failed']),
        rows: optional(count()),
        file: optional(string('in the folder')),
        bytes: optional(count()),
        columns: optional(
          list(object({ name: string(), type: string('as the file has it'), about: string() })),
        ),
        what: optional(string('is not recorded')),
        hint: optional(string('how to record it')),
        message: optional(string('of the failure')),
      }),
    ),
    notes: list(note),
  },
);

const rule = object({
  ...{ rule: string(), family: string(), variant: string(), pattern: string() },
  ...{ templatePattern: optional(string()), source: string() },
});

export const kernelFamilySchema = document(
  'stepscope-kernel-family/1',
  'Why a kernel is in its family',
  'stepscope analyze --why --json',
  {
    kernel: string(),
    class: anyObject('family, variant, rule and what the name shows'),
    functionName: string(),
    templateText: string(),
    templateUsed: flag(),
    winner: optional(rule),
    alsoMatching: list(rule),
    attributes: anyObject(),
  },
);

export const familiesSchema = document(
  'stepscope-families/1',
  'Families of kernel tables',
  'stepscope families --json',
  {
    tables: list(
      object({
        title: string(),
        rows: list(anyObject('kernel, time and launches')),
        wholeNs: optional(number('time that percentages refer to')),
        families: list(
          object({ family: string(), totalNs: number(), instances: number(), kernels: list(string()) }),
        ),
      }),
    ),
  },
);

export const redactAnswerSchema = document(
  'stepscope-redact/1',
  'What redaction removed',
  'stepscope redact --json',
  {
    file: string('that was written or checked'),
    sizeBytes: number(),
    removed: list(object({ kind: string(), where: string(), count: count() })),
  },
);

export const doctorSchema = document(
  'stepscope-doctor/1',
  'Whether this machine can capture',
  'stepscope doctor --json',
  {
    checks: list(
      object({
        id: string(),
        state: choice(['ok', 'warn', 'missing']),
        text: string(),
        fix: optional(string()),
      }),
    ),
  },
);

export const compareBenchSchema = document(
  'stepscope-compare-bench/1',
  'Benchmarks compared',
  'stepscope compare --json of benchmark results',
  {
    comparisons: list(object({ from: string(), to: string(), ...benchDifferenceSchema.properties })),
  },
);

export const baselineListSchema = document(
  'stepscope-baseline-list/1',
  'Baselines in a file',
  'stepscope baseline list --json',
  {
    baselines: list(
      object({ key: string(), name: string(), tool: string(), runs: count(), facts: runFactsSchema }),
    ),
  },
);

export const baselineShownSchema = document(
  'stepscope-baseline/1',
  'A baseline',
  'stepscope baseline show --json',
  {
    ...baselinesSchema.properties.baselines.items.properties,
  },
);
