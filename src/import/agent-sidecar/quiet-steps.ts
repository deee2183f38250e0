/**
 * The sidecar's `quietSteps`: when the steps around a window started, or those of a second run without one. The cost of a step is the time until the next one
 * starts, so only steps with a successor have one.
 *
 *     iteration   7    8    9    11        12
 *     start       |    |    |    |         |
 *     period      [--] [--]  –   [-------]  –      10 raised and is missing; nothing follows 12
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { phaseOfCounts } from '../../catalog/engine-markers.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { ProcessRow } from '../../model/profile.js';
import { QuietSource } from '../../model/schema.js';
import { addQuietSteps, type QuietStep, SETTLING_STEPS } from '../quiet-step.js';
import { countIn } from './sidecar-fields.js';

/** The agent writes at most 64 segments of 256 steps. */
const MOST_STEPS = 64 * 256;

/** By the side of the window they are on; a second run has no window. */
const sources: ReadonlyMap<unknown, QuietStep['source']> = new Map([
  ['before', QuietSource.beforeWindow],
  ['after', QuietSource.afterWindow],
  ['calibration', QuietSource.calibration],
]);

interface Noted {
  readonly iteration: number;
  readonly startNs: number;
  readonly thread: number;
  readonly contextRequests: number;
  readonly contextTokens: number;
  readonly generationRequests: number;
  readonly generationTokens: number;
}

export function addNotedSteps(
  builder: ProfileBuilder,
  process: ProcessRow,
  document: JsonObject,
  file: string,
): void {
  const segments = Array.isArray(document.quietSteps) ? document.quietSteps.filter(isJsonObject) : [];
  const steps: QuietStep[] = [];
  let read = 0;
  for (const { side, steps: rows } of segments) {
    const source = sources.get(side);
    if (source === undefined || !Array.isArray(rows)) {
      builder.notes.add('agent-quiet', 'loss', 'invalid steps outside windows were left out', file);
      continue;
    }
    const given = rows.slice(0, MOST_STEPS - read);
    read += given.length;
    const noted = given.flatMap(row => notedStep(row) ?? []);
    if (noted.length < rows.length) {
      const text = 'invalid steps outside windows were left out';
      builder.notes.add('agent-quiet', 'loss', text, file, rows.length - noted.length);
    }
    const undisturbed = source === QuietSource.afterWindow ? noted.slice(SETTLING_STEPS) : noted;
    for (const { startNs, ...step } of withPeriods(undisturbed))
      steps.push({ ...step, process, source, utcNs: Number(builder.originNs) + startNs });
  }
  addQuietSteps(builder, steps);
}

function notedStep(row: unknown): Noted | undefined {
  if (!Array.isArray(row) || row.length !== 8 || !row.every(Number.isSafeInteger)) return undefined;
  const [iteration, startNs, , thread, ...counts] = row as number[];
  if (iteration < 0 || counts.some(count => count < 0)) return undefined;
  const [contextRequests, contextTokens, generationRequests, generationTokens] = counts.map(countIn);
  return {
    ...{ iteration, startNs, thread },
    ...{ contextRequests, contextTokens, generationRequests, generationTokens },
  };
}

function* withPeriods(
  steps: readonly Noted[],
): Generator<Omit<QuietStep, 'process' | 'source'> & { readonly startNs: number }> {
  for (let i = 0; i + 1 < steps.length; i++) {
    const [step, next] = [steps[i], steps[i + 1]];
    const periodNs = next.startNs - step.startNs;
    const follows = next.iteration === step.iteration + 1 && next.thread === step.thread && periodNs > 0;
    if (!follows || mayHaveWaited(step, next)) continue;
    const { iteration, startNs, contextRequests, contextTokens } = step;
    const { generationRequests, generationTokens } = step;
    const phase = phaseOfCounts(contextRequests, generationRequests, generationTokens);
    const known = phase !== 'unknown';
    yield {
      ...{ iteration, startNs, phase, periodNs },
      contextRequests: known ? contextRequests : Number.NaN,
      contextTokens: known ? contextTokens : Number.NaN,
      generationRequests: known ? generationRequests : Number.NaN,
      generationTokens: known ? generationTokens : Number.NaN,
    };
  }
}

/**
 * An engine without requests waits for some, and the next step is then a prefill alone: the time until it may be a
 * pause. Requests that are being decoded keep the engine busy.
 */
function mayHaveWaited(step: Noted, next: Noted): boolean {
  const isUnknown = ({ contextRequests, generationRequests }: Noted) =>
    contextRequests + generationRequests === 0;
  return next.generationRequests === 0 && !(isUnknown(step) && isUnknown(next));
}
