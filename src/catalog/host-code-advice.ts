/**
 * What to do about host code that the GPU waits for, by the name of the code. Names are matched as
 * catalog/host-names.ts writes them; the first entry that knows a name answers for it.
 */
import { ALLOCATION_CALL } from './host-activities.js';

interface CodeAdvice {
  /** What the code is, for a person. */
  readonly what: string;
  readonly pattern: RegExp;
  readonly text: string;
}

const codeAdvice: readonly CodeAdvice[] = [
  {
    what: 'waiting for the GIL',
    pattern: /\(the GIL\)$|^Waiting for GIL$|^GIL held by thread /,
    text: 'another Python thread runs while the launching thread needs the interpreter: move its work to another process, or into code that releases the GIL',
  },
  {
    what: 'waiting for another thread or process',
    pattern:
      /^meanwhile thread |^(FileIO|Buffered\w+|socket|Connection)\.(read\w*|recv\w*|accept)$|^(pthread_cond_(timed|clock)?wait|pthread_join|sem_(timed|clock)?wait|p?poll|epoll_wait|futex|recv(from|m?msg)?|accept4?|wait(4|pid))$/,
    text: 'the launching thread waits for another thread or process, for work, an answer or a lock: find what that one does meanwhile (capture with --sample, or with Python stacks), and have the next step ready before this one is done',
  },
  {
    what: 'sleeping',
    pattern: /^((time|asyncio)\.)?sleep$|^(clock_)?nanosleep$|^usleep$/,
    text: 'the launching thread sleeps: there was nothing to do, or it polls; block on the queue of requests instead of sleeping',
  },
  {
    what: 'no CPU',
    pattern: /^runnable(,| without)/,
    text: 'give the launching thread a core of its own: pin it (taskset, numactl) near the GPU, and keep other work off that core',
  },
  {
    what: 'garbage collection',
    pattern: /^Python GC|^gc\.collect$|^stepscope\.gc\b/,
    text: 'keep garbage collection out of the loop: gc.freeze() after loading, gc.disable() in the loop, or raise gc.set_threshold',
  },
  {
    what: 'reading a value back',
    pattern:
      /^Tensor\.(item|tolist|cpu|numpy|nonzero|__bool__|__float__|__int__)$|^aten::(item|_local_scalar_dense|is_nonzero|nonzero)$/,
    text: 'keep the value on the GPU: .item(), .tolist(), .cpu(), nonzero() and branches on tensors make the host wait for it',
  },
  {
    what: 'plans of cuDNN attention',
    pattern: /cudnn_attention/,
    text: 'cuDNN builds a plan for every new length: use another SDPA backend (torch.backends.cuda.enable_cudnn_sdp(False)), or a static KV cache whose length does not change',
  },
  {
    what: 'memory allocation',
    pattern: ALLOCATION_CALL,
    text: 'allocate before the loop and reuse the buffers: allocation and freeing wait for the driver',
  },
  {
    what: 'page faults',
    pattern: /page_fault|^do_(anonymous|fault)|^clear_(huge_)?page|^handle_mm_fault/,
    text: 'touch host buffers once before the loop and reuse them: the first access to each page faults (pin them, or use huge pages)',
  },
  {
    what: 'returning memory to the system',
    pattern: /^(munmap|madvise|brk|mmap(64)?|mremap)$/,
    text: 'reuse host buffers: each large allocation is mapped and unmapped again (raise MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_)',
  },
  {
    what: 'detokenization and tokenization',
    pattern: /tokeniz|\b(batch_decode|encode_batch|convert_ids_to_tokens|convert_tokens_to_string)\b/i,
    text: 'move tokenization and detokenization off the launching thread, to a separate process or a thread that releases the GIL',
  },
  {
    what: 'guided decoding and masks',
    pattern: /mask|grammar|xgrammar|guidance|\bbitmask\b/i,
    text: 'build masks once and reuse them, or build them on the GPU; compute grammar masks on another thread while the GPU runs',
  },
  {
    what: 'sampling',
    pattern: /\bsampl(e|er|ing)|logits_?processor|top_?[kp]\b|\bmultinomial\b|penalt/i,
    text: 'sample on the GPU in one fused kernel, inside the graph where possible, and read the tokens back one step later',
  },
  {
    what: 'logging and statistics',
    pattern: /\(logging\/|\blog(ger|ging|uru|_stats|_metrics)?\b|^print$|record_stats|prometheus/i,
    text: 'log and count less in the loop: every N steps, without formatting tensors, on another thread',
  },
  {
    what: 'JSON',
    pattern: /\bo?json\b|json\/|iterencode/i,
    text: 'take JSON out of the loop: encode on another thread or process, or use a faster library',
  },
  {
    what: 'messages between processes',
    pattern: /pickle|pyobj|\bzmq\b|_zmq|shm_broadcast|msgpack|multiprocessing|serializ/i,
    text: 'send less between processes and without pickling: shared memory for arrays, a binary format for the rest, sent while the GPU runs',
  },
  {
    what: 'loading data',
    pattern: /DataLoader|\bdataset/i,
    text: 'load and prepare data in worker processes (num_workers), ahead of the step that needs it, into pinned memory',
  },
  {
    what: 'compiling, tuning or loading code',
    pattern: /nvrtc|autotun|cu(Library|Module)Load|\bcompile(?!d)|inductor|hipModuleLoad/i,
    text: 'code is compiled, tuned or loaded at its first use: warm up before serving (all batch sizes, CUDA_MODULE_LOADING=EAGER). In every step it means that shapes change: keep them fixed (static KV cache), or use a backend that needs no plan per shape',
  },
  {
    what: 'preparing inputs',
    pattern:
      /forward_metadata|_graph_metadata|attn_metadata|prepare_(inputs?|for_\w+)|page_table|block_table|seq_lens/i,
    text: 'prepare the inputs of the next step while the GPU runs this one; update buffers in place and copy them at once from pinned memory',
  },
  {
    what: 'launching compiled kernels from Python',
    pattern: /\((jit|driver|autotuner|compiler|launcher)\.py|tvm_ffi|TorchDynamo|Torch-Compiled Region/i,
    text: 'replay these launches in a graph: launching from Python checks and converts all arguments of every kernel each time',
  },
  {
    what: 'files and terminals',
    pattern: /^(p?write(v|64)?|f?putc|fwrite|fflush|open(64|at)?|fopen(64)?|fgets|fread)$/,
    text: 'keep file and terminal output out of the loop, or buffer it and write from another thread',
  },
];

/** Of names from the innermost out, the first that has an advice. */
export function adviceOnCode(
  names: readonly string[],
): { readonly what: string; readonly text: string } | undefined {
  for (const name of names) {
    const found = codeAdvice.find(({ pattern }) => pattern.test(name));
    if (found) return found;
  }
  return undefined;
}
