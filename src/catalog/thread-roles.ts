/** What processes and threads of serving engines are for, by the names they give themselves. Linux keeps 15 characters. */
interface ThreadRole {
  readonly role: string;
  readonly pattern: RegExp;
  readonly source: string;
}

const threadRoles: readonly ThreadRole[] = [
  { role: 'profiler', pattern: /^\[?NSys|^CUPTI|^\*\d/, source: 'threads of the profilers in real captures' },
  { role: 'engine core', pattern: /^VLLM::EngineC/, source: 'vllm/v1/engine/core.py, set_process_title' },
  {
    role: 'worker',
    pattern: /^VLLM::Worker|^sglang::gpu_wor/,
    source: 'vllm/v1/executor/multiproc_executor.py',
  },
  { role: 'API server', pattern: /^VLLM::(?:API|ApiS)/, source: 'vllm/entrypoints/cli/serve.py' },
  {
    role: 'scheduler',
    pattern: /^sglang::schedul/,
    source: 'sglang/srt/managers/scheduler.py, setproctitle',
  },
  { role: 'detokenizer', pattern: /^sglang::detoken/, source: 'sglang/srt/managers/detokenizer_manager.py' },
  { role: 'tokenizer', pattern: /^sglang::tokeniz/, source: 'sglang/srt/managers/tokenizer_manager.py' },
  { role: 'communication', pattern: /^pt_(?:nccl|gloo|tcpstore)/, source: 'threads of torch.distributed' },
  { role: 'messages', pattern: /^ZMQbg/, source: 'threads of ZeroMQ, over which engines send requests' },
  { role: 'CUDA driver', pattern: /^cuda(?:-|\d)/, source: 'threads of the CUDA driver in real captures' },
];

/** Empty where the names do not tell. The thread's own name goes before that of its process. */
export function roleOfThread(process: string, thread: string): string {
  for (const name of [thread, process]) {
    const found = threadRoles.find(({ pattern }) => pattern.test(name));
    if (found) return found.role;
  }
  return '';
}

export const isProfilerThread = (thread: string): boolean => roleOfThread('', thread) === 'profiler';
