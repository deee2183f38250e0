/**
 * Every option of every command, once. A command names those it takes and gets their values, typed; help, completion and
 * docs/commands.md are made from the same lines.
 */
import { readIterations } from '../capture/iterations.js';
import { presetNames } from '../catalog/engine-programs.js';
import { parseUserRules } from '../catalog/kernels/user-rules.js';
import { phases } from '../catalog/phases.js';
import { parsePolicy } from '../catalog/policy.js';
import { DEFAULT_BASELINES } from '../gate/baselines.js';
import { differenceKinds } from '../gate/comparable.js';
import { readLevels } from '../load/level.js';
import { apis } from '../load/target.js';
import { readExpertTime } from '../moe/cost/expert-time.js';
import { mappingFormats, readMappingFormat } from '../moe/placement/export-mapping.js';
import { repeated, toggle, type ValueOf, value, withDefault } from './option.js';
import * as kinds from './option-kinds.js';

const { anyText: text, names, whole, percentage, duration, spans, lengths, oneOf } = kinds;

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
  github: toggle('--github', 'also print annotations for GitHub Actions'),
  initPolicy: toggle('--init', 'print a policy generated from the metrics of FILE'),
  metrics: toggle('--metrics', 'list the metrics; needs no file'),
  metric: repeated('--metric LIST', names, 'metrics to track (default step.p50, idle, kernels)'),

  // load, dataset
  levels: repeated('--levels LEVEL,…', { read: given => readLevels([given]) }, levelWords(), {
    flag: 'level',
  }),
  requests: value('--requests N', whole(), 'measured requests per level (default: 100, at least 4 per user)'),
  duration: value(
    '--duration TIME',
    duration,
    'measure for this long: 60s, 2min; with --requests, whichever ends first',
  ),
  warmup: withDefault(
    value('--warmup N', whole(0, 1e6), 'warm-up requests before each level, not measured'),
    2,
  ),
  ramp: value('--ramp TIME', duration, 'ramp up to full load over this time; not measured'),
  arrivals: withDefault(
    value('--arrivals KIND', oneOf(['poisson', 'constant']), 'arrival process for sustained levels'),
    'poisson',
  ),
  maxInFlight: withDefault(
    value(
      '--max-in-flight N',
      whole(1, 1e5),
      'limit for sustained levels; further requests wait, and the wait counts',
    ),
    4096,
  ),
  requestTimeout: withDefault(
    value('--timeout TIME', duration, 'limit for one complete request'),
    600e9,
    '600s',
  ),
  inputTokens: value('--input-tokens LENGTH', lengths, lengthWords('prompts'), { flag: 'input' }),
  outputTokens: value('--output-tokens LENGTH', lengths, 'output length, in the same form', {
    flag: 'output',
    when: /^(\d+$|normal:|uniform:)/,
  }),
  prefix: value(
    '--prefix KIND',
    text,
    'unique (default; never hits a prefix cache), seeded (same prompts in every run), shared:N (N common tokens)',
  ),
  dataset: value('--dataset FILE', text, 'prompts in trtllm-bench format, one JSON object per line'),
  seed: withDefault(
    value('--seed N', whole(0, 2 ** 32 - 1), 'random seed; the same seed gives the same data'),
    1,
  ),
  api: value('--api KIND', oneOf(apis), 'API to call (default: from the URL, else completions)'),
  servedModel: value('--model NAME', text, 'model to request (default: the first that the server lists)'),
  noStream: toggle('--no-stream', 'request complete responses; no TTFT, TPOT or ITL'),
  allowEos: toggle('--allow-eos', 'let outputs end early (default: ignore_eos, if the server supports it)'),
  body: value('--body JSON', text, 'fields to add to every request; null removes a field'),
  header: repeated('--header NAME:VALUE', text, 'header to add to every request; repeatable'),
  apiKeyEnv: value('--api-key-env NAME', text, 'environment variable that holds the API key'),
  noKeepAlive: toggle('--no-keep-alive', 'open a new connection for every request'),
  insecure: toggle('--insecure', 'accept any TLS certificate'),
  benchFile: value('-o, --output FILE', text, 'write a benchmark file, for stepscope bench'),
  datasetRequests: value('--requests N', whole(), 'number of requests'),
  datasetFile: value('-o, --output FILE', text, 'output file (default: standard output)', { flag: 'file' }),
  vocab: withDefault(value('--vocab N', whole(2), 'vocabulary size; token IDs are below N'), 32000),
  text: toggle('--text', 'write text prompts, about one token per word, instead of token IDs'),

  // capture, doctor
  window: value(
    '--iterations A-B',
    { read: readIterations },
    'only these steps, inclusive; also several: 100-150,300-320',
  ),
  delay: value('--delay TIME', duration, 'wait before recording, for engines that do not count steps'),
  recordFor: value('--duration TIME', duration, 'record for this long: 10s'),
  trace: value(
    '-o, --output NAME',
    text,
    'report name (default trace); under a launcher, each rank writes its own',
  ),
  nvtx: toggle('--nvtx', 'record the NVTX ranges of the engine (default)'),
  noNvtx: toggle('--no-nvtx', 'do not record NVTX ranges'),
  nvtxDebug: toggle('--nvtx-debug', 'also record the debug ranges of the engine'),
  agent: toggle('--agent', 'for Python programs: detect and mark steps from inside the process'),
  agentFolder: value('--agent-folder DIR', text, 'path of agent/ on the machine that runs the program'),
  gc: toggle('--gc', 'record Python garbage collections'),
  gil: toggle('--gil', 'record GIL holders and waiters'),
  gpuMetrics: toggle('--gpu-metrics', 'record SM, tensor core and DRAM metrics'),
  cudaMemory: toggle('--cuda-memory', 'record GPU memory usage'),
  osrt: toggle('--osrt', 'record OS runtime calls'),
  cublas: toggle('--cublas', 'record cuBLAS and cuDNN calls'),
  sample: toggle('--sample', 'record CPU samples'),
  backtrace: toggle('--backtrace', 'record the call stack of each kernel launch'),
  graphTrace: value(
    '--graph-trace KIND',
    oneOf(['node', 'graph']),
    'record each kernel in a CUDA graph (node, default) or the graph as one block (graph)',
  ),
  traceFork: toggle('--trace-fork', 'follow forked workers (default)'),
  noTraceFork: toggle('--no-trace-fork', 'do not follow forked workers'),
  torchTrace: value(
    '--torch-trace FILE',
    text,
    'record a PyTorch trace: together with nsys for TensorRT-LLM, instead of nsys for other engines',
  ),
  torchShapes: toggle('--torch-shapes', 'record tensor shapes in the PyTorch trace (vLLM, SGLang)'),
  torchStack: toggle('--torch-stack', 'record Python stacks in the PyTorch trace'),
  torchMemory: toggle('--torch-memory', 'record memory allocations in the PyTorch trace'),
  balancedRouting: toggle('--perfect-router', 'balance expert routing (TensorRT-LLM); model output is wrong'),
  preset: value('--preset NAME', oneOf(presetNames), 'engine (default: detected from the command)'),
  engineVersion: value(
    '--engine-version V',
    text,
    'version of the engine to run (default: the version installed here)',
  ),
  nsysVersion: value(
    '--nsys-version V',
    text,
    'version of nsys to run (default: the version installed here)',
  ),
  ranks: value('--ranks N', whole(), 'number of ranks, if the launcher does not specify it'),
  modelPreset: value('--model NAME', text, 'model preset, for the report size estimate'),
  layers: value('--layers N', whole(), 'number of layers, for the report size estimate'),
  kernelsPerLayer: value('--kernels-per-layer N', whole(), 'kernels per layer, for the report size estimate'),
  url: value('--url URL', text, 'address of the server'),
  timeout: value('--timeout TIME', duration, 'stop after this time and keep what was recorded'),
  server: value(
    '--server URL',
    text,
    'address the command serves at: wait for it, send requests, stop the server',
  ),
  keepServer: toggle('--keep-server', 'keep the server running after its report is written'),
  attach: toggle(
    '--attach',
    'with --server: profile a running server through its own start and stop endpoints',
  ),
  pressure: value(
    '--levels LEVEL,…',
    text,
    'generate load as stepscope load does: single,concurrent:16,sustained:4/s',
  ),
  sent: value('--requests N', whole(0, 999_999), 'requests to send (default 16), or per level'),
  healthTimeout: value('--health-timeout TIME', duration, 'how long to wait for the server to start'),
  pod: value('--pod NAME', text, 'run in a pod, with your kubectl, and copy the report back'),
  namespace: value('-n, --namespace NAME', text, 'namespace of the pod'),
  container: value('-c, --container NAME', text, 'container in the pod'),
  fetch: value(
    '--fetch FOLDER',
    text,
    'with --pod or --ssh: fetch the reports of a run whose copy was interrupted',
  ),
  ssh: value('--ssh HOST', text, 'run on HOST, with your ssh'),
  nsysDeb: value('--nsys-deb FILE', text, 'Nsight Systems package to copy to a machine without nsys'),
  nsysTree: value('--nsys-tree DIR', text, 'the same, as an unpacked folder'),
  anyway: toggle('--anyway', 'run even if the plan reports that the result will be empty or wrong'),
  dryRun: toggle('--dry-run', 'print the commands without running them'),
  script: value('--script FILE', text, 'write a bash script that needs only nsys'),
  reportsFolder: value(
    '-o, --output FOLDER',
    text,
    'folder for reports, to check its disk space (default: the current folder)',
  ),

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
  maxDrop: value('--max-drop GB', kinds.sizeIn('GB', 1e6), 'largest file that can be dropped onto the page'),
  jsonLine: toggle('--json', 'print the URL and the profiles as one line of JSON'),
  copy: value('-o, --output OUT', text, 'output file; compressed if its name ends in .gz'),
  redacted: toggle(
    '--redact',
    'work on a redacted copy, so that the result is safe to share (docs/redact.md)',
  ),
  checkOnly: toggle('--check', 'write nothing; report whether the file is safe to share'),
  hashRanges: toggle('--hash-ranges', 'replace range names with hashes, except names that the analyses need'),

  // moe
  gpus: value(
    '--gpus N',
    whole(),
    'number of GPUs that hold the experts (default: the number of ranks, else 8)',
  ),
  nodes: value('--nodes N', whole(), 'number of nodes (default 1)'),
  replicas: value('--replicas N', whole(0), 'number of redundant experts (default: one per GPU)'),
  groups: value('--groups N', whole(), 'number of expert groups for group-limited routing (DeepSeek-V3: 8)'),
  expertTime: value(
    '--expert-time F+P',
    { read: given => readExpertTime(given) },
    'fixed time plus time per token and expert, for one layer on one GPU, e.g. 45us+12ns',
  ),
  expertShare: value(
    '--expert-share PERCENT',
    percentage('share', Number.EPSILON),
    'share of step time spent in experts, if no profile shows it: 40%',
  ),
  prefillFrom: value(
    '--prefill-from N',
    whole(),
    'treat iterations with at least N tokens as prefill, others as decode',
  ),
  loadPhase: value('--phase PHASE', oneOf(['prefill', 'decode', 'mixed']), 'only iterations of this phase'),
  as: value('--as KIND', oneOf(['counts', 'ids']), 'meaning of the numbers in a plain array, if ambiguous'),
  experts: value(
    '--experts N',
    whole(),
    'number of experts in the model, for files that contain only chosen IDs',
  ),
  all: toggle('--all', 'show every layer and GPU in the tables'),
  for: repeated(
    '--for LIST',
    { read: given => names.read(given, '--for').map(readMappingFormat) },
    `write the best mapping for ${Object.keys(mappingFormats).join(', ')}`,
  ),
  mappings: value('-o, --output FOLDER', text, 'folder for the mappings'),
  sweep: toggle('--sweep', 'sweep 8 to 288 GPUs, replicas and batch sizes, for each phase'),
  tokens: value(
    '--tokens N',
    whole(),
    'tokens per GPU and layer, for the traffic estimate (default: as measured)',
  ),
  hidden: withDefault(
    value('--hidden N', whole(), 'hidden size of the model, for the traffic estimate'),
    7168,
  ),
  topGroups: value(
    '--top-groups N',
    whole(),
    'groups that a token can use (DeepSeek-V3: 4), for the traffic estimate',
  ),
  topK: value('--top-k N', whole(), 'experts per token, if the file does not report it'),
  run: toggle('--run', 'run the pair; in this version, the pair is only printed without it'),
  repeats: withDefault(value('--repeats N', whole(), 'runs of each router, alternating'), 3),
  record: value(
    '--record A-B',
    spans,
    'add one run of each router that counts expert loads in these iterations',
  ),
  logs: withDefault(value('-o, --output FOLDER', text, 'folder for logs'), 'perfect-router'),
  learned: repeated(
    '--learned FILE',
    text,
    'existing results or profiles with the learned router; repeatable',
  ),
  perfect: repeated('--perfect FILE', text, 'the same with the perfect router'),
  learnedLoads: repeated(
    '--learned-loads FILE',
    text,
    'expert counts of the learned run, for the prediction',
  ),
  perfectLoads: repeated(
    '--perfect-loads FILE',
    text,
    'expert counts of the perfect run, to verify its balance',
  ),
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
function levelWords(): string {
  return 'single (default), concurrent:16 or sustained:8/s (open loop); several run one after the other';
}
function lengthWords(what: string): string {
  return `tokens in ${what}: 512, normal:512:64 (mean, standard deviation) or uniform:256-1024`;
}
