/** What the agent's file would say about the launching thread of a drawn engine. */
import type { Profile } from '../model/profile.js';
import type { StepLog } from '../model/step-log.js';

export interface DrawnCounters {
  /** Per step. */
  readonly pageFaults?: number;
  readonly systemNs?: number;
  readonly preemptions?: number;
  /** NUMA nodes of the process and of its GPU. */
  readonly nodes?: { readonly cpu: number; readonly gpu: number };
}

export function drawnLog(
  { threads }: Profile,
  { pageFaults = 0, systemNs = 0, preemptions = 0, nodes }: DrawnCounters,
  steps: number,
): StepLog {
  const counter = {
    ...{ window: 1, tid: threads[0].tid, first: 0, steps, userNs: 0, systemNs: systemNs * steps },
    ...{ pageFaults: pageFaults * steps, majorFaults: 0, voluntarySwitches: 0 },
    involuntarySwitches: preemptions * steps,
  };
  return {
    ...{ file: 'drawn.agent.json', rank: 0, originNs: 0n, wallDriftNs: 0, steps: [] },
    hostCounters: [
      { ...counter, part: 'window' },
      { ...counter, part: 'after' },
    ],
    ...(nodes ? { placement: { cpus: 8, cpuNodes: [nodes.cpu], gpuNode: nodes.gpu } } : {}),
  };
}
