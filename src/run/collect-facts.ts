/** What a run was, read from its profile. */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { type IterationRow, iterations } from '../analyze/inference/iterations.js';
import { layers } from '../analyze/inference/layers.js';
import { printable } from '../base/printable.js';
import { phases } from '../catalog/phases.js';
import { graphMode } from '../model/graph-mode.js';
import { medianOf } from '../stats/summary.js';
import type { ModelFacts, PhaseFacts, RunFacts } from './run.js';

const LONGEST = 100;

/**
 * Texts of a file as they are kept and printed: short, on one line, and without the two colons by which a line of a
 * log would speak to GitHub.
 */
export const cleanText = (text: string): string =>
  printable(text).replaceAll(/:{2,}/g, ':').trim().slice(0, LONGEST);

const orNull = (text: unknown): string | null =>
  typeof text === 'string' && text !== '' ? cleanText(text) : null;

export const runFacts: Derived<RunFacts> = {
  id: 'run-facts',
  reads: {},
  uses: [gpuWork, iterations, layers],
  compute(input) {
    const { profile, use, useIfRecorded } = input;
    const { capture } = profile;
    const devices = useIfRecorded(gpuWork)?.devices ?? [];
    const names = [...new Set(devices.map(device => profile.gpus[device].name))].filter(name => name !== '');
    const { rows, summary = {} } = use(iterations);
    return {
      gpu: orNull(names.sort().join(', ')),
      gpus: devices.length,
      engine: orNull(summary.engine),
      stepsFoundBy: orNull(summary.foundBy),
      profiler: capture.profiler,
      profilerVersion: orNull(capture.profilerVersion),
      driver: orNull(capture.versions.driver),
      graphs: graphMode(profile),
      model: modelFacts(input),
      phases: phaseFacts(rows.filter(row => row.selected)),
    };
  },
};

/** Layers as ranges mark them, else as they repeat. */
function modelFacts({ useIfRecorded }: AnalysisInput): ModelFacts | null {
  const found = useIfRecorded(layers);
  if (!found) return null;
  const { methods, layers: count, structure } = found.summary as unknown as LayerSummary;
  if (count === 0)
    return (
      structure && {
        layers: structure.repeats,
        kernelsPerLayer: structure.kernelsPerRepeat,
        otherKernels: structure.otherKernels,
        guessed: true,
      }
    );
  const phase = structure?.phase ?? found.rows[0].phase;
  const own = found.rows.filter(row => row.phase === phase);
  const kernels = (inside: boolean) =>
    own.reduce((sum, row) => sum + ((row.layer !== null) === inside ? row.kernelsPerStep : 0), 0);
  return {
    layers: count,
    kernelsPerLayer: Math.round(kernels(true) / count),
    otherKernels: Math.round(kernels(false)),
    ...(methods.includes('pattern') ? { guessed: true } : {}),
  };
}

interface LayerSummary {
  readonly layers: number;
  readonly methods: readonly string[];
  readonly structure: {
    readonly phase: string;
    readonly repeats: number;
    readonly kernelsPerRepeat: number;
    readonly otherKernels: number;
  } | null;
}

function phaseFacts(rows: readonly IterationRow[]): RunFacts['phases'] {
  const wallOf = (list: readonly IterationRow[]) => list.reduce((sum, row) => sum + row.wallNs, 0);
  const wholeNs = wallOf(rows);
  return Object.fromEntries(
    phases.flatMap(({ id }): [string, PhaseFacts][] => {
      const own = rows.filter(row => row.phase === id);
      if (own.length === 0) return [];
      const facts = {
        steps: own.length,
        timeShare: wholeNs > 0 ? Number((wallOf(own) / wholeNs).toFixed(4)) : 0,
        batch: medianWhereSaid(own.map(row => row.generationRequests)),
        contextTokens: medianWhereSaid(own.map(row => row.contextTokens)),
      };
      return [[id, facts]];
    }),
  );
}

function medianWhereSaid(values: readonly (number | null)[]): number | null {
  const said = values.filter(value => value !== null);
  return said.length === 0 ? null : medianOf(Float64Array.from(said));
}
