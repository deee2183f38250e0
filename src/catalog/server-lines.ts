/**
 * Lines that servers print about their throughput from time to time, from which the time of a decode step follows:
 * every running request gets one token per step (with speculative decoding, as many as are accepted), so a step takes
 * running × tokens ÷ throughput.
 *
 * Only a line about nothing but decode of one batch counts: the one before it, of the same engine, has as many running
 * requests, and no prefill lies between. Read in:
 * vllm/v1/metrics/loggers.py, `LoggingStatLogger.log` (0.8 and later; every 10 s);
 * sglang/srt/managers/scheduler.py and scheduler_metrics_mixin.py, `log_decode_stats`, `log_prefill_stats` (0.4 and
 * later; every `decode_log_interval` decode steps).
 */

interface ServerLine {
  /** Seconds of the hour when it was printed. The zone is not in it, but zones differ by quarters of an hour. */
  readonly secondOfHour?: number;
  /** The engine or rank it is about: lines of others say nothing about this one. */
  readonly of: string;
  readonly running: number;
  readonly tokensPerSecond: number;
  /** Tokens accepted per request and step, where speculative decoding is on. */
  readonly accepted?: number;
  /** Prompts were processed in the same interval. */
  readonly hasPrefill: boolean;
}

/** `prefill`: what was measured since the last line of this engine is not decode alone. */
type Heard = ServerLine | { readonly of: string; readonly prefill: true };

/** `13:08:10` of `INFO 09-02 13:08:10` and of `[2026-03-14 04:59:11 TP0]`. */
const CLOCK = /\b\d{2}:(\d{2}):(\d{2})\b/;

function secondOfHour(line: string, what: string): number | undefined {
  const match = CLOCK.exec(line.slice(0, line.indexOf(what)));
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

const NUMBER = String.raw`(\d{1,12}(?:\.\d{1,6})?)`;
const VLLM = new RegExp(
  String.raw`\bEngine (\d{1,6}): Avg prompt throughput: ${NUMBER} tokens/s, Avg generation throughput: ${NUMBER} tokens/s, Running: (\d{1,9}) reqs\b`,
);
/** `[2026-03-14 04:59:11 DP1 TP0]`: one process per rank prints into one log. */
const SGLANG_RANK = /\[[-\d]{10} [:\d.,]{8,16}((?: [A-Z]{2}\d{1,5}){0,6})\]/;
const SGLANG_RUNNING = /#running-req: (\d{1,9})\b/;
const SGLANG_THROUGHPUT = new RegExp(String.raw`\bgen throughput \(token/s\): ${NUMBER}`);
const SGLANG_ACCEPTED = new RegExp(String.raw`\baccept len: ${NUMBER}`);
/** Accepted tokens are in a separate line, of another interval. */
const VLLM_SPECULATES = 'SpecDecoding metrics:';

export function isAboutSpeculation(line: string): boolean {
  return line.includes(VLLM_SPECULATES);
}

export function throughputInLine(line: string): Heard | undefined {
  if (line.includes('Avg generation throughput')) {
    const match = VLLM.exec(line);
    if (!match) return undefined;
    return {
      of: `engine ${match[1]}`,
      secondOfHour: secondOfHour(line, 'Engine '),
      running: Number(match[4]),
      tokensPerSecond: Number(match[3]),
      hasPrefill: Number(match[2]) > 0,
    };
  }
  const isDecode = line.includes('Decode batch');
  if (!isDecode && !line.includes('Prefill batch')) return undefined;
  const of = `rank${SGLANG_RANK.exec(line)?.[1] ?? ''}`;
  if (!isDecode) return { of, prefill: true };
  const [running, throughput] = [SGLANG_RUNNING.exec(line), SGLANG_THROUGHPUT.exec(line)];
  if (!running || !throughput) return undefined;
  const accepted = SGLANG_ACCEPTED.exec(line);
  return {
    of,
    secondOfHour: secondOfHour(line, 'Decode batch'),
    running: Number(running[1]),
    tokensPerSecond: Number(throughput[1]),
    ...(accepted ? { accepted: Number(accepted[1]) } : {}),
    hasPrefill: false,
  };
}
