/**
 * Every option of every command, once. A command names those it takes and gets their values, typed; help, completion and
 * docs/commands.md are made from the same lines. Those of sending load, capturing and experts are in files of their own.
 */
import { parseUserRules } from '../catalog/kernels/user-rules.js';
import { phases } from '../catalog/phases.js';
import { parsePolicy } from '../catalog/policy.js';
import { DEFAULT_BASELINES } from '../gate/baselines.js';
import { differenceKinds } from '../gate/comparable.js';
import { DEFAULT_JOURNAL } from '../journal/entry-states.js';
import { optionsOfCapture } from './capture-options.js';
import { optionsOfFleet } from './fleet-options.js';
import { optionsOfLoad } from './load-options.js';
import { optionsOfMoe } from './moe-options.js';
import { repeated, toggle, type ValueOf, value, withDefault } from './option.js';
import * as kinds from './option-kinds.js';

const { anyText: text, names, whole, percentage, spans, oneOf } = kinds;

export const options = {
  // What every result is written as, and where.
  json: toggle('--json', 'JSON output'),
  csv: toggle('--csv', 'CSV output, in base units'),
  markdown: toggle('--markdown', 'Markdown output, for a pull request'),
  html: toggle('--html', 'HTML output, one self-contained page'),
  format: value('-f, --format FORMAT', text, 'select the format by name'),
  output: value('-o, --output FILE', text, 'write to FILE; its extension sets the format if none is given'),
  outputFiles: value('-o, --output FILE', text, 'write to FILE, or to one PREFIX_NAME file per result'),
  force: toggle('--force', 'overwrite existing files'),
  fields: repeated('--fields LIST', names, 'JSON with only these fields of each row, and its key'),
  limit: value('--limit N', whole(0), 'JSON with at most N rows of each list'),
  offset: value('--offset N', whole(0), 'JSON without the first N rows of each list'),
  budget: value(
    '--budget BYTES',
    kinds.bytes,
    'JSON of at most this size, for example 20k; lists are shortened',
  ),
  ndjson: toggle('--ndjson', 'JSON lines: the answer without rows, then one line per row'),
  wide: toggle('--wide', 'tables with names in full and every column, however long the lines'),
  rows: value('--rows N', whole(), 'maximum rows per table on the terminal'),

  // What to look at in a profile, and how its steps and kernels are found.
  whole: toggle('--whole', 'analyze the whole trace instead of the steady state'),
  iterations: value('--iterations A-B', spans, 'only these steps, inclusive; also a list: 3,10-20'),
  phase: value('--phase PHASE', oneOf(phases.map(({ id }) => id)), 'only steps of this phase'),
  marker: value(
    '--marker REGEX',
    kinds.pattern,
    'your own step marker; reads the named groups iteration, phase, context, generation, tokens',
  ),
  rules: value(
    '--rules FILE',
    kinds.jsonFile(parseUserRules),
    'your own kernel families (JSON, see docs/kernel-families.md)',
  ),
  thresholds: value(
    '--policy FILE',
    kinds.jsonFile(parsePolicy),
    'your own thresholds for findings (JSON, see docs/findings.md)',
  ),
  requested: value(
    '--requested A-B',
    spans,
    'the value of TLLM_PROFILE_START_STOP; shows whether its end was included',
  ),
  model: value(
    '--model FILE',
    kinds.model,
    'config.json of the model, or a preset: compares step time with the speed of light',
  ),
  gpu: value('--gpu NAME', kinds.gpuName, 'the GPU, if the file does not name it: H100, MI300X …'),
  tp: value('--tp N', whole(1, 999_999), 'tensor-parallel size (default: the number of ranks)'),

  // analyze, steps, stats, report
  graphCapture: value(
    '--graph-capture FILE',
    text,
    'PyTorch trace of the graph capture: names the operators in replays, for --only operators',
  ),
  only: repeated('--only LIST', names, 'only these analyses, each with all its rows'),
  checklist: toggle('--checklist', 'list what a sound analysis needs, and which parts are done'),
  why: value('--why KERNEL', text, 'explain why a kernel is in its family; needs no file'),
  analysisSchema: value('--schema ID', text, 'print the JSON Schema of an analysis'),
  list: toggle('--list', 'list the choices; needs no file'),
  sequence: toggle('--sequence', 'show the kernels of one typical step, in order'),
  fullNames: toggle('--full-names', 'with --sequence: show full kernel names'),
  report: repeated('-r, --report LIST', names, 'reports to print, by name'),
  verify: toggle('--verify', 'compare each report with the output of your own nsys for the same file'),
  time: value('--time A-B', kinds.timeWindow, 'only events in this time range, for example 1.2s-1.5s'),
  maxSize: value(
    '--max-size MB',
    kinds.sizeIn('MB', 1000),
    'truncate tables and thin charts to stay below this size',
  ),

  // compare, frameworks
  threshold: value('--threshold PERCENT', percentage('percent'), 'ignore smaller changes, for example 2%'),
  onlyComparable: toggle('--only-comparable', 'fail (exit code 2) if a result would need a caveat'),
  perfectRouter: toggle(
    '--perfect-router',
    'BASE ran with the learned router, OTHER with the perfect one: is routing the bottleneck?',
  ),
  schema: toggle('--schema', 'print the JSON Schema of --json'),
  initConfig: toggle('--init', 'print a commented CONFIG to fill in'),

  // whatif
  ifGraphs: toggle('--graphs', 'run the forward pass as one CUDA graph'),
  ifAsync: toggle('--async', 'prepare the next decode step while the GPU runs this one'),
  ifFp8: toggle('--fp8', 'FP8 weights and activations in the linear layers'),
  ifBatch: value('--batch [NOW:]N', kinds.batch, 'N requests per step; NOW: if they are not recorded'),
  ifNoGc: toggle('--no-gc', 'no Python garbage collection in steps'),
  ifPinned: toggle('--pinned', 'copy inputs from pinned instead of pageable memory'),
  ifFewerSyncs: toggle('--fewer-syncs', 'wait for the GPU only once per step, for the result'),
  ifPerfectRouting: toggle('--perfect-routing', 'balanced experts; add counts per expert or all ranks'),
  ifNoProfiler: toggle('--no-profiler', 'without the overhead of the profiler, if it is known'),

  // mcp
  callMemory: value('--memory GB', kinds.sizeIn('GB', 1000), 'memory that a call may take'),

  // ncu
  ncuResult: value(
    '--result FILE',
    text,
    'what Nsight Compute measured: a report (.ncu-rep) or its CSV (ncu --import R --csv --page raw)',
  ),
  ncuSet: withDefault(value('--set NAME', text, 'counters to measure: a section set of ncu'), 'full', 'full'),

  // export
  exportTo: value(
    '--to FORMAT',
    oneOf(['perfetto', 'chrome', 'otlp']),
    'format of the file, if its name does not say it',
  ),

  // search
  namePattern: value('--name REGEX', kinds.pattern, 'names to find; case-insensitive'),

  // sql
  sqlTables: toggle('--tables', 'list the tables and their columns; needs no file'),
  ofLake: toggle('--lake', 'with --tables: those of a lake'),
  parquet: value('--parquet DIR', text, 'write Parquet files to DIR: the answer, or every table'),
  arrow: value(
    '--arrow OUT',
    text,
    'write the answer as an Arrow file (- is a stream on standard output); without SQL, every table to the folder OUT',
  ),
  onlyTables: repeated('--only LIST', names, 'without SQL: only these tables'),
  maxRows: withDefault(value('--max-rows N', whole(1, 1e8), 'rows of an answer'), 1e6, '1000000'),
  timeLimit: withDefault(
    value('--timeout TIME', kinds.duration, 'time that a question may take'),
    60e9,
    '60s',
  ),

  // host
  inverted: toggle('--inverted', 'what takes the time on top, its callers below'),
  weight: withDefault(
    value(
      '--weight KIND',
      oneOf(['idle', 'time']),
      'weigh by the GPU idle time that the code causes, or by its own time',
    ),
    'idle',
  ),
  depth: value('--depth N', whole(1, 200), 'levels of the tree; deeper calls count as their callers'),

  // check, baseline, trend
  policy: value('--policy FILE', text, 'limits, in YAML (see docs/gate.md)'),
  baseline: value('--baseline NAME', text, 'baseline to compare with (default: the one named in the policy)'),
  baselines: withDefault(
    value('--baselines FILE', text, 'file that stores the baselines', { flag: 'file' }),
    DEFAULT_BASELINES,
  ),
  history: value(
    '--baselines FILE',
    text,
    'put the baselines in this file first, in the order they were saved',
  ),
  bench: value('--bench FILE', text, 'benchmark output of the run (see stepscope bench)'),
  repeat: repeated('--repeat FILE', text, 'another run of the same code; repeatable'),
  add: toggle('--add', 'add this run to an existing baseline'),
  allowDifferent: repeated('--allow-different LIST', names, allowed()),
  junit: value('--junit FILE', text, 'also write JUnit XML, with one test case per limit'),
  prometheus: value(
    '--prometheus FILE',
    text,
    'also write the figures for Prometheus (textfile collector, Pushgateway)',
  ),
  github: toggle('--github', 'also print annotations for GitHub Actions'),
  initPolicy: toggle('--init', 'print a policy generated from the metrics of FILE'),
  metrics: toggle('--metrics', 'list the metrics; needs no file'),
  metric: repeated('--metric LIST', names, 'metrics to track (default step.p50, idle, kernels)'),

  // optimize
  journal: withDefault(
    value('--journal DIR', text, 'folder of the journal, in your repository'),
    DEFAULT_JOURNAL,
  ),
  entry: value('--entry ENTRY', text, 'entry by number or folder name (default: the newest that is open)'),
  entryTitle: value('--title TEXT', text, 'name of the entry (default: the first finding)'),

  ...optionsOfLoad,
  ...optionsOfCapture,

  // view, redact
  compare: repeated(
    '--compare FILE',
    text,
    'second run to show next to the first; repeat for each of its files',
  ),
  port: withDefault(value('--port N', whole(0, 65535), 'port to serve on'), 0, 'a free port'),
  host: value(
    '--host ADDRESS',
    text,
    'listen on an address that others can reach; clients then need the key in the printed URL',
  ),
  noOpen: toggle('--no-open', 'do not open the browser'),
  at: value('--at VIEW', text, "open this view: what follows # in the page's address, as Share copies it"),
  maxDrop: value('--max-drop GB', kinds.sizeIn('GB', 1e6), 'largest file that can be dropped onto the page'),
  jsonLine: toggle('--json', 'print the URL and the profiles as one line of JSON'),
  copy: value('-o, --output OUT', text, 'output file; compressed if its name ends in .gz'),
  redacted: toggle(
    '--redact',
    'work on a redacted copy, so that the result is safe to share (docs/redact.md)',
  ),
  checkOnly: toggle('--check', 'write nothing; report whether the file is safe to share'),
  hashRanges: toggle('--hash-ranges', 'replace range names with hashes, except names that the analyses need'),

  ...optionsOfMoe,
  ...optionsOfFleet,
} as const;

export type OptionName = keyof typeof options;
export type Values<Names extends OptionName> = {
  readonly [Name in Names]: ValueOf<(typeof options)[Name]>;
};

/** What to look at in a profile: the same for all that open one. */
export const profileOptions = ['whole', 'iterations', 'phase', 'marker', 'rules'] as const;
export const analysisOptions = [...profileOptions, 'thresholds', 'requested'] as const;
/** How steps and kernels are found in a run that is measured; which of them is the metric's business. */
export const measureOptions = ['bench', 'iterations', 'marker', 'rules'] as const;
/** The machine that experts are spread over, and the files that say how busy they are. */
export const machineOptions = [
  'gpus',
  'nodes',
  'replicas',
  'groups',
  'expertTime',
  'expertShare',
  'prefillFrom',
  'loadPhase',
  'as',
  'experts',
] as const;

function allowed(): string {
  return `compare even if these differ: ${differenceKinds.map(({ id }) => id).join(', ')}`;
}
