/**
 * What was recorded, event by event, as tables for SQL: made from the schema of profiles. References to streams and
 * threads become what they mean to a reader (device, stream, tid, rank); references to events become row numbers.
 */
import { notRecorded } from '../analyze/analysis.js';
import { type AnyArray, NONE } from '../base/column.js';
import { createClassifier, type KernelClass } from '../catalog/kernels/classify.js';
import type { Profile } from '../model/profile.js';
import { type ColumnSpec, columnsOf, type TableName } from '../model/schema.js';
import type { ColumnContent, SqlColumn, SqlTable, SqlType, TextColumn } from './sql-table.js';

interface EventColumn extends SqlColumn {
  /** The optional column of the profile it is made from, to be asked for when reading. */
  readonly from?: string;
  make(profile: Profile, table: Readonly<Record<string, AnyArray>>): ColumnContent | undefined;
}

/** What columns mean, by their name in the schema; others are named after what they hold. */
const meanings: Readonly<Record<string, string>> = {
  start: 'start, on the clock of the profile',
  end: 'end; null while open',
  name: 'name',
  shortName: 'name without template arguments',
  mangledName: 'symbol',
  correlation: 'id that a launch call and the GPU work it caused share; 0: none',
  graphNode: 'node of the CUDA graph; null outside graphs',
  graph: 'CUDA graph',
  graphExec: 'executable CUDA graph',
  bytes: 'bytes; negative: freed',
  registersPerThread: 'registers per thread',
  staticSharedBytes: 'static shared memory of a block',
  dynamicSharedBytes: 'dynamic shared memory of a block',
  occupancyPercent: 'achieved occupancy as the profiler estimates it',
  kind: 'code of the profiler, see src/model/schema.ts',
  class: 'code of the profiler, see src/model/schema.ts',
  domain: 'NVTX domain; null: the default one',
  payload: 'number that the program attached',
  payloadText: 'text that the program attached',
  shapes: 'input shapes, as JSON',
  types: 'input types, as JSON',
  message: 'what a collective moves, as JSON',
  sourceMemory: 'CUPTI: 0 pageable, 1 pinned, 2 device, 4 managed',
  targetMemory: 'CUPTI: 0 pageable, 1 pinned, 2 device, 4 managed',
  value: 'value',
  isIn: '1: the thread gets the CPU; 0: it loses it',
  severity: '1 info, 2 warning, 3 error',
  text: 'what the profiler wrote',
  periodNs: 'from the start of this step to the start of the next',
};

/** Numbers that are not counts: fractions are usual in them. */
const measured: ReadonlySet<string> = new Set(['value', 'payload', 'occupancyPercent']);

const words = (name: string): string => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);

const numbersOf = (column: AnyArray): ColumnContent => column;

const looked = (
  column: AnyArray | undefined,
  values: readonly (number | undefined)[],
): Float64Array | undefined =>
  column && Float64Array.from(column, row => (row === NONE ? Number.NaN : (values[row] ?? Number.NaN)));

const named = (column: AnyArray, values: readonly string[]): TextColumn => ({
  ids: column,
  text: id => values[id] ?? '',
});

/** Columns that a reference to something that is not an event stands for. */
const meant: Readonly<Record<string, (name: string) => readonly EventColumn[]>> = {
  streams: name => [
    whole('device', 'CUDA device', (profile, table) =>
      looked(
        table[name],
        profile.streams.map(({ gpu }) => profile.gpus[gpu]?.deviceId),
      ),
    ),
    whole('stream', 'CUDA stream', (profile, table) =>
      looked(
        table[name],
        profile.streams.map(({ streamId }) => streamId),
      ),
    ),
    ...ofProcess(
      profile => profile.streams.map(({ process }) => process),
      table => table[name],
    ),
  ],
  threads: name =>
    name === 'endThread'
      ? [threadId('endTid', name, 'thread that ended it')]
      : [
          threadId('tid', name, 'thread'),
          {
            ...{ name: 'thread', type: 'text', about: 'name of the thread' },
            make: (profile, table) =>
              table[name] &&
              named(
                table[name],
                profile.threads.map(thread => thread.name),
              ),
          },
          ...ofProcess(
            profile => profile.threads.map(({ process }) => process),
            table => table[name],
          ),
        ],
  processes: name =>
    ofProcess(
      profile => profile.processes.map((_, row) => row),
      table => table[name],
    ),
  gpus: name => [
    whole('device', 'CUDA device', (profile, table) =>
      looked(
        table[name],
        profile.gpus.map(({ deviceId }) => deviceId),
      ),
    ),
  ],
  metrics: name => [
    {
      ...{ name: 'metric', type: 'text', about: 'name of the counter' },
      make: (profile, table) => named(table[name], profile.metrics),
    },
  ],
};

const whole = (name: string, about: string, make: EventColumn['make']): EventColumn => ({
  ...{ name, type: 'whole', about, make },
});

const threadId = (name: string, from: string, about: string): EventColumn =>
  whole(
    name,
    about,
    (profile, table) =>
      table[from] &&
      looked(
        table[from],
        profile.threads.map(({ tid }) => tid),
      ),
  );

function ofProcess(
  processes: (profile: Profile) => readonly number[],
  column: (table: Readonly<Record<string, AnyArray>>) => AnyArray | undefined,
): EventColumn[] {
  const of =
    (value: (process: number, profile: Profile) => number | undefined): EventColumn['make'] =>
    (profile, table) => {
      const own = column(table);
      return (
        own &&
        looked(
          own,
          processes(profile).map(process => value(process, profile)),
        )
      );
    };
  return [
    whole(
      'pid',
      'process',
      of((process, { processes: all }) => all[process]?.pid),
    ),
    whole(
      'rank',
      'rank of the process; null: not recorded',
      of((process, { processes: all }) => all[process]?.rank),
    ),
  ];
}

function columnFrom(name: string, spec: ColumnSpec): readonly EventColumn[] {
  const from = spec.optional ? name : undefined;
  const kept = (columns: readonly EventColumn[]) =>
    columns.map(column => (from === undefined ? column : { ...column, from }));
  if (spec.ref !== undefined && meant[spec.ref]) return kept(meant[spec.ref](name));
  if (spec.ref !== undefined)
    return kept([
      whole(
        `${name}Row`,
        `row of ${sqlNames[spec.ref] ?? spec.ref}; null: none`,
        (_, table) => table[name] && numbersOf(table[name]),
      ),
    ]);
  const about = meanings[name] ?? words(name);
  if (spec.text)
    return kept([
      {
        ...{ name, type: 'text', about },
        make: (profile, table) => table[name] && { ids: table[name], text: id => profile.strings.text(id) },
      },
    ]);
  const type: SqlType = spec.storage === 'f64' ? 'number' : 'whole';
  const isTime = name === 'start' || name === 'end';
  const counted = type === 'number' && !measured.has(name) ? { counted: true as const } : {};
  const column = { name: isTime ? `${name}Ns` : name, type, about, ...counted };
  return kept([{ ...column, make: (_, table) => table[name] && numbersOf(table[name]) }]);
}

/** Whole tables by what they are called in SQL, shortest first where a name is used most. */
const events: readonly (readonly [sql: string, table: TableName, about: string])[] = [
  ['kernels', 'kernels', 'kernels that ran on a GPU'],
  ['copies', 'copies', 'memory copies'],
  ['memsets', 'memsets', 'memory sets'],
  ['graph_launches', 'graphLaunches', 'CUDA graph replays recorded as one block each'],
  ['api', 'apiCalls', 'calls of the CUDA runtime and driver'],
  ['syncs', 'syncs', 'waits as the driver recorded them'],
  ['ranges', 'ranges', 'NVTX ranges, annotations and library calls'],
  ['ops', 'ops', 'framework operators'],
  ['frames', 'frames', 'Python functions on the stack'],
  ['os_calls', 'osCalls', 'calls of the operating system'],
  ['host_samples', 'hostSamples', 'what threads were executing, sampled'],
  ['context_switches', 'contextSwitches', 'threads getting and losing a CPU'],
  ['stack_frames', 'stackFrames', 'call stacks; a stack is the row of its innermost function'],
  ['memory_events', 'memoryEvents', 'allocations and frees of GPU memory'],
  ['metric_samples', 'metricSamples', 'sampled hardware counters'],
  ['overheads', 'overheads', 'time that the profiler itself took'],
  ['diagnostics', 'diagnostics', 'messages of the profiler about its run'],
  ['quiet_steps', 'quietSteps', 'steps that ran without a profiler'],
];

const sqlNames: Readonly<Record<string, string>> = Object.fromEntries(
  events.map(([sql, table]) => [table, sql]),
);

const duration: EventColumn = {
  ...{ name: 'durationNs', type: 'number', about: 'endNs − startNs', counted: true },
  make: (_, { start, end }) => Float64Array.from(start, (from, row) => end[row] - from),
};

/** What the catalogue makes of kernel names; the user's rules count. */
function classified(kernelRules: Parameters<typeof createClassifier>[0]) {
  const { classify } = createClassifier(kernelRules);
  const column =
    (of: (found: KernelClass) => string) =>
    (profile: Profile, table: Readonly<Record<string, AnyArray>>) => ({
      ids: table.name,
      text: (id: number) => of(classify(profile.strings.text(id))),
    });
  return { family: column(found => found.family), kernel: column(found => found.shortName) };
}

const ofKernels: readonly SqlColumn[] = [
  { name: 'family', type: 'text', about: 'kernel family (docs/kernel-families.md)' },
  { name: 'kernel', type: 'text', about: 'short name, as analyses show it' },
];

/** An event of a thread and a stream has one process. */
const firstOfName = (columns: readonly EventColumn[]): readonly EventColumn[] =>
  columns.filter(({ name }, i) => columns.findIndex(column => column.name === name) === i);

function eventTable(name: string, table: TableName, about: string): SqlTable {
  const specs = columnsOf(table);
  const spans = specs.some(([column]) => column === 'end');
  const columns: EventColumn[] = [
    whole('row', 'number of the row, from 0', (_, { length }) =>
      Float64Array.from({ length: Number(length) }, (__, row) => row),
    ),
    ...firstOfName(specs.flatMap(([column, spec]) => columnFrom(column, spec))),
    ...(spans ? [duration] : []),
  ];
  const isKernels = table === 'kernels';
  return {
    ...{ name, about },
    columns: [...columns.map(({ from: _, make: __, ...column }) => column), ...(isKernels ? ofKernels : [])],
    reads: { [table]: specs.flatMap(([column, { optional }]) => (optional ? [column] : [])) },
    content({ profile, settings }) {
      const own = profile.tables[table] as unknown as
        | (Record<string, AnyArray> & { length: number })
        | undefined;
      if (!own) throw notRecorded(profile, [table]);
      const extra = isKernels ? classified(settings.kernelRules) : undefined;
      return {
        rows: own.length,
        column: asked =>
          columns.find(column => column.name === asked)?.make(profile, own) ??
          (extra && Object.hasOwn(extra, asked) ? extra[asked as 'family'](profile, own) : undefined),
      };
    },
  };
}

export const eventTables: readonly SqlTable[] = events.map(entry => eventTable(...entry));
