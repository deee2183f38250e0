/** All steps of a sidecar, in windows and outside, as one sequence on the monotonic clock. */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { NotedStep, StepLog } from '../../model/step-log.js';
import { hostCountersOf, hostPlacementOf } from './host-counters.js';
import { countIn } from './sidecar-fields.js';

/** A hash of the agent's, 12 hexadecimal digits. */
const HASH = /^[0-9a-f]{12}$/;
const MACHINE = /^[0-9a-f]{16}$/;

/** Undefined: the file has no steps with a time. A second run (calibration) had other requests. */
export function stepLogOf(document: JsonObject, originNs: bigint, file: string): StepLog | undefined {
  if (Array.isArray(document.calibrated) && document.calibrated.length > 0) return undefined;
  const hashes = Array.isArray(document.requestIds) ? document.requestIds : [];
  let wallDriftNs = 0;
  const steps: NotedStep[] = [];
  for (const row of document.iterations as unknown[]) {
    const step = isJsonObject(row) ? windowStep(row, hashes) : undefined;
    if (!step) continue;
    steps.push(step);
    const wallNs = Number((row as JsonObject).startNs);
    if (Number.isFinite(wallNs)) wallDriftNs = Math.max(wallDriftNs, Math.abs(wallNs - step.startNs));
  }
  const segments = Array.isArray(document.quietSteps) ? document.quietSteps.filter(isJsonObject) : [];
  for (const segment of segments) {
    const requests = isJsonObject(segment.requests) ? segment.requests : {};
    if (Array.isArray(segment.steps))
      for (const row of segment.steps) {
        const step = quietStep(row, requests, hashes);
        if (step) steps.push(step);
      }
  }
  if (steps.length === 0) return undefined;
  steps.sort((a, b) => a.startNs - b.startNs);
  const monotonic = document.originMonotonicNs;
  const counters = hostCountersOf(document);
  const placement = hostPlacementOf(document);
  return {
    ...{ file, rank: countIn(document.rank), originNs, wallDriftNs, steps },
    ...(typeof monotonic === 'string' && /^\d{1,20}$/.test(monotonic)
      ? { originMonotonicNs: BigInt(monotonic) }
      : {}),
    ...(counters.length > 0 ? { hostCounters: counters } : {}),
    ...(placement ? { placement } : {}),
    ...(typeof document.machine === 'string' && MACHINE.test(document.machine)
      ? { machine: document.machine }
      : {}),
  };
}

function windowStep(row: JsonObject, hashes: readonly unknown[]): NotedStep | undefined {
  const startNs = Number(row.startMonotonicNs);
  const hostNs = Number(row.durationNs);
  // A step that raised gave no token.
  if (!Number.isSafeInteger(startNs) || !(hostNs >= 0) || row.failed === true) return undefined;
  return {
    ...{ iteration: countIn(row.iteration), startNs, hostNs },
    contextRequests: countIn(row.contextRequests),
    contextTokens: countIn(row.contextTokens),
    generationRequests: countIn(row.generationRequests),
    generationTokens: countIn(row.generationTokens),
    ...(countIn(row.window) > 0 ? { profiled: true as const } : {}),
    ...idsIn(row.requests, hashes),
  };
}

function quietStep(row: unknown, requests: JsonObject, hashes: readonly unknown[]): NotedStep | undefined {
  if (!Array.isArray(row) || row.length !== 8 || !row.every(Number.isSafeInteger)) return undefined;
  const [iteration, startNs, hostNs, , ...counts] = row as number[];
  if (iteration < 0 || hostNs < 0) return undefined;
  const [contextRequests, contextTokens, generationRequests, generationTokens] = counts.map(countIn);
  return {
    ...{ iteration, startNs, hostNs, contextRequests, contextTokens, generationRequests, generationTokens },
    ...idsIn(requests[String(iteration)], hashes),
  };
}

/** `[[in prefill], [in decode]]`, as places in the list of hashes; one that is none makes the whole unknown. */
function idsIn(value: unknown, hashes: readonly unknown[]): Pick<NotedStep, 'contextIds' | 'generationIds'> {
  if (!Array.isArray(value) || value.length !== 2) return {};
  const hashesOf = (places: unknown) => {
    const found = Array.isArray(places) ? places.map(place => hashes[place]) : [undefined];
    return found.every((hash): hash is string => typeof hash === 'string' && HASH.test(hash))
      ? found
      : undefined;
  };
  const [contextIds, generationIds] = value.map(hashesOf);
  return contextIds && generationIds ? { contextIds, generationIds } : {};
}
