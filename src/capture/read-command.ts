/** What a command runs: which engine, as a server or not, or only a client that talks to one. Told from its words. */
import type { PresetName } from './capture-plan.js';
import { baseName, isPython, textOf } from './launchers.js';

export interface Program {
  readonly preset: PresetName;
  readonly engine: string;
  readonly server: boolean;
  /** The name of a benchmark client or the like: what runs there never touches the model's GPU. */
  readonly client?: string;
  /** Starts a container: nsys outside sees only the program that asked for it. */
  readonly container?: string;
  /** `host:port` a server listens on. */
  readonly address?: string;
  /** The model as the command names it. */
  readonly model?: string;
}

const clientPrograms =
  /^(curl|wget|genai-perf|aiperf|guidellm|locust|k6|wrk2?|hey|ab|oha|vegeta|inference-perf|perf_analyzer)$/;
const clientScripts =
  /(^|\/)(benchmark_serving|bench_serving|bench_one_batch_server|token_benchmark_ray|benchmark_serving_multi_turn)(\.py)?$/;

export const engineOf: Readonly<Record<PresetName, string>> = {
  'trtllm-bench': 'TensorRT-LLM',
  'trtllm-serve': 'TensorRT-LLM',
  vllm: 'vLLM',
  sglang: 'SGLang',
  tgi: 'TGI',
  nim: 'NIM',
  python: 'Python',
};

/** Programs that start another and stand before it. */
export function withoutWrappers(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const name = baseName(rest[0] ?? '');
    if (name === 'env') {
      rest = rest.slice(1);
      while (/^\w+=/.test(rest[0] ?? '')) rest = rest.slice(1);
    } else if (
      ['trtllm-llmapi-launch', 'numactl', 'taskset', 'nohup', 'exec', 'uv', 'stdbuf'].includes(name)
    ) {
      rest = rest.slice(1);
      if (name === 'uv' && rest[0] === 'run') rest = rest.slice(1);
      // Their own options, and the lists of cores and nodes those take.
      while (/^(-|0x|\d+[,\d-]*$|all$)/.test(rest[0] ?? '')) rest = rest.slice(1);
    } else return rest;
  }
}

export function readProgram(command: readonly string[], asked?: PresetName): Program {
  const words = withoutWrappers(command);
  const name = baseName(words[0] ?? '');
  const asModule = isPython(name) && words[1] === '-m';
  /** What Python runs, without its own switches. */
  const script = isPython(name)
    ? asModule
      ? words[2]
      : words.slice(1).find(word => !word.startsWith('-'))
    : undefined;
  const told = tellPreset(name, script ?? '', words);
  const preset = asked ?? told.preset;
  const client = clientName(name, script ?? '', words);
  // `python -m` names a module, not a model.
  const named = asModule ? words.slice(3) : words;
  const model = textOf(named, ['--model', '-m', '--model-path', '--model-id', '--model_path']);
  const positional = /^(vllm|trtllm-serve|sglang)$/.test(name)
    ? words.slice(1).find(word => !['serve', 'bench', 'latency', 'throughput'].includes(word))
    : undefined;
  return {
    preset,
    engine: engineOf[preset],
    server:
      client === undefined && (asked === undefined ? told.server : told.server || asked === 'trtllm-serve'),
    ...(client === undefined ? {} : { client }),
    ...(/^(docker|podman|nerdctl|enroot|singularity|apptainer|kubectl)$/.test(name)
      ? { container: name }
      : {}),
    ...optional('address', addressOf(words)),
    ...optional('model', model ?? positional),
  };
}

const optional = <K extends string, V>(key: K, value: V | undefined) =>
  (value === undefined || (value as unknown as string).startsWith?.('-') ? {} : { [key]: value }) as {
    [P in K]?: V;
  };

function tellPreset(
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

function clientName(name: string, script: string, words: readonly string[]): string | undefined {
  if (clientPrograms.test(name)) return name;
  if (clientScripts.test(script) || clientScripts.test(name)) return baseName(script || name);
  if (/(^|\.)(bench_serving|bench_one_batch_server|benchmark_serving)$/.test(script)) return script;
  const bench = words.indexOf('bench');
  if (/^vllm/.test(name + script) && bench > 0 && words[bench + 1] === 'serve') return 'vllm bench serve';
  return undefined;
}

function addressOf(words: readonly string[]): string | undefined {
  const port = textOf(words, ['--port', '-p']);
  if (port === undefined || !/^\d+$/.test(port)) return undefined;
  const host = textOf(words, ['--host', '--hostname']);
  return `${host === undefined || /^(0\.0\.0\.0|::)$/.test(host) ? 'localhost' : host}:${port}`;
}
