/**
 * What a run was, as far as that decides whether its figures may be held against another's. Only what is named here
 * goes into a file of baselines: no host names, no paths, no environment, no command lines.
 */
import type { Analyzer } from '../analyze/analysis.js';
import { type IterationRow, iterations } from '../analyze/inference/iterations.js';
import { layers } from '../analyze/inference/layers.js';
import { printable } from '../base/printable.js';
import { medianOf } from '../base/stats.js';
import { type Phase, phases } from '../catalog/phases.js';
import { graphMode } from '../model/graph-mode.js';
import type { GraphMode } from '../model/profile.js';

/** null: the capture does not say. */
export interface RunFacts {
  readonly gpu: string | null;
  /** GPUs with work. */
  readonly gpus: number;
  readonly engine: string | null;
  /** How steps were told apart: figures per step mean something else otherwise. */
  readonly stepsFoundBy: string | null;
  readonly profiler: string;
  readonly profilerVersion: string | null;
  readonly driver: string | null;
  /** CUDA graphs as recorded: by node, as blocks, none. */
  readonly graphs: GraphMode;
  /** What repeats in a typical step. */
  readonly model: ModelFacts | null;
  /** What the benchmark asked of the engine, where there is one. */
  readonly load?: LoadFacts;
  /** The phases of the steps that were counted. */
  readonly phases: { readonly [Name in Phase]?: PhaseFacts };
}

/** By setting: `inputTokens`, `maxConcurrency` …; what the tool did not print is absent. */
export type LoadFacts = { readonly [setting: string]: string | number };

interface ModelFacts {
  readonly layers: number;
  readonly kernelsPerLayer: number;
  readonly otherKernels: number;
}

export interface PhaseFacts {
  readonly steps: number;
  /** Of the wall time of all steps. */
  readonly timeShare: number;
  /** Requests in decode, median of the steps. */
  readonly batch: number | null;
  /** Tokens prefilled per step, median. */
  readonly contextTokens: number | null;
}

const LONGEST = 100;

/**
 * Texts of a file as they are kept and printed: short, on one line, and without the two colons by which a line of a
 * log would speak to GitHub.
 */
export const cleanText = (text: string): string =>
  printable(text).replaceAll(/:{2,}/g, ':').trim().slice(0, LONGEST);

const orNull = (text: string | undefined): string | null => (text ? cleanText(text) : null);

export function runFacts(analyzer: Analyzer): RunFacts {
  const { profile } = analyzer;
  const { capture } = profile;
  const used = [...new Set(profile.streams.map(stream => stream.gpu as number))];
  const names = [...new Set(used.map(gpu => profile.gpus[gpu].name).filter(name => name !== ''))].sort();
  const found = analyzer.run(iterations);
  const rows = found.status === 'ok' ? (found.result.rows as readonly IterationRow[]) : [];
  const summary = (found.status === 'ok' ? found.result.summary : undefined) ?? {};
  const { versions } = capture;
  return {
    gpu: orNull(names.join(', ')),
    gpus: used.length,
    engine: orNull(summary.engine as string | undefined),
    stepsFoundBy: orNull(summary.foundBy as string | undefined),
    profiler: capture.profiler,
    profilerVersion: orNull(capture.profilerVersion),
    driver: orNull(versions.driver ?? versions['CUDA driver'] ?? versions.cuda_driver),
    graphs: graphMode(profile),
    model: modelFacts(analyzer),
    phases: phaseFacts(rows.filter(row => row.selected)),
  };
}

function modelFacts(analyzer: Analyzer): ModelFacts | null {
  const found = analyzer.run(layers);
  if (found.status !== 'ok') return null;
  const structure = found.result.summary?.structure as
    | { repeats: number; kernelsPerRepeat: number; otherKernels: number }
    | null
    | undefined;
  if (!structure) return null;
  const { repeats, kernelsPerRepeat, otherKernels } = structure;
  return { layers: repeats, kernelsPerLayer: kernelsPerRepeat, otherKernels };
}

function phaseFacts(rows: readonly IterationRow[]): RunFacts['phases'] {
  const wholeNs = rows.reduce((sum, row) => sum + row.wallNs, 0);
  const found: { [Name in Phase]?: PhaseFacts } = {};
  for (const { id } of phases) {
    const own = rows.filter(row => row.phase === id);
    if (own.length === 0) continue;
    const wallNs = own.reduce((sum, row) => sum + row.wallNs, 0);
    found[id] = {
      steps: own.length,
      timeShare: wholeNs > 0 ? Number((wallNs / wholeNs).toFixed(4)) : 0,
      batch: medianWhereSaid(own.map(row => row.generationRequests)),
      contextTokens: medianWhereSaid(own.map(row => row.contextTokens)),
    };
  }
  return found;
}

function medianWhereSaid(values: readonly (number | null)[]): number | null {
  const said = values.filter(value => value !== null);
  return said.length === 0 ? null : medianOf(Float64Array.from(said));
}

/** The phase that takes most time. */
export function mainPhase({ phases: found }: RunFacts): Phase | undefined {
  const order = Object.entries(found) as [Phase, PhaseFacts][];
  return order.sort((a, b) => b[1].timeShare - a[1].timeShare)[0]?.[0];
}
