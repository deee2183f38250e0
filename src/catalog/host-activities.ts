/**
 * What host ranges and Python functions of inference engines are for, and which API calls wait or allocate. Names
 * are those engines use; each line says whose.
 */
import type { IdleCause } from './idle-causes.js';

interface HostActivity {
  readonly cause: IdleCause;
  readonly pattern: RegExp;
  readonly source: string;
}

/** Tested on range names, and on the function part of Python frames (`scheduler.py(12): run_batch` → `run_batch`). */
const hostActivities: readonly HostActivity[] = [
  {
    cause: 'garbage-collection',
    pattern: /^Python GC\b|^gc\.collect$|^<built-in function collect>$|^stepscope\.gc\b/,
    source:
      'TensorRT-LLM TLLM_PROFILE_RECORD_GC, both eras; PyTorch profiler frames of gc.collect; our agent',
  },
  {
    cause: 'sampling',
    pattern:
      /^(_sample_async|_setup_sampler_step|_write_finish_reasons|fast_greedy_sample_kernel|_process_requests|sample|sampler|sampling|gpu_model_runner: sample|_sync_token_ids_across_tp)$/,
    source: 'TensorRT-LLM PyExecutor and sampler; vLLM scopes; SGLang model runner',
  },
  {
    cause: 'scheduling',
    pattern:
      /^(_schedule|schedule|_can_queue|prepare_resources|get_next_batch_to_run|get_new_batch_prefill|update_running_batch|tp_broadcast_schedule|cp_broadcast_schedule|recv_schedule_from_prev_pp|send_schedule_to_next_pp|_pad_attention_dp_dummy_request|Scheduler\.schedule|scheduler\.get_next_batch_to_run)$/,
    source: 'TensorRT-LLM PyExecutor; vLLM and SGLang schedulers',
  },
  {
    cause: 'request-handling',
    pattern:
      /^(_fetch_new_requests|_broadcast_new_requests|broadcast_requests|_update_requests|_update_request_states|_handle_responses|_enqueue_responses|_handle_canceled_requests|_emit_first_token_responses|_handle_first_token_response|recv_requests|process_input_requests|process_batch_result|process_batch_result_(prefill|decode)|stream_output|gpu_model_runner: (postprocess|bookkeep)|await_response-\d+|handle_response|LLM\.generate_async|update_from_output|scheduler\.(recv_requests|process_input_requests|process_batch_result))$/,
    source: 'TensorRT-LLM PyExecutor; SGLang scheduler; vLLM scopes and engine core',
  },
  {
    cause: 'input-preparation',
    pattern:
      /^(_prepare_inputs|_prepare_tp_inputs|prepare_inputs|gpu_model_runner: preprocess|prepare_for_(extend|decode)|init_new|replay_prepare|init_forward_metadata\w*|tokenize prompt|transformers input preprocess)$/,
    source: 'TensorRT-LLM model engine; vLLM model runner; SGLang ForwardBatch and attention backends',
  },
];

/** Which generation a mark of garbage collection says it was. */
export const GC_GENERATION = /gen(?:eration)? ?(\d)/;

/** `python/sglang/…/scheduler.py(3197): process_batch_result` → `process_batch_result`. */
export const functionOfFrame = (name: string): string => /^.*\.py\(\d+\): (.*)$/.exec(name)?.[1] ?? name;

export function activityOf(name: string): IdleCause | undefined {
  return hostActivities.find(({ pattern }) => pattern.test(name))?.cause;
}

/** Calls that each bring one piece of GPU work or more. */
export const WORK_LAUNCH =
  /^(cudaLaunchKernel|cuLaunchKernel|hipLaunchKernel|hipModuleLaunchKernel|hipExtLaunch|(cuda|hip|cu)GraphLaunch)/;
/** Of the calls that add a node to a graph while a stream is captured, those that are not kernels. */
export const COPY_CALL = /^(cuda|hip|cu)Memcpy\w*Async/;
export const MEMSET_CALL = /^(cuda|hip|cu)Memset\w*Async/;
/** Calls of the system in which a thread waits: for others, for input, or for time to pass. */
export const BLOCKING_CALL =
  /^(?:__)?(?:p?poll|p?select|epoll_p?wait|sem_(?:timed|clock)?wait|pthread_cond_(?:timed|clock)?wait|pthread_(?:mutex|rwlock|spin)_\w*lock|pthread_join|futex|(?:clock_)?nanosleep|u?sleep|recv\w*|accept4?|f?read|readv|wait(?:4|pid|id)?|sigwait\w*|pause|flock|f(?:data)?sync)(?:@|$|_\d)/;
/** Of these, those that wait only for time to pass. */
export const SLEEPING_CALL = /^(?:__)?(?:(?:clock_)?nanosleep|u?sleep)/;
export const BEGIN_CAPTURE = /^(cuda|hip|cu)StreamBeginCapture/;
export const END_CAPTURE = /^(cuda|hip|cu)StreamEndCapture/;
export const GRAPH_INSTANTIATE = /^(cuda|hip|cu)GraphInstantiate/;
/** Calls that put a function of the host into a stream: the GPU goes on when it has returned. */
export const HOST_FUNCTION = /^(cuda|hip|cu)(LaunchHostFunc|StreamAddCallback)/;
export const GRAPH_LAUNCH = /^(cuda|hip|cu)GraphLaunch/;
export const KERNEL_LAUNCH = /^(?:cuda|cu|hip)(?:Ext)?(?:Module)?Launch(?:Cooperative)?Kernel/;
export const SYNC_CALL =
  /^(cuda|hip)(Stream|Device|Event|Thread)Synchronize|^cu(Stream|Ctx|Event)Synchronize|^(cuda|hip)Memcpy(?!.*Async)|^cuMemcpy(?!.*Async)/;
export const ALLOCATION_CALL =
  /^(cuda|hip)(Ext)?(Malloc|Free|Host(Alloc|Register|Unregister|Free|Malloc)|MemPool(Create|Destroy|Trim))|^cuMem(Alloc|Free|Create|Release|Map|Unmap|AddressReserve|AddressFree|SetAccess|Host(Alloc|Register))/;
/** Ranges nsys writes with -t python-gil. */
/** A setting of a capture: our agent wrote down every collection, so that none recorded means none happened. */
export const GC_WATCHED = 'garbage collections';
export const GIL_WAIT = 'Waiting for GIL';
export const GIL_HOLD = 'Holding GIL';
