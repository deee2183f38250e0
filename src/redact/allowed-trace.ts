/**
 * What a copy of a trace may hold: which keys, which categories, and what kind of text each argument is for. Whatever is
 * not listed is replaced, however harmless it looks. Sources: libkineto's output_json.cpp, PyTorch's kineto_shim.cpp.
 */

/** Keys of an event itself. */
const EVENT_KEY = /^(?:ph|cat|name|pid|tid|ts|dur|tts|tdur|id|id2|s|bp|scope|sf|esf|args|cname)$/;

/** Kineto's categories, old and new, and those of other backends. */
const CATEGORY =
  /^(?:kernel|(?:gpu_)?mem(?:cpy|set)|(?:(?:cuda|hip|xpu|mtia|musa|npu|hpu|mlu|glow|privateuse1)_)?(?:runtime|driver)|cpu_op|operator|hpu_op|python_function|(?:gpu_)?user_annotation|cuda_sync|cuda_event|cuda_profiler_range|collective_comm|external_correlation|overhead|trace|ac2g|async|async_cpu_to_gpu|async_gpu|cpu_to_gpu|cpu_instant_event|fwdbwd|forward_backward|__metadata)?$/i;

/** Work of the GPU: names of code. */
export const isGpuWork = (category: string): boolean =>
  /^(?:kernel|(?:gpu_)?mem(?:cpy|set))$/i.test(category);
/** Calls of an API, and what the profiler says about itself. */
export const isApiCall = (category: string): boolean =>
  /^(?:cuda_sync|cuda_event|overhead|(?:\w+_)?(?:runtime|driver))$/i.test(category);
export const isAnnotation = (category: string): boolean => /^(?:gpu_)?user_annotation$/i.test(category);
/** Operators, Python functions and Kineto's own bars. */
export const isHostWork = (category: string): boolean =>
  /^(?:cpu_op|operator|hpu_op|python_function|cpu_instant_event|trace|collective_comm)$/i.test(category);
export const isCategory = (text: string): boolean => CATEGORY.test(text);

/** Names of events without a category, which Kineto draws for itself. */
export const isKinetoMark = (name: string): boolean =>
  /^(?:(?:process|thread)_(?:name|labels|sort_index)|Iteration Start: PyTorch Profiler|Record Window End|\[memory\]|\[OutOfMemory\])$/.test(
    name,
  );

/** What the text of an argument is for. */
type ArgumentText = 'name' | 'kind' | 'labels' | 'types' | 'stack' | 'collective' | 'number';

const argumentTexts: Readonly<Record<string, ArgumentText>> = {
  name: 'name',
  kind: 'kind',
  cuda_sync_kind: 'kind',
  labels: 'labels',
  'Input type': 'types',
  dtype: 'types',
  'Call stack': 'stack',
  'Collective name': 'collective',
};
/** Arguments that are numbers, lists of numbers or switches; their texts stay where they are just that. */
const NUMERIC_ARGUMENT =
  /^(?:device|context|stream|correlation|cbid|cid|bytes|Bytes|grid|block|queued|External id|external id|external ts|Ev Idx|Record function id|Python id|Python parent id|Python module id|registers per thread|shared memory|blocks per SM|warps per SM|est\. achieved occupancy %|graph id|graph node id|Device|Device Id|Device Type|Addr|ptr|src|dst|size|Total Allocated|Total Reserved|wait_on_stream|wait_on_cuda_event_id|wait_on_cuda_event_record_corr_id|memory bandwidth \(GB\/s\)|Input Dims|Input Strides|Concrete Inputs|Sequence number|Fwd thread id|Trace iteration|Profiler Event Index|finished|sort_index|In msg nelems|Out msg nelems|In split size|Out split size|Group size|Global rank start|Global rank stride|Process Group Name|Process Group Ranks|Process Group ID|Rank|Src Rank|Dst Rank|Seq|Op count|Is asynchronized op|num_warps|num_stages|priority|fromDevice|inDevice|toDevice|ctx|stream_id)$/;

export const argumentText = (key: string): ArgumentText | undefined =>
  Object.hasOwn(argumentTexts, key) ? argumentTexts[key] : NUMERIC_ARGUMENT.test(key) ? 'number' : undefined;

/** Whether a key may stay; `above` are the keys that lead to it. */
export function isKnownKey(key: string, above: readonly string[]): boolean {
  if (above.length === 0) return EVENT_KEY.test(key);
  return above.length === 1 && above[0] === 'args' && argumentText(key) !== undefined;
}

/** Metadata that analyses read: what each of its texts is for. */
type MetadataText = 'gpu-name' | 'backend' | 'version' | 'unit' | 'number';
const metadata: Readonly<Record<string, Readonly<Record<string, MetadataText>>>> = {
  deviceProperties: { name: 'gpu-name' },
  distributedInfo: { backend: 'backend', nccl_version: 'version' },
  displayTimeUnit: { '': 'unit' },
};
const METADATA_KEY =
  /^(?:schemaVersion|deviceProperties|distributedInfo|record_shapes|profile_memory|with_(?:stack|flops|modules)|baseTimeNanoseconds|displayTimeUnit|(?:cuda|hip)_(?:driver|runtime)_version|(?:cupti|roctracer|rocprofiler|nccl|torch|pytorch)_version)$/;
const INNER_KEY =
  /^(?:id|name|totalGlobalMem|computeMajor|computeMinor|maxThreadsPerBlock|maxThreadsPerMultiprocessor|regsPerBlock|regsPerMultiprocessor|warpSize|sharedMemPerBlock|sharedMemPerMultiprocessor|sharedMemPerBlockOptin|numSms|maxSharedMemoryPerMultiProcessor|backend|rank|world_size|pg_count|pg_config|pg_name|pg_size|pg_desc|ranks|backend_config|group_count|nccl_version)$/;

export const isKnownMetadata = (key: string): boolean => METADATA_KEY.test(key);
export const isKnownInnerKey = (key: string): boolean => INNER_KEY.test(key);
export function metadataText(top: string, keys: readonly string[]): MetadataText {
  if (/_version$/.test(top)) return 'version';
  return metadata[top]?.[keys.length > 1 ? 'deeper' : (keys[0] ?? '')] ?? 'number';
}
