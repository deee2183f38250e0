/**
 * The steps of a log as spans that tile the time for which the log is complete. A step lasts until the next one starts:
 * engines launch ahead, so the end of its call is something else.
 *
 *     iteration   7    8    9         11   12
 *     span        [---][---][-]       [---][-]        10 was not noted: nothing is known between
 *     covered     [-----------]       [------]
 */
import type { NotedStep, StepLog } from '../../model/step-log.js';

export interface NotedSpan {
  readonly step: NotedStep;
  readonly startNs: number;
  readonly endNs: number;
  /** The next span begins where this one ends. */
  readonly continues: boolean;
}

export function spansOf({ steps }: StepLog): NotedSpan[] {
  return steps.map((step, i) => {
    const next = steps[i + 1];
    const continues = next !== undefined && next.iteration === step.iteration + 1;
    // Of a step that nothing follows only the call is known.
    const endNs = continues ? next.startNs : Math.min(step.startNs + step.hostNs, next?.startNs ?? Infinity);
    return { step, startNs: step.startNs, endNs, continues };
  });
}

/** The first span that ends after the moment; spans.length where there is none. */
export function spanAt(spans: readonly NotedSpan[], ns: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle].endNs > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Every moment of the interval is in a span. */
export function isCovered(spans: readonly NotedSpan[], fromNs: number, toNs: number): boolean {
  let i = spanAt(spans, fromNs);
  if (i === spans.length || spans[i].startNs > fromNs) return false;
  while (spans[i].endNs < toNs) {
    if (!spans[i].continues) return false;
    i++;
  }
  return true;
}

export const hasPrefill = ({ step }: NotedSpan): boolean => step.contextRequests > 0;
export const isDecode = ({ step }: NotedSpan): boolean =>
  step.contextRequests === 0 && step.generationRequests > 0;
