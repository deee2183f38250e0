/** The log of a server that prints its throughput: the mean step of each interval in which only one batch was decoded. */
import { NONE } from '../base/column.js';
import { isAboutSpeculation, throughputInLine } from '../catalog/server-lines.js';
import { QuietSource } from '../model/schema.js';
import { logLines } from './bench/log-lines.js';
import type { QuietStep } from './quiet-step.js';

/** A day of lines. */
const MOST_LINES = 50_000;

interface ServerLog {
  /** Lines about throughput, usable or not. */
  readonly lines: number;
  readonly steps: readonly QuietStep[];
}

/** Undefined: the text has no such line. */
export function readServerLog(text: string): ServerLog | undefined {
  const steps: QuietStep[] = [];
  /** By engine: running requests in its last line, undefined if a prefill followed. */
  const before = new Map<string, number | undefined>();
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
    const { running, tokensPerSecond, accepted = 1, hasPrefill } = heard;
    const isOneBatch = running > 0 && before.get(of) === running && !hasPrefill;
    before.set(of, running);
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
    });
  }
  if (lines === 0) return undefined;
  // Tokens per step are unknown: dividing by the batch alone would give the time of a token.
  return { lines, steps: speculates ? steps.filter(step => step.phase === 'speculative') : steps };
}
