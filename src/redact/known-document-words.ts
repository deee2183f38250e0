/**
 * Words of benchmark tools, of the agent and of this project's own documents: the keys that importers read, and the
 * words of labels, units and states. A copy of such a file keeps these and numbers.
 */
import { isCounterName } from '../catalog/engine-counters.js';

const keys = new Set(
  `perf_analyzer stimulus goodput request_goodput: tag label e2els last_ttft run_name example interrupted attentionDpRank
   num_output_tokens dataset_path staticBatchingStats numGenTokens machine memory.total clocks.mem scheduling_policy gen_tps_percentiles isl_stats osl_stats seq_len_stats max_isl max_osl
   max_sequence_length avg_isl avg_osl avg_sequence_length accept_length random_range_ratio sharegpt_output_len endpoint_type
   burstiness target otherFields notes code severity aiperf_version api arrivals average avg avg_decoded_tokens_per_iter avg_input_length avg_latency
   avg_num_concurrent_requests avg_output_length avg_request_latency_ms avg_tpot_ms avg_ttft_ms backend
   batch_size benchmark_duration calibrated captured clientLagNs code collected completed concurrency connect connectNs
   contextRequests contextTokens count counts cpu_blocks cuda dataset dataset_name date device dns dp_size dtype
   duration durationNs e2e e2eNs elapsed_time end_timestamp end_to_end_latency endKernel endNode endpoint engine
   entries ep_size error error_request_count error_tokens errors exactLength expertLoad failed
   first_token_timestamp firstByte firstByteNs firstKernel firstNode formats framework frameworkVersion fwd
   gcPauses gcPausesLeftOut generation generationKvTokens generationRequests generationSpeedPerUser
   generationTokens graph graphs graphsLeftOut id input input_config input_len input_lens input_sequence_length
   input_throughput inputTokens inter_chunk_latency inter_token_latency intertoken_latency isChain issue_rate
   items iteration iterations iterationsLeftOut itl itls kernels kind kv_cache_dtype kv_cache_percentage
   last_gen_throughput latencies latency level levels load loadgen max max_batch_size max_concurrency
   max_num_tokens maxConcurrency maximum maxNs mean mean_e2e_latency_ms meanConcurrency meanNs
   median_decode_latency min minimum minNs model model_id model_names model_path models mostInFlight name
   newConnections nnodes nodes num_input_tokens num_prompts num_requests num_total_output_tokens nvtx
   originMonotonicNs originNs output output_len output_lens output_sequence_length output_throughput
   output_throughput_per_gpu_tok_s output_throughput_per_user_tok_s output_token_throughput
   output_token_throughput_per_user output_tokens outputTokens outputTokensPerUser overall_throughput p50 p90
   p95 p99 parts patched percentiles percentilesNs performance perPiece phase phases pid pieces pp_size
   prefill_latency prefix prompts python quantization quietSteps quietStepsLeftOut rampNs rank request_count request_goodput request_info
   request_latency request_latency_percentiles_ms request_rate request_throughput request_throughput_req_s
   requestRate requests requests_per_second runtime sampling schema schema_version seed sendDelay sendDelayNs
   begin utcNs monotonicNs start_times serverId bootId requestIds
   hostCounters placement part userNs systemNs minorFaults majorFaults voluntarySwitches involuntarySwitches
   cpus machineCpus cpuNodes gpuNode engineStates atNs running waiting kvShare
   gpu_uuid timestamp_ns telemetry_data gpu_model_name nvidia_energy_consumption amd_energy_consumption energy_consumption
   metadata request_start_ns benchmark_phase session_num endpoint_url endpoint_latency_ns phase_kind engineLatency
   total_energy_j output_tps_per_w time_breakdown_metrics iter_counter iter_batch_size context_token_number
   num_gen_requests generation_token_number forward_start_time gpu_forward_time request_id request_timing_metrics
   ctx_chunk_metrics usage_completion_tokens usage_prompt_tokens request_end_ns query_time perf_metrics first_iter last_iter
   timing_metrics server_arrival_time arrival_time first_scheduled_time first_token_time server_first_token_time last_token_time
   kv_cache_metrics step_metrics forward_end_time sample_start_time sample_end_time gpu_sample_time token_time iter
   num_ctx_requests ctx_request_id ctx_perf_metrics gen_perf_metrics disagg_server_arrival_time disagg_server_first_token_time
   server_info settings severity sglang side steps start_timestamp startMonotonicNs startNs status std std_latency stddevNs
   stepscopeAgent stepsFrom stream streaming streaming_metrics successful_requests sum
   system_output_throughput_tok_s system_total_throughput_tok_s temperature tensorrt_llm thread throughput
   time_to_first_token timeoutNs timing token_output_speed_tok_s tokenizer_id tokens tokens_per_second torch
   torchTraces total_input_tokens total_latency total_latency_ms total_output_tokens
   total_output_tokens_retokenized total_throughput total_token_throughput totalTokens tp_size tpot
   tpot_percentiles tpotNs transformers trial ttft ttft_percentiles ttftNs ttfts type unfinished unit
   user_throughput version versions vllm warmup was_cancelled window windows world_info world_size worldSize`.split(
    /\s+/,
  ),
);
const words = new Set(
  `before after calibration Avg reqs Waiting Prefix cache hit running len accept queue new cached graph batch SpecDecoding null true false Namespace benchmark_args generated statistics Seq _torch complete first FAILED CHECK FOR factor GTPS done Skipping ready Setting Client side
   configured set main Reporting states Dev a A100 Acceptance adp_dummy_ctx_tokens adp_dummy_gen_tokens AIPerf all allocate an and any API are as at auto
   Average AVERAGE AVG avg_acceptance_rate avg_inter_token_latency avg_sequence_latency avg_time_to_first_token
   avgNumDecodedTokensPerIter B200 Backend BACKEND backend baselines Batch batch bench BENCHMARK benchmark
   Benchmark Benchmarking bfloat16 block both Breakdown Burstiness burstiness by Cache cached_kv_tokens capacity
   check completed completions Concurrency concurrency concurrent config count cpp CPU cpuMemUsage csv ctx CUDA
   cuda currank_total_requests data Dataset DATASET Decode decode DECODING Decoding decoding DETAILS Details
   Draft DT Dtype duration dynamo E E2E E2EL elapsed_time end End endpoint Energy energy engine ENGINE Engine EP
   error ERROR ERRORS Evict excl executor exiting failed Failed False First float16 for found FP8 free
   freeNumBlocks GB gen genai generation Generation GiB global_rank GPU gpu gpuForwardTimeMS gpuMemUsage graphs
   Guaranteed GUARANTEED_NO_EVICT H100 H200 host host_step_time hostStepTimeMS http I in inf inference Infinity
   inflightBatchingStats INFO info INFORMATION initial Initial Input input Inter is isLast Issue it iter
   iteration iterLatencyMS ITL J JSON json KeyboardInterrupt killed KV kv_cache_util kvCacheStats Last latencies
   Latency latency layers length Length line LLM load Loading LOG log MACHINE max Max MAX max_concurrency
   max_inter_token_latency max_sequence_latency max_time_to_first_token max_total_num_tokens Maximum MAXIMUM
   maxNumActiveRequests maxNumBlocks Mean measured median Median Memory memory metrics Metrics microBatchId MIN
   min_inter_token_latency min_sequence_latency min_time_to_first_token MINIMUM mixed model Model MPI ms MTP N
   nan NaN newActiveRequestsQueueLatencyMS No none None Not not num_ctx_requests num_ctx_tokens
   num_error_samples num_generation_tokens num_prompts num_samples num_scheduled_requests numActiveRequests
   Number numContextRequests numCtxTokens numGenRequests numPausedRequests numQueuedRequests
   numScheduledRequests NVIDIA nvtx of off offline Offline old on one Only OOM open openai out output Output
   OVERVIEW P50 p50_inter_token_latency p50_sequence_latency p50_time_to_first_token P90 p90_inter_token_latency
   p90_sequence_latency p90_time_to_first_token P95 P99 p99_inter_token_latency p99_sequence_latency
   p99_time_to_first_token Path Peak Per per Percentage Percentiles perf performance PERFORMANCE Poisson poisson
   Policy Power PP Prefill prefill Preparing prev_device_step_time prevDeviceStepTimeMS process processes
   profiling prompt Python PyTorch PYTORCH Quantization Queue Queueing random random_input_len random_output_len
   RANK rank ranks rate Rate received recipe refused replay report req REQUEST request Request request_rate
   Requested requests REQUESTS Result results retokenized RPS run Running runs Runtime RUNTIME s sample
   schedulerMode Scheduling sec second Second seconds seed seq seq_throughput sequence Sequence Sequences serve
   server serving Serving sglang signal single Size size specDecodingStats Speculative speculative Speed
   Starting STATISTICS Std steps stepscope stopped streamed streaming Successful sustained synthetic TensorRT
   tensorrt_llm tensorrtllm text the throughput Throughput Time time timeout timestamp to tok token Token
   token_throughput Tokens tokens tokensPerBlock torch total Total total_latency total_num TP TPOT tps TPS
   Traffic triton TRT trtllm True TTFT unique unknown unlimited usage usedNumBlocks User user using v1 value
   version Version vllm vLLM w W Warmup warmup WARNING Watt weights with without worker WORLD`.split(/\s+/),
);

/** Kinds of data that the tools offer by name (`--dataset-name`). */
const datasets = new Set(
  `sharegpt ShareGPT sonnet burstgpt BurstGPT custom hf mmmu image mooncake prefix_repetition spec_bench ids shared mm
   rerank synthetic`.split(/\s+/),
);

const STATISTIC =
  /^(?:mean|median|std|min|max|avg|[pP]\d{1,2}(?:[._]\d+)?)(?:_(?:e2el?|e2e_latency|ttft|tpot|itl)(?:_ms)?)?$/;

/**
 * Percentiles have as many names as there are percentages. A word of a log may be a field as well: TensorRT-LLM writes
 * its iterations as a dict or as JSON. What stands in the field is judged on its own.
 */
export const isKnownField = (key: string): boolean =>
  keys.has(key) ||
  words.has(key) ||
  isCounterName(key) ||
  STATISTIC.test(key) ||
  /^\d{1,3}(?:\.\d{1,3})?%?$/.test(key);

const TOKEN = /[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+){3,}|\d[\d.]*[A-Za-z_][A-Za-z0-9_]*/g;
const RANK_NAME = /^[TDPE]P\d{1,4}$/;
/** A version before its release: `0.6.0rc3`, `0.0.0.dev11532`. */
const EARLY_VERSION = /^\d{1,5}(?:\.\d{1,5}){1,3}\.?(?:a|b|rc|dev|post)\d{1,8}$/;
const UNIT_NUMBER = /^\d+(?:\.\d+)?(?:ms|s|us|ns|GiB|MiB|GB|MB|W|J|x)$/;

/** The text with every word that is not known replaced; `note` is called once where any was. */
export function knownWords(text: string, note: () => void): string {
  let removed = false;
  const kept = text.replace(TOKEN, word => {
    if (words.has(word) || datasets.has(word) || isKnownField(word) || word === 'removed') return word;
    if (UNIT_NUMBER.test(word) || EARLY_VERSION.test(word) || RANK_NAME.test(word)) return word;
    removed = true;
    return 'removed';
  });
  if (removed) note();
  return kept;
}
