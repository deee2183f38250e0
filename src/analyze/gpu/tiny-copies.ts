/** Copies from the host that are too small for their bandwidth to matter, counted one by one and not by their median. */
import { NONE } from '../../base/column.js';
import { CopyKind, memoryKindLabels } from '../../catalog/cuda-enums.js';
import type { Phase } from '../../catalog/phases.js';
import { defaultPolicy } from '../../catalog/policy.js';
import type { Derived } from '../analysis.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { gpuWork, WorkKind } from './gpu-work.js';

interface TinyCopies {
  readonly phase: Phase | null;
  /** Kind of memory they come from, where recorded. */
  readonly from: string | null;
  readonly count: number;
  readonly countPerStep: number;
  readonly bytes: number;
  readonly largestBytes: number;
  readonly totalNs: number;
}

export const tinyCopies: Derived<readonly TinyCopies[]> = {
  id: 'tiny-copies',
  reads: { copies: ['sourceMemory'] },
  uses: [gpuWork, selectedWork, stepsOf],
  needs: [['copies']],
  compute({ profile, settings, use }) {
    const limit = (settings.policy ?? defaultPolicy).tinyCopyBytes;
    const work = use(gpuWork);
    const { selected, first, end, step, runsOfPhase } = use(selectedWork);
    const steps = use(stepsOf)?.steps ?? [];
    const copies = profile.tables.copies!;
    const tallies = new Map<string, TinyCopies>();
    for (let i = first; i < end; i++) {
      if (!selected[i] || work.kind[i] !== WorkKind.copy) continue;
      const row = work.row[i];
      const bytes = copies.bytes[row];
      if (copies.kind[row] !== CopyKind.hostToDevice || bytes >= limit) continue;
      const phase = step[i] === NONE ? null : steps[step[i]].facts.phase;
      const memory = copies.sourceMemory?.[row];
      const from = memory === undefined || memory === NONE ? null : (memoryKindLabels[memory] ?? null);
      const key = `${phase}/${from}`;
      const known = tallies.get(key);
      const count = (known?.count ?? 0) + 1;
      tallies.set(key, {
        phase,
        from,
        count,
        countPerStep: count / (phase === null ? 1 : runsOfPhase(phase)),
        bytes: (known?.bytes ?? 0) + bytes,
        largestBytes: Math.max(known?.largestBytes ?? 0, bytes),
        totalNs: (known?.totalNs ?? 0) + work.end[i] - work.start[i],
      });
    }
    return [...tallies.values()];
  },
};
