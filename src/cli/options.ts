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
  json: toggle('--json', 'as JSON'),
  csv: toggle('--csv', 'as CSV, in base units'),
  markdown: toggle('--markdown', 'as Markdown, for a pull request'),
  html: toggle('--html', 'as one HTML page that needs nothing else'),
  format: value('-f, --format FORMAT', text, 'the same, by name'),
  output: value(
    '-o, --output FILE',
    text,
    'write to FILE; its ending chooses the format where none is given',
  ),
  outputFiles: value('-o, --output FILE', text, 'write to FILE, or to PREFIX_NAME files, one per result'),
  force: toggle('--force', 'overwrite what is there'),
  rows: value('--rows N', whole(), 'rows per table on the terminal'),

  // What to look at in a profile, and how its steps and kernels are found.
  whole: toggle('--whole', 'the whole trace instead of the steady state'),
  iterations: value('--iterations A-B', spans, 'only these steps, both ends included; lists too: 3,10-20'),
  phase: value('--phase PHASE', oneOf(phases.map(({ id }) => id)), 'only steps of this phase'),
  marker: value(
    '--marker REGEX',
    kinds.pattern,
    'your own step marker; groups iteration, phase, context, generation, tokens are read',
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
    'what TLLM_PROFILE_START_STOP was; tells if its end was included',
  ),
  model: value(
    '--model FILE',
    kinds.model,
    'config.json of the model, or a preset: compares with the speed of light',
  ),
  gpu: value('--gpu NAME', kinds.gpuName, 'the GPU, where the file does not name it: H100, MI300X …'),
  tp: value('--tp N', whole(1, 999_999), 'ways the weights are split over GPUs (default: the ranks)'),

  // analyze, steps, stats, report
  only: repeated('--only LIST', names, 'these analyses alone, each with all its rows'),
  checklist: toggle('--checklist', 'what a sound analysis needs, done or not'),
  why: value('--why KERNEL', text, 'say why a kernel is in its family; needs no file'),
  analysisSchema: value('--schema ID', text, 'print the JSON Schema of an analysis'),
  list: toggle('--list', 'list what there is to choose from; needs no file'),
  sequence: toggle('--sequence', 'the kernels of one typical step, in order'),
  fullNames: toggle('--full-names', 'with --sequence: names as recorded instead of short ones'),
  report: repeated('-r, --report LIST', names, 'reports to print, by name'),
  verify: toggle('--verify', 'hold each report beside what your own nsys prints for the same file'),
  time: value('--time A-B', kinds.timeWindow, 'only events in this stretch of time, for example 1.2s-1.5s'),
  maxSize: value('--max-size MB', kinds.sizeIn('MB', 1000), 'cut tables and thin charts to stay below'),

  // compare, frameworks
  threshold: value(
    '--threshold PERCENT',
    percentage('percent'),
    'smaller changes do not count, for example 2%',
  ),
  onlyComparable: toggle('--only-comparable', 'refuse (status 2) where figures would need a reservation'),
  perfectRouter: toggle(
    '--perfect-router',
    'BASE ran with the learned router, OTHER with the perfect one: is routing the bottleneck?',
  ),
  schema: toggle('--schema', 'print the JSON Schema of --json'),
  initConfig: toggle('--init', 'print a commented CONFIG to fill in'),

  // check, baseline, trend
  policy: value('--policy FILE', text, 'the limits, in YAML (see docs/gate.md)'),
  baseline: value('--baseline NAME', text, 'what to compare with (default: the one the policy names)'),
  baselines: withDefault(
    value('--baselines FILE', text, 'where baselines are kept', { flag: 'file' }),
    DEFAULT_BASELINES,
  ),
  history: value(
    '--baselines FILE',
    text,
    'the baselines of that file come first, in the order they were saved',
  ),
  bench: value('--bench FILE', text, 'what a benchmark of the run printed (see stepscope bench)'),
  repeat: repeated('--repeat FILE', text, 'another run of the same code; may be given again'),
  add: toggle('--add', 'a further run of a baseline that is there'),
  allowDifferent: repeated('--allow-different LIST', names, allowed()),
  junit: value('--junit FILE', text, 'also write JUnit XML, a test case per limit'),
  github: toggle('--github', 'also print annotations for GitHub Actions'),
  initPolicy: toggle('--init', 'print a policy made from the figures of FILE'),
  metrics: toggle('--metrics', 'list the metrics; needs no file'),
  metric: repeated('--metric LIST', names, 'metrics to follow (default step.p50, idle, kernels)'),

  // load, dataset
  levels: repeated('--levels LEVEL,…', { read: given => readLevels([given]) }, levelWords(), {
    flag: 'level',
  }),
  requests: value('--requests N', whole(), 'counted requests per level (default: 100, at least 4 per user)'),
  duration: value('--duration TIME', duration, 'or for so long: 60s, 2min; with both, whichever comes first'),
  warmup: withDefault(
    value('--warmup N', whole(0, 1e6), 'requests before each level that are not counted'),
    2,
  ),
  ramp: value('--ramp TIME', duration, 'grow to the full load over this time; not counted'),
  arrivals: withDefault(
    value('--arrivals KIND', oneOf(['poisson', 'constant']), 'how requests of sustained levels arrive'),
    'poisson',
  ),
  maxInFlight: withDefault(
    value('--max-in-flight N', whole(1, 1e5), 'of sustained levels: more wait, and their time runs'),
    4096,
  ),
  requestTimeout: withDefault(value('--timeout TIME', duration, 'for one request, all of it'), 600e9, '600s'),
  inputTokens: value('--input-tokens LENGTH', lengths, lengthWords('prompts'), { flag: 'input' }),
  outputTokens: value('--output-tokens LENGTH', lengths, 'the same for answers', {
    flag: 'output',
    when: /^(\d+$|normal:|uniform:)/,
  }),
  prefix: value(
    '--prefix KIND',
    text,
    'unique (default: no cache has seen the prompt), seeded (the same in the next run), shared:N (N tokens common)',
  ),
  dataset: value('--dataset FILE', text, "prompts in trtllm-bench's form, a JSON object per line"),
  seed: withDefault(value('--seed N', whole(0, 2 ** 32 - 1), 'the same seed draws the same'), 1),
  api: value('--api KIND', oneOf(apis), 'what to call (default: by the address, else completions)'),
  servedModel: value('--model NAME', text, 'default: the first the server lists'),
  noStream: toggle('--no-stream', 'whole answers; no TTFT, TPOT or ITL then'),
  allowEos: toggle('--allow-eos', 'let answers end early (default: ignore_eos, where the server knows it)'),
  body: value('--body JSON', text, 'fields added to every request; null takes one out'),
  header: repeated('--header NAME:VALUE', text, 'added to every request; may be given again'),
  apiKeyEnv: value('--api-key-env NAME', text, 'the environment variable that holds the key'),
  noKeepAlive: toggle('--no-keep-alive', 'a new connection for every request'),
  insecure: toggle('--insecure', 'take any certificate'),
  benchFile: value('-o, --output FILE', text, 'write the benchmark file, for stepscope bench'),
  datasetRequests: value('--requests N', whole(), 'how many'),
  datasetFile: value('-o, --output FILE', text, 'where to; standard output otherwise', { flag: 'file' }),
  vocab: withDefault(value('--vocab N', whole(2), 'token ids are below it'), 32000),
  text: toggle('--text', 'prompts of words, about a token each, instead of token ids'),

  // capture, doctor
  window: value(
    '--iterations A-B',
    { read: readIterations },
    'only these steps, both ends included; several: 100-150,300-320',
  ),
  delay: value('--delay TIME', duration, 'wait so long before recording, where an engine counts no steps'),
  recordFor: value('--duration TIME', duration, 'record for so long: 10s'),
  trace: value('-o, --output NAME', text, 'the report (trace); under a launcher each rank gets its own'),
  nvtx: toggle('--nvtx', 'ranges of the engine (the default)'),
  noNvtx: toggle('--no-nvtx', 'no ranges'),
  nvtxDebug: toggle('--nvtx-debug', 'the engine’s further ranges too'),
  agent: toggle('--agent', 'for Python programs: find and mark steps from inside'),
  agentFolder: value('--agent-folder DIR', text, 'where agent/ is on the machine that runs the program'),
  gc: toggle('--gc', 'garbage collections'),
  gil: toggle('--gil', 'who holds and who waits for the GIL'),
  gpuMetrics: toggle('--gpu-metrics', 'SM, tensor core and DRAM counters'),
  cudaMemory: toggle('--cuda-memory', 'GPU memory'),
  osrt: toggle('--osrt', 'calls of the operating system'),
  cublas: toggle('--cublas', 'calls of cuBLAS and cuDNN'),
  sample: toggle('--sample', 'CPU samples'),
  backtrace: toggle('--backtrace', 'who launched each kernel'),
  graphTrace: value(
    '--graph-trace KIND',
    oneOf(['node', 'graph']),
    'kernels inside CUDA graphs (node, the default), or each graph as a block',
  ),
  traceFork: toggle('--trace-fork', 'follow forked workers (the default)'),
  noTraceFork: toggle('--no-trace-fork', 'do not follow forked workers'),
  torchTrace: value(
    '--torch-trace FILE',
    text,
    'a PyTorch trace: beside nsys with TensorRT-LLM, instead of it elsewhere',
  ),
  torchShapes: toggle('--torch-shapes', 'shapes in that trace (vLLM, SGLang)'),
  torchStack: toggle('--torch-stack', 'Python stacks in it'),
  torchMemory: toggle('--torch-memory', 'allocations in it'),
  balancedRouting: toggle('--perfect-router', 'balanced expert routing (TensorRT-LLM); answers are wrong'),
  preset: value('--preset NAME', oneOf(presetNames), 'the engine; told from the command otherwise'),
  engineVersion: value('--engine-version V', text, 'of the engine that will run; looked up here otherwise'),
  nsysVersion: value('--nsys-version V', text, 'of the nsys that will run; looked up here otherwise'),
  ranks: value('--ranks N', whole(), 'where the launcher does not tell'),
  modelPreset: value('--model NAME', text, 'a preset, for the estimate of size'),
  layers: value('--layers N', whole(), 'for the estimate of size'),
  kernelsPerLayer: value('--kernels-per-layer N', whole(), 'for the estimate of size'),
  url: value('--url URL', text, 'where the server is reached'),
  timeout: value('--timeout TIME', duration, 'stop after so long and keep what there is'),
  server: value('--server URL', text, 'the command serves there: wait for it, send requests, stop it'),
  keepServer: toggle('--keep-server', 'let the server run on after its report is written'),
  attach: toggle('--attach', 'with --server: one that runs already, by its own start and stop addresses'),
  pressure: value(
    '--levels LEVEL,…',
    text,
    'press it as stepscope load does: single,concurrent:16,sustained:4/s',
  ),
  sent: value('--requests N', whole(0, 999_999), 'how many to send (16), or per level'),
  healthTimeout: value('--health-timeout TIME', duration, 'how long the server may take to come up'),
  pod: value('--pod NAME', text, 'run it in a pod, through your kubectl, and copy the report back'),
  namespace: value('-n, --namespace NAME', text, 'of the pod'),
  container: value('-c, --container NAME', text, 'in the pod'),
  fetch: value('--fetch FOLDER', text, 'with --pod or --ssh: get the reports of a run whose copy broke off'),
  ssh: value('--ssh HOST', text, 'run it there, through your ssh'),
  nsysDeb: value('--nsys-deb FILE', text, 'the nsys to bring along where there is none'),
  nsysTree: value('--nsys-tree DIR', text, 'the same, as a folder'),
  anyway: toggle('--anyway', 'run it although the plan says it will be empty or wrong'),
  dryRun: toggle('--dry-run', 'only print what would be run'),
  script: value('--script FILE', text, 'write it as a bash script that needs nothing but nsys'),
  reportsFolder: value(
    '-o, --output FOLDER',
    text,
    'where reports will go, for the room there (the current folder)',
  ),

  // view, redact
  compare: repeated('--compare FILE', text, 'a second run beside the first; repeat it for each of its files'),
  port: withDefault(value('--port N', whole(0, 65535), 'the port to serve at'), 0, 'a free one'),
  host: value(
    '--host ADDRESS',
    text,
    'an address others can reach; whoever asks then needs the key in the printed URL',
  ),
  noOpen: toggle('--no-open', 'do not open the browser'),
  maxDrop: value('--max-drop GB', kinds.sizeIn('GB', 1e6), 'largest file that may be dropped onto the page'),
  jsonLine: toggle('--json', 'print the address and the profiles as one line of JSON'),
  copy: value('-o, --output OUT', text, 'the copy; packed when its name ends in .gz'),
  redacted: toggle('--redact', 'from a redacted copy, so that the result is fit to share (docs/redact.md)'),
  checkOnly: toggle('--check', 'write nothing; say whether the file is fit to share'),
  hashRanges: toggle(
    '--hash-ranges',
    'replace names of ranges by hashes, but for those that analyses understand',
  ),

  // moe
  gpus: value('--gpus N', whole(), 'GPUs the experts are spread over (default: the ranks, else 8)'),
  nodes: value('--nodes N', whole(), 'machines they are in (default 1)'),
  replicas: value('--replicas N', whole(0), 'places beside the experts (default: one per GPU)'),
  groups: value('--groups N', whole(), 'groups of experts a token is limited to (DeepSeek-V3: 8)'),
  expertTime: value(
    '--expert-time F+P',
    { read: given => readExpertTime(given) },
    'floor and time per token and expert of a layer on a GPU, e.g. 45us+12ns',
  ),
  expertShare: value(
    '--expert-share PERCENT',
    percentage('share', Number.EPSILON),
    'what part of a step experts take, where no profile says it: 40%',
  ),
  prefillFrom: value(
    '--prefill-from N',
    whole(),
    'iterations with at least N tokens count as prefill, others as decode',
  ),
  loadPhase: value('--phase PHASE', oneOf(['prefill', 'decode', 'mixed']), 'only iterations of this phase'),
  as: value(
    '--as KIND',
    oneOf(['counts', 'ids']),
    'what the numbers of a plain array are, where they do not show it',
  ),
  experts: value('--experts N', whole(), 'experts of the model, where a file holds only chosen ids'),
  all: toggle('--all', 'every layer and GPU in the tables'),
  for: repeated(
    '--for LIST',
    { read: given => names.read(given, '--for').map(readMappingFormat) },
    `write the best mapping for ${Object.keys(mappingFormats).join(', ')}`,
  ),
  mappings: value('-o, --output FOLDER', text, 'where mappings go'),
  sweep: toggle('--sweep', '8 to 288 GPUs, replicas, batch sizes, each phase for itself'),
  tokens: value('--tokens N', whole(), 'tokens a GPU brings to a layer, for traffic (default: as measured)'),
  hidden: withDefault(value('--hidden N', whole(), 'width of the model, for traffic'), 7168),
  topGroups: value('--top-groups N', whole(), 'groups a token may use (DeepSeek-V3: 4), for traffic'),
  topK: value('--top-k N', whole(), 'experts per token, where the file does not say'),
  run: toggle('--run', 'run the pair; needed in this version, in which the pair is only printed without it'),
  repeats: withDefault(value('--repeats N', whole(), 'runs of each router, in turns'), 3),
  record: value('--record A-B', spans, 'one more run of each that counts experts in these iterations'),
  logs: withDefault(value('-o, --output FOLDER', text, 'where logs go'), 'perfect-router'),
  learned: repeated('--learned FILE', text, 'results or profiles that are there; may be repeated'),
  perfect: repeated('--perfect FILE', text, 'the same of the perfect router'),
  learnedLoads: repeated('--learned-loads FILE', text, 'counts of the learned run, to predict'),
  perfectLoads: repeated('--perfect-loads FILE', text, 'counts of the perfect run, to check its balance'),
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
  return `compare although these differ: ${differenceKinds.map(({ id }) => id).join(', ')}`;
}
function levelWords(): string {
  return 'single (default), concurrent:16 or sustained:8/s (open loop); several one after the other';
}
function lengthWords(what: string): string {
  return `tokens of ${what}: 512, normal:512:64 (mean, deviation) or uniform:256-1024`;
}
