/** Which tool's text a log holds. One answer per file, so that exactly one importer takes it. */
import type { BenchContent } from './bench-content.js';

type TextMark = 'serving' | 'trtllm' | 'one-batch' | 'none';

/**
 * A client's result comes before the lines of the server it ran against, which may be in the same log. The marks are
 * fixed strings or short patterns: they are tried on every byte of a stranger's file.
 */
export function textMarks({ text }: BenchContent): TextMark {
  if (/= (?:Serving|Offline Throughput) Benchmark Result =/.test(text)) return 'serving';
  if (
    text.includes('Request Throughput (req/sec)') ||
    /= (?:PYTORCH BACKEND|ENGINE DETAILS|PERFORMANCE OVERVIEW|STATISTICS)\b/.test(text) ||
    /\biter = \d{1,15}, global_rank = \d/.test(text) ||
    /Preparing to run (?:throughput|latency) benchmark/.test(text)
  )
    return 'trtllm';
  if (text.includes('Prefill. latency:') || text.includes('Total. latency:')) return 'one-batch';
  return 'none';
}
