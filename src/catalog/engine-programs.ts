/** How engines, and clients that only talk to one, are told from the words of a command. */
import { type Engine, engines } from './engines.js';

/** Ways to start an engine that are captured differently. */
export const presets = {
  'trtllm-bench': { engine: engines.trtllm, port: 8000 },
  'trtllm-serve': { engine: engines.trtllm, port: 8000 },
  vllm: { engine: engines.vllm, port: 8000 },
  sglang: { engine: engines.sglang, port: 30000 },
  tgi: { engine: engines.tgi, port: 3000 },
  nim: { engine: engines.nim, port: 8000 },
  python: { engine: engines.python, port: 8000 },
} as const satisfies Readonly<Record<string, { engine: Engine; port: number }>>;

export type PresetName = keyof typeof presets;
export const presetNames = Object.keys(presets) as readonly PresetName[];

/** Programs that start another and stand before it. */
export const wrapperPrograms: readonly string[] = [
  ...['trtllm-llmapi-launch', 'numactl', 'taskset', 'nohup', 'exec', 'uv', 'stdbuf'],
];

/** Programs whose first plain word is the model. */
export const takesModelFirst = /^(vllm|trtllm-serve|sglang)$/;

/** `script`: the module or file Python runs, else empty. */
export function tellPreset(
  name: string,
  script: string,
  words: readonly string[],
): { preset: PresetName; server: boolean } {
  if (name === 'trtllm-bench') return { preset: 'trtllm-bench', server: false };
  if (name === 'trtllm-serve') return { preset: 'trtllm-serve', server: true };
  if (name === 'vllm') return { preset: 'vllm', server: words[1] === 'serve' };
  if (/^vllm\.entrypoints\.(openai\.)?api_server$/.test(script)) return { preset: 'vllm', server: true };
  if (/^vllm\b/.test(script)) return { preset: 'vllm', server: words.includes('serve') };
  if (name === 'sglang') return { preset: 'sglang', server: words[1] === 'serve' };
  if (/^sglang\b/.test(script)) return { preset: 'sglang', server: script === 'sglang.launch_server' };
  if (name === 'text-generation-launcher') return { preset: 'tgi', server: true };
  const nim = words.some(word => /nvcr\.io\/nim\//.test(word) || /(^|\/)opt\/nim\//.test(word));
  if (nim || /^nim_/.test(name)) return { preset: 'nim', server: true };
  if (words.some(word => /text-generation-inference/.test(word))) return { preset: 'tgi', server: true };
  return { preset: 'python', server: false };
}

/** With it, SGLang takes only requests to profile by stage and ends at any other (srt/utils/profile_utils.py). */
export const STAGES_ONLY = 'SGLANG_PROFILE_V2';

/** Variables of a running server that decide how it can be profiled. */
export const profilingVariables: readonly string[] = [
  ...['TLLM_PROFILE_START_STOP', 'TLLM_TORCH_PROFILE_TRACE', 'SGLANG_TORCH_PROFILER_DIR', STAGES_ONLY],
  ...['VLLM_TORCH_PROFILER_DIR', 'VLLM_TORCH_CUDA_PROFILE'],
];

/** A preset that was asked for is of a server, whatever starts it. */
export const alwaysServes = (preset: PresetName): boolean => preset === 'trtllm-serve';

const clientPrograms =
  /^(curl|wget|genai-perf|aiperf|guidellm|locust|k6|wrk2?|hey|ab|oha|vegeta|inference-perf|perf_analyzer)$/;
const clientScripts =
  /(^|\/)(benchmark_serving|bench_serving|bench_one_batch_server|token_benchmark_ray|benchmark_serving_multi_turn)(\.py)?$/;

/** What runs there never touches the model's GPU. */
export function clientName(name: string, script: string, words: readonly string[]): string | undefined {
  if (clientPrograms.test(name)) return name;
  const file = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  if (clientScripts.test(script) || clientScripts.test(name)) return file(script || name);
  if (/(^|\.)(bench_serving|bench_one_batch_server|benchmark_serving)$/.test(script)) return script;
  // Routers of disaggregated serving: the model runs in the servers behind them.
  if (name === 'trtllm-serve' && words[1] === 'disaggregated') return 'trtllm-serve disaggregated';
  if (/^(sglang_router|sglang\.srt\.disaggregation\.mini_lb|dynamo\.frontend)/.test(script)) return script;
  const bench = words.indexOf('bench');
  if (/^vllm/.test(name + script) && bench > 0 && words[bench + 1] === 'serve') return 'vllm bench serve';
  return undefined;
}
