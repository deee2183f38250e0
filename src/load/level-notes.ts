/** What a reader must know before trusting the figures of a level: what was estimated, repeated, late or too few. */
import { type Note, NoteCounter } from '../base/notes.js';
import { formatCount, formatDuration, formatShare } from '../base/units.js';
import { NS_PER_MS } from './clock.js';
import type { LevelResult } from './load-document.js';
import type { RequestRecord } from './request-record.js';
import type { LevelRun } from './run-level.js';

/** What the plan knows and the requests do not. */
export interface LevelContext {
  readonly prompts: string;
  /** Prompts were asked again. */
  readonly hasCycled: boolean;
  readonly stream: boolean;
  readonly idPrompts: boolean;
}

/** Fewer, and percentile 99 is next to the largest. */
const ENOUGH_FOR_P99 = 100;
/** Answers this much shorter than asked make another load. */
const LENGTH_TOLERANCE = 0.01;
/** Of TTFT that may go to connecting or to sending late without being said. */
const NOTABLE_SHARE = 0.05;
/** Beyond this the client's own times are in the figures. */
const NOTABLE_LAG_NS = 10 * NS_PER_MS;

export function levelNotes(
  run: LevelRun,
  result: LevelResult,
  completed: readonly RequestRecord[],
  { stream, hasCycled }: LevelContext,
): Note[] {
  const notes = new NoteCounter();
  const { timing, tokens, counts } = result;
  if (completed.length === 0) return notes.list();
  if (tokens.input === 'words')
    notes.add(
      'input-by-words',
      'warning',
      'prompt lengths are in words, about tokens: the server counted none',
    );
  if (tokens.output === 'pieces')
    notes.add('output-by-pieces', 'warning', 'tokens are pieces of the stream: the server counted none');
  const unstreamed = completed.filter(record => stream && !record.streamed).length;
  if (unstreamed > 0)
    notes.add(
      'not-streamed',
      'warning',
      'answers came whole although a stream was asked for',
      '',
      unstreamed,
    );
  const withoutDone = completed.filter(record => record.withoutDone).length;
  if (withoutDone > 0)
    notes.add(
      'without-done',
      'info',
      'streams ended without [DONE], after a reason for ending',
      '',
      withoutDone,
    );
  const asked = completed.reduce((sum, { askedTokens }) => sum + askedTokens, 0);
  if (tokens.output === 'usage' && counts.outputTokens! < asked * (1 - LENGTH_TOLERANCE)) {
    const text = `answers were shorter than asked: ${formatCount(counts.outputTokens!)} of ${formatCount(asked)} tokens`;
    notes.add('short-answers', 'warning', text);
  }
  if (hasCycled)
    notes.add(
      'repeated-prompts',
      'warning',
      'the dataset was gone through more than once: a prefix cache may help',
    );
  if (run.retries > 0)
    notes.add(
      'retried',
      'info',
      'requests sent again: the server had closed a kept connection',
      '',
      run.retries,
    );
  const ttft = result.latency.ttft?.meanNs ?? result.latency.e2e?.meanNs ?? 0;
  const connectTotal = completed.reduce((sum, { connectNs = 0 }) => sum + connectNs, 0);
  if (connectTotal / completed.length > ttft * NOTABLE_SHARE) {
    const share = formatShare(connectTotal / completed.length / ttft);
    notes.add('connecting', 'warning', `connecting takes ${share} of TTFT; --warmup opens connections first`);
  }
  const late = timing.sendDelay?.percentilesNs['99'] ?? 0;
  if (late > Math.max(NOTABLE_LAG_NS, ttft * NOTABLE_SHARE))
    notes.add(
      'sent-late',
      'warning',
      `requests were sent up to ${formatDuration(late)} late (p99); latencies contain it`,
    );
  if (timing.clientLagNs > NOTABLE_LAG_NS) {
    const text = `this program came up to ${formatDuration(timing.clientLagNs)} late to its connections (p99): other work on this machine, or too much load for one process`;
    notes.add('client-lag', 'warning', text);
  }
  if (completed.length < ENOUGH_FOR_P99)
    notes.add('few-requests', 'info', `percentile 99 of ${completed.length} requests is next to the largest`);
  return notes.list();
}
