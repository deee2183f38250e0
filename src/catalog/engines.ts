/** The engines by name: what they are called, and where they differ in what a capture must know. */

export interface Engine {
  /** In texts and documents; step markers, benchmarks and plans name an engine by it. */
  readonly label: string;
  /** What clients call it as a backend, and servers as the owner of a model. */
  readonly goesBy?: RegExp;
  /** Its Python package, where one has to be looked up for its version. */
  readonly package?: string;
  /** Iterations are counted from the request to profile on, not from the start of the server. */
  readonly countsFromProfile?: true;
  /** How a request to profile a running server names its steps, since which release, and what the first is counted from. */
  readonly stepsInRequest?: {
    readonly first: string;
    readonly count: string;
    readonly countedFrom: 'the request' | 'server start';
    /** Older releases ignore the fields without a word. */
    readonly since?: readonly number[];
    /** The first step is given by its number from 1 on: 0 and 1 both skip nothing. */
    readonly numbersFromOne?: true;
    /** The request also says where to write and what to record. */
    readonly takesFolder?: true;
  };
  /** It has further ranges for debugging, which `--nvtx-debug` turns on. */
  readonly debugRanges?: true;
  /** Iterations to record are given by a variable, so a window can always be asked for. */
  readonly windowByVariable?: true;
  /** How the last iteration asked for was meant, by release. */
  readonly rangeEnds?: { readonly inclusive: string; readonly exclusive: string };
}

const known = {
  trtllm: {
    label: 'TensorRT-LLM',
    goesBy: /^(?:tensorrt[-_]?llm|trt)$/,
    package: 'tensorrt_llm',
    windowByVariable: true,
    debugRanges: true,
    stepsInRequest: {
      first: 'start_step',
      count: 'num_steps',
      countedFrom: 'the request',
      takesFolder: true,
    },
    rangeEnds: {
      inclusive: 'the range includes its last iteration (TensorRT-LLM up to about 1.3rc)',
      exclusive: 'the range excludes its last iteration (TensorRT-LLM from May 2026 on)',
    },
  },
  vllm: {
    label: 'vLLM',
    goesBy: /^vllm/,
    package: 'vllm',
    countsFromProfile: true,
    debugRanges: true,
    stepsInRequest: {
      first: 'delay_iterations',
      count: 'max_iterations',
      countedFrom: 'the request',
      since: [0, 32],
      numbersFromOne: true,
    },
  },
  sglang: {
    label: 'SGLang',
    goesBy: /^sglang/,
    package: 'sglang',
    debugRanges: true,
    stepsInRequest: {
      first: 'start_step',
      count: 'num_steps',
      countedFrom: 'server start',
      takesFolder: true,
    },
  },
  tgi: { label: 'TGI', goesBy: /^tgi$/ },
  nim: { label: 'NIM' },
  lmdeploy: { label: 'LMDeploy', goesBy: /^lmdeploy/ },
  deepspeedMii: { label: 'DeepSpeed-MII', goesBy: /^deepspeed-mii$/ },
  llamaCpp: { label: 'llama.cpp', goesBy: /^llamacpp$/ },
  atom: { label: 'ATOM' },
  agent: { label: 'stepscope agent' },
  pytorch: { label: 'PyTorch' },
  python: { label: 'Python' },
} as const satisfies Readonly<Record<string, Engine>>;

type EngineId = keyof typeof known;
export const engines: Readonly<Record<EngineId, Engine>> = known;
const all = Object.values(engines);

/** `TensorRT-LLM, vLLM, SGLang`: those whose packages are looked for. */
export const packagedEngines: readonly (Engine & { readonly package: string })[] = all.filter(
  (engine): engine is Engine & { readonly package: string } => engine.package !== undefined,
);

export const engineLabelled = (label: string): Engine | undefined =>
  all.find(engine => engine.label === label);

/** The label of what a client or server names; one that speaks to anything (`openai`) says nothing. */
export function engineNamed(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  return all.find(({ goesBy }) => goesBy?.test(name.trim()))?.label;
}

/** The variable of TensorRT-LLM that names the iterations to record. */
export const WINDOW_VARIABLE = 'TLLM_PROFILE_START_STOP';
