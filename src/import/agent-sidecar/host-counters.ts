/** What the system did to the thread that runs the steps, as the agent read it: docs/agent-format.md. */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { HostCounter, HostPlacement } from '../../model/step-log.js';
import { countIn } from './sidecar-fields.js';

/** The agent writes two per window, at most 128. */
const MOST_ROWS = 1000;
const MOST_NODES = 64;

export function hostCountersOf(document: JsonObject): readonly HostCounter[] {
  if (!Array.isArray(document.hostCounters)) return [];
  return document.hostCounters.slice(0, MOST_ROWS).flatMap((row: unknown): HostCounter[] => {
    if (!isJsonObject(row) || countIn(row.steps) === 0) return [];
    if (row.part !== 'window' && row.part !== 'after') return [];
    return [
      {
        ...{
          window: countIn(row.window),
          part: row.part,
          tid: countIn(row.thread),
          first: countIn(row.first),
          steps: countIn(row.steps),
        },
        ...{ userNs: countIn(row.userNs), systemNs: countIn(row.systemNs) },
        pageFaults: countIn(row.minorFaults) + countIn(row.majorFaults),
        majorFaults: countIn(row.majorFaults),
        voluntarySwitches: countIn(row.voluntarySwitches),
        involuntarySwitches: countIn(row.involuntarySwitches),
      },
    ];
  });
}

export function hostPlacementOf({ placement }: JsonObject): HostPlacement | undefined {
  if (!isJsonObject(placement)) return undefined;
  const isNode = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  return {
    cpus: countIn(placement.cpus),
    cpuNodes: Array.isArray(placement.cpuNodes) ? placement.cpuNodes.slice(0, MOST_NODES).filter(isNode) : [],
    ...(isNode(placement.gpuNode) ? { gpuNode: placement.gpuNode } : {}),
  };
}
