/** The CONFIG that `stepscope frameworks --init` prints: every key once, with what it is for. */
export const initConfig = `# What to compare. Then: stepscope frameworks THIS_FILE  (-o page.html for a page with charts)
#
# Run every framework with the same workload, or the verdict reports an unfair comparison: one model and precision,
# one GPU type and count, the same input and output lengths and concurrency, the same profiler, steady state. Run the
# benchmark without the profiler, three times, and take the profile in a separate run at the same load.
# Ready examples with the commands to run: docs/examples/frameworks-*.yaml

title: Llama 3.1 8B, 1024 in, 128 out, concurrency 64

# Defaults for all frameworks below; each may override them. All are optional.
# phase: decode                 # only steps of this phase: prefill, mixed, decode, speculative
# iterations: 100-150           # only these steps
# model: llama-3.1-8b           # preset, or the path of a config.json: adds the speed of light; names may then differ
# gpus: 1                       # GPUs the engine runs on, where benchmark and profile do not state it

frameworks:
  - name: TensorRT-LLM
    # Files or folders, relative to this file. Several are the ranks of one run.
    profiles: [trtllm/trace-rank-0.json]
    # Results of trtllm-bench, vllm bench, sglang.bench_*, AIPerf, GenAI-Perf. Several files are repeats, or a
    # sweep: then the comparison uses the load that all frameworks share.
    benchmarks: [trtllm/report-1.json, trtllm/report-2.json, trtllm/report-3.json]
    notes: 1.2, CUDA graphs with padding

  - name: vLLM
    profiles: [vllm/traces]
    benchmarks: [vllm/run-1.json, vllm/run-2.json, vllm/run-3.json]
    # Where the engine uses another step marker; groups iteration, phase, context, generation, contextTokens,
    # generationTokens are read.
    # marker: '^execute_context_(?<context>\\d+)\\((?<contextTokens>\\d+)\\)_generation_(?<generation>\\d+)'
`;
