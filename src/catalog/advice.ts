/** What to do about a finding, by engine. Settings are named as the engines' own documentation names them. */
import { engines } from './engines.js';
export interface AdviceText {
  /** `any`, or the engine as the step markers name it. */
  readonly engine: string;
  readonly text: string;
}

const any = (text: string): AdviceText => ({ engine: 'any', text });
const trtllm = (text: string): AdviceText => ({ engine: engines.trtllm.label, text });
const vllm = (text: string): AdviceText => ({ engine: engines.vllm.label, text });
const sglang = (text: string): AdviceText => ({ engine: engines.sglang.label, text });

export const adviceFor: Readonly<Record<string, readonly AdviceText[]>> = {
  'launch-overhead': [
    trtllm(
      'turn on CUDA graphs for this batch: cuda_graph_config with max_batch_size of at least the batch, enable_padding: true',
    ),
    vllm(
      'do not run with --enforce-eager; cover the batch with cudagraph_capture_sizes in --compilation-config',
    ),
    sglang('do not run with --disable-cuda-graph; raise --cuda-graph-max-bs to at least the batch'),
    any('replay decode as a CUDA graph, or fuse kernels (torch.compile) so that fewer are launched'),
  ],
  'prefill-launches': [
    vllm('piecewise CUDA graphs cover prefill too: cudagraph_mode FULL_AND_PIECEWISE'),
    any(
      'give each prefill step more tokens (larger chunks or batches), or compile the model so that fewer kernels are launched',
    ),
  ],
  'partial-graphs': [
    trtllm('add the missing batch sizes to cuda_graph_config.batch_sizes, or enable_padding: true'),
    vllm(
      'add the missing sizes to cudagraph_capture_sizes, or use full graphs (cudagraph_mode FULL_DECODE_ONLY)',
    ),
    sglang('raise --cuda-graph-max-bs, or list sizes with --cuda-graph-bs'),
    any('capture graphs for the batch sizes that run without one'),
  ],
  'exposed-host-work': [
    trtllm(
      'overlap it: disable_overlap_scheduler: false (the default of the PyTorch backend); look at the ranges named with --only idle-gaps',
    ),
    vllm('use --async-scheduling, and fewer API-server threads on the engine’s cores'),
    sglang('keep the overlap scheduler on (no --disable-overlap-schedule)'),
    any('prepare the next step while the GPU runs this one, and launch it before reading results back'),
  ],
  'sync-in-decode': [
    trtllm('keep the overlap scheduler on, so that tokens are read one step late'),
    any(
      'read tokens back asynchronously into pinned memory, one step late; look for .item(), .cpu(), .tolist(), nonzero() in the loop',
    ),
  ],
  'pageable-copies': [
    any(
      'copy through pinned buffers (pin_memory=True, non_blocking=True): pageable copies make the host wait',
    ),
  ],
  'tiny-copies': [any('put the step’s inputs into one pinned buffer and copy once')],
  'steady-allocations': [
    any(
      'let the caching allocator settle before measuring; set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call empty_cache() in the loop',
    ),
  ],
  'garbage-collection': [
    trtllm('set TRTLLM_WORKER_DISABLE_GC=1 (and TRTLLM_SERVER_DISABLE_GC=1)'),
    vllm('freeze what is long-lived after start-up (gc.freeze); newer versions do'),
    any('gc.freeze() after loading, gc.disable() in the loop, or raise gc.set_threshold'),
  ],
  'gil-contention': [
    trtllm('move tokenizing and post-processing to their own processes (num_postprocess_workers)'),
    vllm('run the API server apart from the engine (--api-server-count), tokenizer in its own process'),
    sglang('use --tokenizer-worker-num, and keep other Python threads out of the scheduler process'),
    any('move other Python work out of the process that launches, or into code that releases the GIL'),
  ],
  'exposed-communication': [
    trtllm('try allreduce_strategy: NCCL_SYMMETRIC, ONESHOT or MNNVL, and fused all-reduce + norm'),
    vllm('enable fused all-reduce + RMSNorm (pass_config) and custom all-reduce; check that NVLink is used'),
    sglang('enable --enable-flashinfer-allreduce-fusion, or --enable-mscclpp'),
    any(
      'hide it under compute (two batches overlapping), fuse it with the norm that follows, or lower the parallelism',
    ),
  ],
  'rank-skew': [
    any(
      'find what the late rank does on its host: pin processes to the GPU’s cores, look at its gaps with --only idle-gaps',
    ),
  ],
  'prefill-blocks-decode': [
    trtllm('enable_chunked_prefill: true with a smaller max_num_tokens'),
    vllm('lower --max-num-batched-tokens (chunked prefill is on by default)'),
    sglang('set --chunked-prefill-size, or --enable-mixed-chunk'),
    any('split prefill into chunks, or serve prefill and decode apart'),
  ],
  'step-jitter': [
    any('look at the slow steps one by one: stepscope analyze --iterations N --only step-budget,idle-gaps'),
  ],
  'graph-padding': [any('capture graphs for batch sizes closer to those that run')],
  'low-utilisation': [
    any('raise the batch or the number of requests in flight; look at the causes of idle in the step budget'),
  ],
  'memory-bandwidth': [
    trtllm(
      'use an FP8 or NVFP4 checkpoint and FP8 KV cache (kv_cache_config.dtype: fp8); raise the batch so that each weight read serves more tokens',
    ),
    vllm('use an FP8 checkpoint (--quantization fp8) and --kv-cache-dtype fp8; raise the batch'),
    sglang('use --quantization fp8 and --kv-cache-dtype fp8_e4m3; raise the batch'),
    any('read fewer bytes per token: quantised weights and KV cache, larger batches, speculative decoding'),
  ],
  'compute-bound': [any('use lower precision (FP8, NVFP4), or more GPUs: the arithmetic units are full')],
  'tensor-cores-idle': [
    any(
      'check the type of weights and inputs (bf16, fp16 or fp8, not fp32; allow TF32), and that sizes are multiples of 8',
    ),
  ],
  'clock-drop': [
    any(
      'check power and thermal limits (nvidia-smi -q -d PERFORMANCE), lock clocks while measuring (nvidia-smi -lgc)',
    ),
  ],
  'unfused-elementwise': [
    trtllm('use a model definition with fused modules, or torch_compile_config'),
    any('fuse them: torch.compile, or fused kernels of the engine (rope, add + norm, silu × mul)'),
  ],
  'far-from-light': [
    any('compare kernels and tiles: try another attention or GEMM backend; check shapes for odd sizes'),
  ],
  'fp8-available': [
    trtllm('quantise to FP8 (ModelOpt), or load an FP8 checkpoint'),
    vllm('--quantization fp8'),
    sglang('--quantization fp8'),
    any('this GPU multiplies FP8 twice as fast as 16 bits and reads half the bytes'),
  ],
  'profiler-overhead': [
    any('record less: shorter window, no --backtrace, no CPU sampling, no stacks and shapes together'),
  ],
  'client-profiled': [
    trtllm(
      'wrap the server: nsys profile -t cuda,nvtx -c cudaProfilerApi --trace-fork-before-exec=true trtllm-serve …',
    ),
    any('wrap the process that runs the model, and follow its children (--trace-fork-before-exec=true)'),
  ],
  'graph-kernels-hidden': [any('capture again with --cuda-graph-trace=node')],
  'broken-file': [
    any(
      'copy the file again, or export the report again; a capture stopped while writing has to be taken again',
    ),
  ],
  'dropped-data': [any('shorten the window or record fewer things; raise --cuda-flush-interval')],
  'one-rank': [any('give the files of all ranks: skew and waiting cannot be told from one')],
  'too-few-steps': [any('capture 20 steps or more: --iterations A-B, TLLM_PROFILE_START_STOP=A-B')],
  'warm-up-inside': [any('begin the window later; the steady state was chosen without these steps')],
  'whole-run-captured': [
    any('capture only the steps: nsys -c cudaProfilerApi with TLLM_PROFILE_START_STOP=A-B'),
  ],
  'no-steps': [any('capture NVTX (-t nvtx) with the engine’s step markers, or give --marker REGEX')],
};
