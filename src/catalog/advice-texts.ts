/**
 * What to do about a finding, by engine. Settings are named as the engines' own documentation names them. An entry is
 * given only where its engine is known to run, and where what it advises is not already so.
 */
import { engines } from './engines.js';

/** What a capture may show that makes an advice pointless. */
export type Circumstance =
  /** The host prepares a step while the GPU runs the one before it. */
  | 'steps-overlap'
  /** Weights are stored in 4 bits. */
  | 'narrow-weights'
  | 'amd';

interface AdviceText {
  /** `any`, `PyTorch` for every program that runs on it, or the engine as the step markers name it. */
  readonly engine: string;
  readonly text: string;
  readonly unless?: readonly Circumstance[];
  /** What to do instead where a circumstance makes another entry pointless. */
  readonly only?: Circumstance;
}

const by =
  (engine: string) =>
  (text: string, ...unless: Circumstance[]): AdviceText => ({
    engine,
    text,
    ...(unless.length > 0 ? { unless } : {}),
  });
const when = (only: Circumstance, advice: AdviceText): AdviceText => ({ ...advice, only });
const any = by('any');
const torch = by(engines.pytorch.label);
const trtllm = by(engines.trtllm.label);
const vllm = by(engines.vllm.label);
const sglang = by(engines.sglang.label);

export const adviceFor: Readonly<Record<string, readonly AdviceText[]>> = {
  'launch-overhead': [
    trtllm(
      'turn on CUDA graphs for this batch: cuda_graph_config with max_batch_size of at least the batch, enable_padding: true',
    ),
    vllm(
      'do not run with --enforce-eager; cover the batch with cudagraph_capture_sizes in --compilation-config',
    ),
    sglang('do not run with --disable-cuda-graph; raise --cuda-graph-max-bs to at least the batch'),
    torch('replay the step as a CUDA graph, or fuse kernels (torch.compile) to launch fewer'),
    any('replay the step as a CUDA graph, or fuse kernels to launch fewer'),
  ],
  'prefill-launches': [
    vllm('piecewise CUDA graphs cover prefill too: cudagraph_mode FULL_AND_PIECEWISE'),
    sglang('piecewise CUDA graphs cover prefill too: do not run with --disable-piecewise-cuda-graph'),
    any(
      'give each prefill step more tokens (larger chunks or batches), or compile the model to launch fewer kernels',
    ),
  ],
  'partial-graphs': [
    trtllm('add the missing batch sizes to cuda_graph_config.batch_sizes, or enable_padding: true'),
    vllm('add the missing sizes to cudagraph_capture_sizes'),
    sglang('raise --cuda-graph-max-bs, or list sizes with --cuda-graph-bs'),
    any('capture graphs for the batch sizes that run without them'),
  ],
  'graphs-in-pieces': [
    vllm('use full graphs where the attention backend supports them: cudagraph_mode FULL_AND_PIECEWISE'),
    any('include the layers that run outside in the graph'),
  ],
  'launch-stall': [
    any(
      'inspect the call in the timeline: either the first launch of a kernel loads its code (warm up, or set CUDA_MODULE_LOADING=EAGER), or another thread held the driver lock',
      'amd',
    ),
    when(
      'amd',
      any('inspect the call in the timeline: the first launch of a kernel loads its code, so warm up first'),
    ),
  ],
  'held-up': [
    any(
      'see who has the CPU: stepscope capture --sample records context switches; check cgroup limits, taskset and other processes on its cores; then the GIL (nsys -t python-gil) and gc.freeze()',
    ),
  ],
  'host-function': [
    any(
      'take the function out of the stream: do its work in a thread that waits for an event, and let the kernels behind it go on',
    ),
  ],
  'graph-captured-again': [
    any('capture each shape once, keep the graph and replay it; update its inputs in place'),
  ],
  'exposed-host-work': [
    trtllm(
      'overlap it: disable_overlap_scheduler: false (the default of the PyTorch backend); find the host code with stepscope host FILE',
      'steps-overlap',
    ),
    vllm(
      'schedule the next step while the GPU runs this one: --async-scheduling (the default from 0.14 on, unless turned off or not supported by the configuration)',
      'steps-overlap',
    ),
    sglang('enable the overlap scheduler (do not run with --disable-overlap-schedule)', 'steps-overlap'),
    any(
      'prepare the next step while the GPU runs, and launch it before reading results back',
      'steps-overlap',
    ),
    any(
      'find what the launching thread does with stepscope host FILE, and move it to another thread or process',
    ),
  ],
  'host-work-in-step': [
    any(
      'find what the host does between the layers with stepscope host FILE; a CUDA graph of the whole forward pass needs only one launch',
    ),
  ],
  'sync-in-decode': [
    trtllm(
      'keep the overlap scheduler enabled, so that tokens are read back one step later',
      'steps-overlap',
    ),
    torch(
      'read results back asynchronously into pinned memory, one step later; look for .item(), .cpu(), .tolist(), nonzero() in the loop',
    ),
    any('read results back asynchronously into pinned memory, one step later'),
  ],
  'blocking-in-layers': [
    torch(
      'keep values on the GPU: look for .item(), .cpu(), .tolist(), nonzero(), boolean masks and branches on tensor values inside the layers',
    ),
    any('keep values on the GPU inside a step, and read them back once, at its end'),
  ],
  'pageable-copies': [
    torch(
      'copy through pinned buffers (pin_memory=True, non_blocking=True): pageable copies make the host wait',
    ),
    any('copy through pinned buffers with asynchronous calls: pageable copies make the host wait'),
  ],
  'link-bound': [
    any(
      'keep what is copied on the GPU, or copy less of it (quantized weights, a smaller cache); copy on a stream of its own while kernels run',
    ),
  ],
  'tiny-copies': [any('pack the step’s inputs into one pinned buffer and copy it once')],
  'steady-allocations': [
    torch(
      'warm up the caching allocator before measuring; set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call empty_cache() in the loop',
      'amd',
    ),
    when(
      'amd',
      torch('warm up the caching allocator before measuring; do not call empty_cache() in the loop'),
    ),
    any(
      'allocate once before the loop and reuse the buffers, or allocate from a pool (cudaMallocAsync)',
      'amd',
    ),
    when('amd', any('allocate once before the loop and reuse the buffers')),
  ],
  'memory-growth': [
    torch(
      'look for tensors kept across steps (lists of outputs; unneeded gradients: use torch.inference_mode)',
    ),
    any(
      'find allocations that every step makes and never frees: stepscope analyze FILE --only memory-in-use',
    ),
  ],
  'garbage-collection': [
    trtllm('set TRTLLM_WORKER_DISABLE_GC=1 (and TRTLLM_SERVER_DISABLE_GC=1)'),
    vllm('freeze long-lived objects after start-up (gc.freeze); newer versions do this'),
    any('gc.freeze() after loading, gc.disable() in the loop, or raise gc.set_threshold'),
  ],
  'gil-contention': [
    trtllm('move tokenization and post-processing to separate processes (num_postprocess_workers)'),
    vllm('run the API server (--api-server-count) and the tokenizer in separate processes from the engine'),
    sglang('use --tokenizer-worker-num, and keep other Python threads out of the scheduler process'),
    any('move other Python work out of the launching process, or into code that releases the GIL'),
  ],
  'cpu-contention': [
    any(
      'reserve CPU cores for the launching process (taskset, cpuset, CPU manager policy static) and keep the threads named above off them',
    ),
    any('give the container more CPUs, or reduce the threads of other programs (OMP_NUM_THREADS)'),
  ],
  'lost-cpu': [
    any(
      'reserve CPU cores for the launching process (taskset, cpuset, CPU manager policy static); nsys with context switches names the threads that take them: stepscope capture --sample',
    ),
  ],
  'page-faults': [
    any(
      'allocate buffers once and reuse them; large ones that are freed go back to the system (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, or jemalloc)',
    ),
  ],
  'distant-gpu': [
    any('run the process on the node of its GPU: numactl --cpunodebind=N --membind=N, or the CPU manager'),
  ],
  'core-migrations': [
    any(
      'pin the launching process to cores near its GPU: numactl --cpunodebind, taskset, or the CPU manager',
    ),
  ],
  'exposed-communication': [
    trtllm('try allreduce_strategy: NCCL_SYMMETRIC, ONESHOT or MNNVL, and fused all-reduce + norm'),
    vllm('enable fused all-reduce + RMSNorm (pass_config) and custom all-reduce; check that NVLink is used'),
    sglang('enable --enable-flashinfer-allreduce-fusion, or --enable-mscclpp'),
    any(
      'overlap it with compute (two micro-batches), fuse it with the norm that follows, or reduce the degree of parallelism',
    ),
  ],
  'waiting-for-slowest-rank': [
    any(
      'find what the late rank does longer (--only rank-skew,rank-waits) and even out its work, its experts (stepscope moe) or its host; if all of its kernels are slower, compare GPU clocks',
    ),
  ],
  'pipeline-waiting': [
    any(
      'keep as many batches in flight as there are stages, give the stages equal work (layers, and the head on the last), or use tensor parallelism inside a node',
    ),
  ],
  'rank-skew': [
    any(
      'find what delays the late rank’s host: pin processes to CPU cores near the GPU, find its code with stepscope host FILE',
    ),
  ],
  'prefill-blocks-decode': [
    trtllm('enable_chunked_prefill: true with a smaller max_num_tokens'),
    vllm('lower --max-num-batched-tokens (chunked prefill is on by default)'),
    sglang('set --chunked-prefill-size, or --enable-mixed-chunk'),
    any('split prefill into chunks, or serve prefill and decode separately'),
  ],
  'step-jitter': [
    any('inspect the slow steps one by one: stepscope analyze --iterations N --only step-budget,idle-gaps'),
  ],
  'graph-padding': [any('capture graphs for batch sizes closer to those that run')],
  'low-utilisation': [
    any('increase the batch size or concurrency; check the idle causes in the step budget'),
  ],
  'memory-bandwidth': [
    trtllm(
      'use an FP8 or NVFP4 checkpoint and FP8 KV cache (kv_cache_config.dtype: fp8); increase the batch size so that each weight read serves more tokens',
      'narrow-weights',
    ),
    vllm(
      'use an FP8 checkpoint (--quantization fp8) and --kv-cache-dtype fp8; increase the batch size',
      'narrow-weights',
    ),
    sglang('use --quantization fp8 and --kv-cache-dtype fp8_e4m3; increase the batch size', 'narrow-weights'),
    any(
      'read fewer bytes per token: quantize weights and KV cache, use larger batches or speculative decoding',
      'narrow-weights',
    ),
    when(
      'narrow-weights',
      any(
        'weights are already 4-bit: increase the batch size so that each weight read serves more tokens, shrink the KV cache, or use speculative decoding',
      ),
    ),
  ],
  'compute-bound': [
    any('use lower precision (FP8, NVFP4), or more GPUs', 'narrow-weights'),
    when(
      'narrow-weights',
      any('use more GPUs, or a format with low-precision arithmetic too (4-bit weights alone save no FLOPs)'),
    ),
  ],
  'tensor-cores-idle': [
    any(
      'check the data type of weights and inputs (bf16, fp16 or fp8, not fp32; allow TF32), and that dimensions are multiples of 8',
    ),
  ],
  'fp32-gemm': [
    torch(
      'load weights in a 16-bit type, or allow TF32 where the GPU supports it: torch.set_float32_matmul_precision("high")',
    ),
    any('run them in a 16-bit type, or allow TF32 where the GPU supports it (CUBLAS_COMPUTE_32F_FAST_TF32)'),
  ],
  'cuda-errors': [
    any('check the return values in the program; run it under compute-sanitizer', 'amd'),
    when('amd', any('check the return values in the program')),
  ],
  'clock-drop': [
    any(
      'check power and thermal limits (nvidia-smi -q -d PERFORMANCE), lock clocks while measuring (nvidia-smi -lgc)',
      'amd',
    ),
    when('amd', any('check power and thermal limits (amd-smi metric), lock clocks while measuring')),
  ],
  'unfused-elementwise': [
    trtllm('use a model definition with fused modules, or torch_compile_config'),
    torch('fuse them: torch.compile, or fused kernels (rope, add + norm, silu × mul)'),
    any('fuse adjacent kernels, so that intermediate results stay out of GPU memory'),
  ],
  'shared-gpu': [
    any(
      'give each process a GPU of its own (CUDA_VISIBLE_DEVICES), stop the other one, or partition the GPU (MIG); profile again before judging kernels',
    ),
  ],
  'unfused-attention': [
    torch(
      'use fused attention: F.scaled_dot_product_attention, or attn_implementation="sdpa" or "flash_attention_2" in transformers',
    ),
    any('use an attention kernel that keeps the scores on the chip (FlashAttention)'),
  ],
  'costly-sampling': [
    vllm(
      'try FlashInfer’s sampler (VLLM_USE_FLASHINFER_SAMPLER=1); ask for fewer logprobs and no penalties where clients can do without',
    ),
    sglang('--sampling-backend flashinfer; ask for fewer logprobs where clients can do without'),
    torch(
      'take the top k first (torch.topk) and sort only these, or use a sampling kernel that needs no sort',
    ),
    any('use a sampling kernel that needs no sort over the whole vocabulary'),
  ],
  concatenation: [
    torch(
      'allocate the result once and write new parts in place: a KV cache that grows by torch.cat is copied whole for every token (StaticCache in transformers, or a paged cache)',
    ),
    any('allocate the result once and write new parts in place'),
  ],
  'far-from-light': [any('try another attention or GEMM backend; check for unaligned shapes')],
  'fp8-available': [
    trtllm('quantize to FP8 (ModelOpt), or load an FP8 checkpoint'),
    vllm('--quantization fp8'),
    sglang('--quantization fp8'),
    any('use FP8: this GPU computes it twice as fast as 16-bit types, and it halves the bytes read'),
  ],
  'attention-heavy': [
    trtllm('keep the KV cache in FP8: kv_cache_config: {dtype: fp8}'),
    vllm('keep the KV cache in FP8: --kv-cache-dtype fp8'),
    sglang('keep the KV cache in FP8: --kv-cache-dtype fp8_e4m3'),
    any(
      'keep the KV cache in 8 bits; try another attention backend; a shorter context or fewer requests at a time read less',
    ),
  ],
  'profiler-overhead': [
    any('trace less: shorter window, no --backtrace, no CPU sampling, not both stacks and shapes'),
  ],
  'profiler-cost': [
    any(
      'read step times as “without the profiler”; capture --agent --calibrate measures them in a second run',
    ),
  ],
  'stacks-recorded': [
    any(
      'capture again without stacks (with_stack=False) before judging host time; use this capture only to locate code',
    ),
  ],
  'client-profiled': [
    trtllm(
      'wrap the server: nsys profile -t cuda,nvtx -c cudaProfilerApi --trace-fork-before-exec=true trtllm-serve …',
    ),
    any(
      'profile the process that runs the model; nsys traces its child processes with --trace-fork-before-exec=true',
    ),
  ],
  'graph-kernels-hidden': [any('capture again with --cuda-graph-trace=node')],
  'broken-file': [
    any(
      'copy the file again, or export the report again; if the capture stopped while writing, take it again',
    ),
  ],
  'dropped-data': [any('shorten the window or trace less; increase --cuda-flush-interval')],
  'one-rank': [any('give the files of all ranks: one rank cannot show skew and waiting')],
  'graph-being-captured': [any('capture a later window, where the graph is replayed')],
  'gpu-work-lost': [
    any(
      'trace CUDA; check that the profiler may record GPU activity (permissions, no second profiler attached) and flushes before the process exits',
    ),
  ],
  'too-few-steps': [
    trtllm('capture 20 steps or more: TLLM_PROFILE_START_STOP=A-B'),
    any('capture 20 steps or more: stepscope capture --iterations A-B'),
  ],
  'warm-up-inside': [any('start the window later; the steady state already excludes these steps')],
  'first-step-unlike': [any('exclude it with --iterations, or start the window a few steps earlier')],
  'whole-run-captured': [
    trtllm('capture only the steps: nsys -c cudaProfilerApi with TLLM_PROFILE_START_STOP=A-B'),
    any('capture only the steps: stepscope capture --iterations A-B'),
  ],
  'no-steps': [any('capture NVTX (-t nvtx) with the engine’s step markers, or give --marker REGEX')],
};
