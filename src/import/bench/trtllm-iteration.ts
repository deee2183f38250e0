/**
 * The line TensorRT-LLM prints per pass with `print_iter_log`, in its four shapes (elapsed_time in seconds; host and
 * device step time with `num_scheduled_requests: K`; the same with `= K` and kv_cache_util; and with adp_dummy
 * fields). Read in tensorrt_llm/_torch/pyexecutor/py_executor.py, `_profiler`, at several versions.
 */
import { shiftDecimal } from '../../base/decimal-shift.js';
import type { BenchIteration } from '../../model/bench-run.js';

export const isIterationLine = (text: string) => text.includes('iter = ') && text.includes(', rank = ');

const WHOLE = /\biter = (\d{1,15}), global_rank = (\d{1,9}), rank = (\d{1,9}), (.*)$/;
const STATES = /, states = \{([^{}]*)\}/;

/** Undefined: the line is cut or mixed with another. */
export function iterationOf(text: string): BenchIteration | undefined {
  const line = WHOLE.exec(text);
  const states = line && STATES.exec(line[4]);
  if (!line || !states) return undefined;
  const fields = new Map<string, string>();
  const middle = line[4].slice(0, states.index);
  for (const match of middle.matchAll(/(\w{1,60})(?: = |: )([^,]{1,60})/g))
    fields.set(match[1], match[2].trim());
  const state = new Map<string, string>();
  for (const match of states[1].matchAll(/'(\w{1,60})': ([^,]{1,40})/g)) state.set(match[1], match[2].trim());
  return withoutAbsent({
    iteration: Number(line[1]),
    globalRank: Number(line[2]),
    rank: Number(line[3]),
    timestamp: fields.get('timestamp'),
    hostStepNs: duration(fields.get('host_step_time')) ?? duration(fields.get('elapsed_time')),
    previousDeviceStepNs: duration(fields.get('prev_device_step_time')),
    scheduledRequests: count(fields.get('num_scheduled_requests')),
    kvCacheShare: plain(fields.get('kv_cache_util')),
    contextRequests: count(state.get('num_ctx_requests')),
    contextTokens: count(state.get('num_ctx_tokens')),
    generationTokens: count(state.get('num_generation_tokens')),
  });
}

/** Rows have only what was printed. */
export function withoutAbsent<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row;
}

function duration(text = ''): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?)(ms|s)$/.exec(text);
  return match ? shiftDecimal(Number(match[1]), match[2] === 'ms' ? 6 : 9) : undefined;
}

const count = (text = '') => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
const plain = (text = '') => (/^\d{1,3}(?:\.\d{1,20})?(?:e-\d{1,3})?$/.test(text) ? Number(text) : undefined);
