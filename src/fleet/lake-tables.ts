/**
 * The tables of a lake, declared once: the writer, the reader and docs/fleet.md follow. Every table lies in its own
 * Parquet file of a partition `run=…/rank=…/file=…/`; those three keys stand in the path and in no column.
 */

/** Raised whenever a table changes: a lake holds one format. */
export const LAKE_FORMAT = 1;

type CellType = 'text' | 'number' | 'whole' | 'long' | 'flag';

export interface LakeColumn {
  readonly type: CellType;
  readonly about: string;
  /** May be null: not known or not recorded. */
  readonly optional?: true;
}

const column =
  <const Type extends CellType>(type: Type) =>
  (about: string) => ({ type, about });
const [text, number, whole] = [column('text'), column('number'), column('whole')];
const [long, flag] = [column('long'), column('flag')];
const maybe = <Column extends LakeColumn>(of: Column) => ({ ...of, optional: true as const });
const phase = maybe(text('phase of the steps; null: outside all steps'));
const windows = number('windows added up: steps times devices');

export const lakeTables = {
  files: {
    path: text('absolute path of the file at the time it was mapped'),
    bytes: number('size of the file'),
    tool: text('version of Stepscope that mapped it'),
    host: maybe(text('machine of the profiled process, as the profiler recorded it')),
    profiler: text('what recorded it'),
    profilerVersion: maybe(text('its version')),
    engine: maybe(text('serving engine')),
    gpu: maybe(text('name of the GPUs')),
    gpus: whole('GPUs with work'),
    driver: maybe(text('GPU driver version')),
    graphs: text('how CUDA graphs were recorded: nodes, blocks or none'),
    stepsFoundBy: maybe(text('how steps were found')),
    stepsNumbered: flag('whether the engine numbers its steps: then one number is one step on all ranks'),
    layers: maybe(whole('layers of the model')),
    model: maybe(text('the label `model`')),
    config: maybe(text('the label `config`')),
    labels: maybe(text('all labels, as JSON')),
    worldSize: maybe(whole('ranks of the run, as the file states')),
    ranksInFile: whole('ranks that the file holds; more than one leaves `rank` of the path empty'),
    software: maybe(text('versions that all ranks of a run share, as JSON')),
    originUtcNs: maybe(long('nanoseconds since 1970 at time 0 of the file; null: it has its own clock')),
    startNs: maybe(number('first GPU work or step, on the clock of the file')),
    endNs: maybe(number('end of the last')),
    steps: whole('steps found'),
    selectedSteps: whole('of these, counted in the other tables: the steady state'),
  },
  steps: {
    iteration: whole('number of the step'),
    phase: text('phase of the step'),
    device: whole('CUDA device number'),
    processRank: maybe(whole('rank of the process, in a file that holds several')),
    startNs: number('start of the window on the device, on the clock of the file'),
    wallNs: number('length of the window; compute, exposed communication, exposed copies and idle sum to it'),
    computeNs: number('union of kernels that are not communication'),
    communicationExposedNs: number('communication while no compute runs'),
    copyExposedNs: number('copies while neither compute nor communication runs'),
    idleNs: number('nothing runs on the device'),
    communicationWaitingNs: maybe(
      number('part of communicationExposedNs: until the last rank arrives; only in files with several ranks'),
    ),
    communicationHiddenNs: number('communication hidden by compute'),
    copyHiddenNs: number('copies hidden by compute or communication'),
    graphReplayNs: number('part of computeNs: graph replays recorded as blocks'),
    collectiveCalls: whole('kernels of communication that the step launched on the device'),
    collectiveNs: number('sum of their durations'),
    contextTokens: maybe(number('prompt tokens of the step')),
    generationRequests: maybe(number('requests that decode in the step')),
  },
  budget: {
    phase,
    part: text(
      'compute, communication, communication.waiting …, copies, idle.CAUSE; they sum to the wall time',
    ),
    steps: number('steps'),
    windows,
    ns: number('sum over the windows'),
  },
  families: {
    phase,
    family: text('kernel family'),
    windows,
    ns: number('moments that count for the family; overlap is counted once'),
    count: number('launches'),
    spentNs: number('sum of durations'),
  },
  kernels: {
    phase,
    part: text(
      'kernel:NAME, comm:NAME, copy:KIND, replay:, wait:ranks, idle:CAUSE; `ns` sums to the wall time',
    ),
    family: maybe(text('kernel family')),
    kernel: maybe(text('short name')),
    dtype: maybe(text('number type of a GEMM')),
    windows,
    ns: number('moments that count for it'),
    count: number('launches'),
    spentNs: number('sum of durations'),
  },
  collectives: {
    iteration: whole('number of the step'),
    phase: text('phase of the step'),
    device: whole('CUDA device number'),
    processRank: maybe(whole('rank of the process, in a file that holds several')),
    kind: text('all-reduce, all-gather …'),
    kernel: text('short name'),
    calls: whole('launched by the step'),
    ns: number('sum of durations: waiting for other ranks and transferring'),
  },
  findings: {
    rule: text('the rule that found it'),
    phase,
    severity: text('high, medium, low or note'),
    confidence: text('certain, likely or possible'),
    claim: text('cause and cost, in one sentence'),
    costNs: maybe(number('time it costs per step')),
    costShare: maybe(number('of the step')),
    gainNs: maybe(number('estimated time saved per step')),
  },
  metrics: {
    phase: maybe(text('phase; null: of the whole run')),
    metric: text('see `stepscope check --metrics`'),
    unit: text('unit of value and error'),
    value: number('as defined in docs/metrics.md'),
    error: maybe(number('standard error over the steps')),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, LakeColumn>>>>;

export type LakeTable = keyof typeof lakeTables;
export const lakeTableNames = Object.keys(lakeTables) as LakeTable[];

type Cell<Column> = Column extends { readonly type: infer Type }
  ?
      | (Type extends 'text' ? string : Type extends 'long' ? bigint : Type extends 'flag' ? boolean : number)
      | (Column extends { readonly optional: true } ? null : never)
  : never;

/** A row, by the declared columns. */
export type LakeRow<Name extends LakeTable> = {
  readonly [Column in keyof (typeof lakeTables)[Name]]: Cell<(typeof lakeTables)[Name][Column]>;
};
export type LakeRows = { readonly [Name in LakeTable]: readonly LakeRow<Name>[] };
