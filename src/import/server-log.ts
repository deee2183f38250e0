/** The log of a server that prints its throughput: the mean step of each interval in which only one batch was decoded. */
import { NONE } from '../base/column.js';
import { isAboutSpeculation, throughputInLine } from '../catalog/server-lines.js';
import type { Profile } from '../model/profile.js';
import { QuietSource } from '../model/schema.js';
import { logLines } from './bench/log-lines.js';
import type { QuietStep } from './quiet-step.js';
import { recordedSpan } from './recorded-span.js';

/** A day of lines. */
const MOST_LINES = 50_000;
const HOUR = 3600;
/** Clocks in logs are of some zone, and zones differ by quarters of an hour. */
const QUARTER = 900;
/** Starting and stopping a profiler takes its time, and lines have whole seconds. */
const MARGIN_S = 3;

interface LoggedStep extends QuietStep {
  /** What the line is a mean of, in seconds of the hour; absent where the lines have no clock. */
  readonly interval?: { readonly from: number; readonly seconds: number };
}

interface ServerLog {
  readonly steps: readonly LoggedStep[];
}

interface Before {
  readonly running: number;
  readonly second?: number;
}

/** Undefined: the text has no line about throughput. */
export function readServerLog(text: string): ServerLog | undefined {
  const steps: LoggedStep[] = [];
  /** By engine: its last line, undefined if a prefill followed. */
  const before = new Map<string, Before | undefined>();
  let lines = 0;
  let speculates = false;
  for (const line of logLines(text)) {
    if (lines >= MOST_LINES) break;
    if (isAboutSpeculation(line.text)) speculates = true;
    const heard = line.cut ? undefined : throughputInLine(line.text);
    if (!heard) continue;
    lines++;
    const of = `${line.stream} ${heard.of}`;
    if ('prefill' in heard) {
      before.set(of, undefined);
      continue;
    }
    const { running, tokensPerSecond, accepted = 1, hasPrefill, secondOfHour: second } = heard;
    const last = before.get(of);
    before.set(of, { running, second });
    const isOneBatch = running > 0 && last?.running === running && !hasPrefill;
    if (!isOneBatch || !(tokensPerSecond > 0) || !(accepted >= 1)) continue;
    steps.push({
      process: NONE,
      source: QuietSource.serverLog,
      iteration: Number.NaN,
      phase: accepted > 1 ? 'speculative' : 'decode',
      contextRequests: 0,
      contextTokens: 0,
      generationRequests: running,
      // Accepted tokens are fewer than those tried, and only those tried are what a step runs.
      generationTokens: accepted > 1 ? Number.NaN : running,
      periodNs: (running * accepted * 1e9) / tokensPerSecond,
      ...(second === undefined || last?.second === undefined
        ? {}
        : { interval: { from: last.second, seconds: (second - last.second + HOUR) % HOUR } }),
    });
  }
  if (lines === 0) return undefined;
  // Tokens per step are unknown: dividing by the batch alone would give the time of a token.
  return { steps: speculates ? steps.filter(step => step.phase === 'speculative') : steps };
}

/** Those whose interval cannot have contained anything of the profile, in whatever zone the log was written. */
export function outsideProfile(steps: readonly LoggedStep[], profile: Profile): readonly QuietStep[] {
  const { startNs, endNs } = recordedSpan(profile);
  if (profile.clock !== 'utc' || !(endNs >= startNs)) return [];
  const originS = Number(profile.originNs) / 1e9;
  const recorded = {
    from: originS + startNs / 1e9 - MARGIN_S,
    seconds: (endNs - startNs) / 1e9 + 2 * MARGIN_S,
  };
  return steps.flatMap(({ interval, ...step }) =>
    interval && !mayOverlap(interval, recorded) ? [step] : [],
  );
}

interface Span {
  readonly from: number;
  readonly seconds: number;
}

/**
 * On a dial of a quarter of an hour, where all zones look alike:
 *
 *     a  ..[----]......
 *     b  .....[---]....      overlap: b begins inside a, or a inside b
 */
function mayOverlap(a: Span, b: Span): boolean {
  const after = (one: Span, other: Span) => (((other.from - one.from) % QUARTER) + QUARTER) % QUARTER;
  return after(a, b) <= a.seconds || after(b, a) <= b.seconds;
}
