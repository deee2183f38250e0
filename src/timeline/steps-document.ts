/** The steps of a profile as the page's strip shows them. */
import type { Analyzer } from '../analyze/analysis.js';
import { NotRecorded } from '../analyze/analysis.js';
import { type IterationRow, iterations } from '../analyze/inference/iterations.js';
import { stepWindows } from '../analyze/inference/step-windows.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { toneOf } from './palettes.js';
import { batchText } from './step-label.js';
import type { StepsDocument } from './wire.js';

export function stepsDocument(analyzer: Analyzer): StepsDocument {
  const found = analyzer.get(stepsOf);
  const rows: readonly IterationRow[] = analyzer.get(iterations).rows;
  const windows = windowsOf(analyzer);
  const own = rows.map((row, i) => {
    const { reference, lanes, wallNs, busyNs } = windows[i];
    const startNs = reference?.start ?? row.startNs;
    const endNs = reference?.end ?? row.startNs + row.wallNs;
    return lanes === 0
      ? { startNs, endNs, wallNs: Math.max(0, endNs - startNs), busyNs: row.gpuBusyNs }
      : { startNs, endNs, wallNs: wallNs / lanes, busyNs: busyNs / lanes };
  });
  return {
    length: rows.length,
    iteration: rows.map(row => row.iteration),
    phase: rows.map(row => toneOf('phase', row.phase)),
    startNs: own.map(({ startNs }) => startNs),
    endNs: own.map(({ endNs }) => endNs),
    wallNs: own.map(({ wallNs }) => wallNs),
    busyNs: own.map(({ busyNs }) => busyNs),
    kernels: rows.map(row => row.kernels ?? -1),
    batch: (found?.steps ?? []).map(step => batchText(step.facts)),
    state: rows.map(row => row.state),
    foundBy: found?.method ?? '',
    confidence: found?.confidence ?? '',
  };
}

/** Per step, its window on the device of its reference run, and what all of its windows, one per rank, sum up to. */
interface StepWindows {
  reference?: { readonly start: number; readonly end: number };
  lanes: number;
  wallNs: number;
  busyNs: number;
}

function windowsOf(analyzer: Analyzer): StepWindows[] {
  const steps = analyzer.get(stepsOf)?.steps ?? [];
  const found = steps.map((): StepWindows => ({ lanes: 0, wallNs: 0, busyNs: 0 }));
  try {
    for (const window of analyzer.get(stepWindows) ?? []) {
      const own = found[window.step];
      own.lanes++;
      own.wallNs += window.end - window.start;
      own.busyNs += window.busyNs;
      if (steps[window.step].runs[0].lane === window.lane) own.reference ??= window;
    }
  } catch (error) {
    // Without GPU work the host's times stand.
    if (!(error instanceof NotRecorded)) throw error;
  }
  return found;
}
