/** Allocations of GPU and pinned memory inside the selected steps: a steady state should have none. */

import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { formatDuration } from '../../base/units.js';
import { apiFunction } from '../../catalog/api-function.js';
import { ALLOCATION_CALL } from '../../catalog/host-activities.js';
import type { Row } from '../../model/profile.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, type RowOf } from '../field.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { callsNamed } from '../names-used.js';
import { formatMean, perStep, sumOf } from '../words.js';

const fields = {
  key: keyField,
  call: field.text('Call', 'the API function'),
  count: field.count('Count', 'calls in the selected steps'),
  countPerStep: field.mean('Per step', 'count divided by steps'),
  totalNs: field.ns('Total', 'time inside the calls'),
  longestNs: field.ns('Longest', 'longest call'),
};

type AllocationRow = RowOf<typeof fields>;

export const allocations: Analysis<AllocationRow, AnalysisResult<AllocationRow>> = {
  id: 'allocations',
  title: 'Allocations',
  question: 'Does the engine allocate memory while serving?',
  reads: { apiCalls: [], memoryEvents: [] },
  uses: [selectedMoments],
  needs: [['apiCalls']],
  fields,
  headline: {
    label: 'allocations',
    text({ rows }, phase) {
      if (rows.length === 0) return `none ${phase === null ? 'recorded' : 'in the steps'}`;
      const count = formatMean(sumOf(rows, row => row.countPerStep));
      const time = formatDuration(sumOf(rows, row => row.totalNs));
      return `${count} ${perStep(phase)}, ${time} in total, mostly ${rows[0].call}`;
    },
  },
  compute({ profile, use }) {
    const moments = use(selectedMoments);
    const calls = profile.tables.apiCalls!;
    const allocating = callsNamed(profile, ALLOCATION_CALL);
    const tallies = new Map<string, { count: number; totalNs: number; longestNs: number }>();
    const { first, end } = moments.rowsOf(calls);
    for (let i = lowerBound(allocating, first); i < allocating.length && allocating[i] < end; i++) {
      const row = allocating[i];
      const thread = calls.thread[row];
      if (thread === NONE) continue;
      if (!moments.holds(profile.threads[thread].process, calls.start[row])) continue;
      const name = apiFunction(profile.strings.text(calls.name[row]));
      const ns = calls.end[row] - calls.start[row];
      const known = tallies.get(name) ?? { count: 0, totalNs: 0, longestNs: 0 };
      tallies.set(name, {
        count: known.count + 1,
        totalNs: known.totalNs + ns,
        longestNs: Math.max(known.longestNs, ns),
      });
    }
    const rows = [...tallies].map(
      ([call, tally]): AllocationRow => ({
        key: `call:${call}`,
        call,
        ...tally,
        countPerStep: tally.count / moments.steps,
      }),
    );
    rows.sort((a, b) => b.totalNs - a.totalNs);
    return { rows, summary: { steps: moments.steps, ...allocatedBytes() } };

    function allocatedBytes(): Record<string, number> {
      const events = profile.tables.memoryEvents;
      if (!events) return {};
      let allocatedBytesInSteps = 0;
      let freedBytesInSteps = 0;
      for (let row = 0 as Row<'memoryEvents'>; row < events.length; row++) {
        if (!moments.holds(events.process[row], events.start[row])) continue;
        if (events.bytes[row] > 0) allocatedBytesInSteps += events.bytes[row];
        else freedBytesInSteps -= events.bytes[row];
      }
      return { allocatedBytesInSteps, freedBytesInSteps };
    }
  },
};
