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
    const window = windows[i];
    return { startNs: window?.start ?? row.startNs, endNs: window?.end ?? row.startNs + row.wallNs };
  });
  return {
    length: rows.length,
    iteration: rows.map(row => row.iteration),
    phase: rows.map(row => toneOf('phase', row.phase)),
    startNs: own.map(({ startNs }) => startNs),
    endNs: own.map(({ endNs }) => endNs),
    busyNs: rows.map(row => row.gpuBusyNs),
    kernels: rows.map(row => row.kernels ?? -1),
    batch: (found?.steps ?? []).map(step => batchText(step.facts)),
    state: rows.map(row => row.state),
    foundBy: found?.method ?? '',
    confidence: found?.confidence ?? '',
  };
}

/** Per step, its window on the device of its reference run. */
function windowsOf(analyzer: Analyzer): ({ start: number; end: number } | undefined)[] {
  const steps = analyzer.get(stepsOf)?.steps ?? [];
  const windows: ({ start: number; end: number } | undefined)[] = steps.map(() => undefined);
  try {
    for (const window of analyzer.get(stepWindows) ?? [])
      if (steps[window.step].runs[0].lane === window.lane) windows[window.step] ??= window;
  } catch (error) {
    // Without GPU work the host's times stand.
    if (!(error instanceof NotRecorded)) throw error;
  }
  return windows;
}
