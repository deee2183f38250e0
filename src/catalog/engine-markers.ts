/**
 * How inference engines mark their steps, as NVTX ranges or profiler annotations. Each grammar names where it was
 * read. Groups: iteration, context (prefill requests), contextTokens, generation (decode requests), phase, batch.
 */
export interface MarkerGrammar {
  readonly engine: string;
  readonly pattern: RegExp;
  readonly source: string;
}

export const markerGrammars: readonly MarkerGrammar[] = [
  {
    engine: 'TensorRT-LLM',
    pattern:
      /^\[Executor\] _forward_step(?: (?<iteration>\d+))?: (?<context>\d+) ctx reqs(?:, (?<contextTokens>\d+) ctx tokens)?, (?<generation>\d+) gen reqs$/,
    source: 'tensorrt_llm/_torch/pyexecutor/py_executor.py, all four shapes from 0.17 on',
  },
  {
    engine: 'vLLM',
    pattern:
      /^execute_(?:(?<tokens>\d+)_)?context_(?<context>\d+)\((?<contextTokens>[^)]*)\)_generation_(?<generation>\d+)\((?<generationTokens>[^)]*)\)$/,
    source: 'vllm/v1/worker/gpu_model_runner.py, native and detailed',
  },
  {
    engine: 'SGLang',
    pattern: /^step\[(?<phase>[A-Z_]+) bs=(?<batch>\d+)(?: toks=(?<tokens>\d+))?[^\]]*\]$/,
    source: 'sglang/srt/managers/scheduler_profiler_mixin.py',
  },
  {
    engine: 'ATOM',
    pattern: /^(?<phase>prefill|decode)\[bs=(?<batch>\d+)(?:\/\d+)? tok=(?<tokens>\d+)[^\]]*/,
    source: 'AMD ATOM model runner',
  },
  { engine: 'PyTorch', pattern: /^ProfilerStep#(?<iteration>\d+)$/, source: 'torch/profiler/profiler.py' },
];

export function matchMarker(
  text: string,
): { grammar: MarkerGrammar; groups: Record<string, string> } | undefined {
  for (const grammar of markerGrammars) {
    const match = grammar.pattern.exec(text);
    if (match) return { grammar, groups: { ...match.groups } };
  }
  return undefined;
}
