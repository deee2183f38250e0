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
      'prompt lengths are in words, close to tokens: the server reported no token counts',
    );
  if (tokens.output === 'pieces')
    notes.add('output-by-pieces', 'warning', 'tokens are stream chunks: the server reported no token counts');
  const unstreamed = completed.filter(record => stream && !record.streamed).length;
  if (unstreamed > 0)
    notes.add(
      'not-streamed',
      'warning',
      'responses were not streamed although streaming was requested',
      '',
      unstreamed,
    );
  const withoutDone = completed.filter(record => record.withoutDone).length;
  if (withoutDone > 0)
    notes.add('without-done', 'info', 'streams ended without [DONE], after a finish reason', '', withoutDone);
  const asked = completed.reduce((sum, { askedTokens }) => sum + askedTokens, 0);
  if (tokens.output === 'usage' && counts.outputTokens! < asked * (1 - LENGTH_TOLERANCE)) {
    const text = `outputs were shorter than requested: ${formatCount(counts.outputTokens!)} of ${formatCount(asked)} tokens`;
    notes.add('short-answers', 'warning', text);
  }
  if (hasCycled)
    notes.add(
      'repeated-prompts',
      'warning',
      'the dataset was used more than once: a prefix cache may improve the results',
    );
  if (run.retries > 0)
    notes.add(
      'retried',
      'info',
      'requests were retried: the server had closed a keep-alive connection',
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
      `requests were sent up to ${formatDuration(late)} late (p99); latencies include the delay`,
    );
  if (timing.clientLagNs > NOTABLE_LAG_NS) {
    const text = `the load generator handled its connections up to ${formatDuration(timing.clientLagNs)} late (p99): other work on this machine, or too much load for one process`;
    notes.add('client-lag', 'warning', text);
  }
  if (completed.length < ENOUGH_FOR_P99)
    notes.add('few-requests', 'info', `p99 of ${completed.length} requests is close to the maximum`);
  return notes.list();
}
