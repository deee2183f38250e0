/**
 * `--iterations 100-150` as each engine understands it. Here both ends belong to the window; TensorRT-LLM's
 * TLLM_PROFILE_START_STOP includes its end up to 1.2, stops before it from 1.3 on, and somewhere among the release
 * candidates of 1.3 that changed. A bare number is fine in the first era and ends the executor in the second, so it
 * is never written.
 */
import { readSpans } from '../base/spans.js';
import { UserError } from '../base/user-error.js';
import type { IterationSpan } from './capture-plan.js';
import { compareVersions, isCandidate, type VersionNumbers } from './versions.js';

export function readIterations(text: string): IterationSpan[] {
  const wrong = (why: string) =>
    new UserError(
      'usage',
      `${JSON.stringify(text)} ${why}.`,
      'Write --iterations A-B with A ≤ B, for example --iterations 100-150',
    );
  const spans = readSpans(text);
  if (!spans) throw wrong('is not a range of iterations');
  spans.sort((a, b) => a.first - b.first);
  const joined: IterationSpan[] = [];
  for (const span of spans) {
    const before = joined.at(-1);
    if (before && span.first <= before.last) throw wrong('contains overlapping ranges');
    // 20,21 is 20-21: two ranges that touch cannot be written for every version of TensorRT-LLM.
    if (before && span.first === before.last + 1) joined[joined.length - 1] = { ...before, last: span.last };
    else joined.push(span);
  }
  return joined;
}

export const countIterations = (spans: readonly IterationSpan[]): number =>
  spans.reduce((sum, { first, last }) => sum + last - first + 1, 0);

/**
 * What vLLM's profiler is told so that it skips so many steps: it starts before the step with this number, counted from
 * 1, and 0 starts it at once (vllm/profiler/wrapper.py, `WorkerProfiler.step`, called before every step).
 */
export const delayToSkip = (steps: number): number => (steps === 0 ? 0 : steps + 1);

type EndRule = 'included' | 'left-out' | 'unknown';

/** `cpp`: the TensorRT engine backend, whose end has always been included. */
export function endRule(version: VersionNumbers | undefined, cpp: boolean): EndRule {
  if (cpp) return 'included';
  if (version === undefined) return 'unknown';
  if (compareVersions(version.numbers, [1, 3]) < 0) return 'included';
  const first = compareVersions(version.numbers.slice(0, 2), [1, 3]) === 0;
  return first && isCandidate(version) && (version.numbers[2] ?? 0) === 0 ? 'unknown' : 'left-out';
}

/** The value of TLLM_PROFILE_START_STOP. With an unknown rule, what is right or one step short, never an error. */
export function startStopValue(spans: readonly IterationSpan[], rule: EndRule): string {
  return spans
    .map(({ first, last }) => {
      if (rule === 'left-out') return `${first}-${last + 1}`;
      // N-N is one step where the end is included, and stops the executor where it is not.
      return `${first}-${rule === 'unknown' ? Math.max(last, first + 1) : last}`;
    })
    .join(',');
}
