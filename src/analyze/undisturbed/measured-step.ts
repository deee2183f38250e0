/**
 * What a step took while no profiler recorded: in a second run of the command, noted by the agent around its windows in
 * the same run, or printed by the engine. Only steps that did the same count: of the same phase, with as many requests, and, where prompts are read, as
 * many tokens.
 */
import { isPhase, type Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import { QuietSource } from '../../model/schema.js';
import { interpolatedPercentile } from '../../stats/percentile.js';
import type { Derived } from '../analysis.js';
import { type IterationRow, iterations } from '../inference/iterations.js';

export interface MeasuredStep {
  readonly ns: number;
  /** Half of the steps lie between these. */
  readonly lowNs: number;
  readonly highNs: number;
  readonly steps: number;
  readonly source: 'calibration' | 'agent' | 'iteration-log' | 'server-log';
}

/** Fewer say little. */
const LEAST_STEPS = 8;
/** A line of a server's log is a mean over seconds. */
const LEAST_LINES = 2;
/** Quartiles further apart than this part of the median are not one kind of step. */
const MOST_SPREAD = 0.3;
/** Prompts of about this size are the same work. */
const TOKEN_TOLERANCE = 0.1;

const sources = [
  { source: 'calibration', codes: [QuietSource.calibration], least: LEAST_STEPS },
  { source: 'agent', codes: [QuietSource.beforeWindow, QuietSource.afterWindow], least: LEAST_STEPS },
  { source: 'iteration-log', codes: [QuietSource.iterationLog], least: LEAST_STEPS },
  { source: 'server-log', codes: [QuietSource.serverLog], least: LEAST_LINES },
] as const;

interface Quiet {
  readonly requests: number;
  readonly tokens: number;
  readonly ns: number;
}

/** By phase, from the best source that has enough steps. */
export const measuredSteps: Derived<ReadonlyMap<Phase, MeasuredStep>> = {
  id: 'measured-steps',
  reads: { quietSteps: [] },
  uses: [iterations],
  compute({ profile, useIfRecorded }) {
    const found = new Map<Phase, MeasuredStep>();
    const table = profile.tables.quietSteps;
    const profiled = (useIfRecorded(iterations)?.rows ?? []).filter(row => row.selected);
    if (!table || profiled.length === 0) return found;
    const quiet = new Map<string, Quiet[]>();
    for (let row = 0 as Row<'quietSteps'>; row < table.length; row++) {
      const code = table.source[row];
      const phase = profile.strings.text(table.phase[row]);
      if (!isPhase(phase) || !(table.periodNs[row] > 0)) continue;
      const key = `${phase}/${code}`;
      const own = quiet.get(key) ?? [];
      own.push({
        requests: table.generationRequests[row],
        tokens: table.contextTokens[row],
        ns: table.periodNs[row],
      });
      quiet.set(key, own);
    }
    for (const phase of new Set(profiled.map(row => row.phase))) {
      const rows = profiled.filter(row => row.phase === phase);
      for (const { source, codes, least } of sources) {
        const own = codes.flatMap(code => quiet.get(`${phase}/${code}`) ?? []);
        const measured = likeThose(rows, own, least);
        if (measured) {
          found.set(phase, { ...measured, source });
          break;
        }
      }
    }
    return found;
  },
};

/** The median of quiet steps for each kind of profiled step, weighted by how often the profile has it. */
function likeThose(
  rows: readonly IterationRow[],
  quiet: readonly Quiet[],
  least: number,
): Omit<MeasuredStep, 'source'> | undefined {
  const kinds = new Map<string, { row: IterationRow; count: number }>();
  for (const row of rows) {
    // Prompts differ in length; steps that only decode are the same if as many requests are in them.
    const key = `${row.generationRequests}/${row.contextTokens}`;
    const kind = kinds.get(key) ?? { row, count: 0 };
    kinds.set(key, { row, count: kind.count + 1 });
  }
  let known = 0;
  let steps = 0;
  const sum = { ns: 0, lowNs: 0, highNs: 0 };
  for (const { row, count } of kinds.values()) {
    const own = quiet.filter(each => isAlike(row, each));
    if (own.length < least) continue;
    const sorted = Float64Array.from(own, ({ ns }) => ns).sort();
    sum.ns += count * interpolatedPercentile(sorted, 50);
    sum.lowNs += count * interpolatedPercentile(sorted, 25);
    sum.highNs += count * interpolatedPercentile(sorted, 75);
    known += count;
    steps += own.length;
  }
  // Kinds of steps that were never seen outside the window leave the mean of the profile without a counterpart.
  if (known < 0.8 * rows.length) return undefined;
  // Something else went on around the window: which of these steps is like the profiled ones is not known.
  if (sum.highNs - sum.lowNs > MOST_SPREAD * sum.ns) return undefined;
  return { ns: sum.ns / known, lowNs: sum.lowNs / known, highNs: sum.highNs / known, steps };
}

function isAlike({ generationRequests, contextTokens }: IterationRow, { requests, tokens }: Quiet): boolean {
  const sameBatch = generationRequests === null || Number.isNaN(requests) || generationRequests === requests;
  const profiled = contextTokens ?? 0;
  const other = Number.isNaN(tokens) ? 0 : tokens;
  return sameBatch && Math.abs(profiled - other) <= TOKEN_TOLERANCE * Math.max(profiled, other);
}
