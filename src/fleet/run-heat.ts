/** One run as a map of ranks and steps: what each rank needs apart from communication, by the median of that step. */
import type { HeatBlock } from '../analyze/block.js';
import { medianOf } from '../stats/summary.js';
import type { FleetReport } from './fleet-report.js';
import type { OpenLake, StepRow } from './read-lake.js';

export interface RunHeat {
  readonly run: string;
  readonly rows: readonly string[];
  readonly iterations: readonly number[];
  /** Row after row, 1 is the median of the step; NaN: not recorded. */
  readonly values: Float64Array;
}

const MOST_RANKS = 64;
const MOST_STEPS = 128;

/** Of the run whose slowest rank is furthest above its median; undefined where no run can be compared by steps. */
export async function runHeat(lake: OpenLake, report: FleetReport): Promise<RunHeat | undefined> {
  const first = report.ranks.find(({ slowestShare }) => slowestShare !== null);
  if (!first) return undefined;
  const steps = await lake.stepsOf(first.run, first.phase);
  const chosen = new Set(
    report.ranks
      .filter(({ run }) => run === first.run)
      .slice(0, MOST_RANKS)
      .map(nameOf),
  );
  const rows = [...new Set(steps.map(nameOf))].filter(name => chosen.has(name)).sort(byNumber);
  const iterations = [...new Set(steps.map(({ iteration }) => iteration))].slice(0, MOST_STEPS);
  const medians = new Map(
    iterations.map(number => {
      const own = steps.filter(({ iteration }) => iteration === number).map(({ ownNs }) => ownNs);
      return [number, medianOf(Float64Array.from(own))];
    }),
  );
  const values = new Float64Array(rows.length * iterations.length).fill(Number.NaN);
  const [rowOf, columnOf] = [placesOf(rows), placesOf(iterations)];
  for (const step of steps) {
    const [row, column] = [rowOf.get(nameOf(step)), columnOf.get(step.iteration)];
    if (row !== undefined && column !== undefined)
      values[row * iterations.length + column] = step.ownNs / medians.get(step.iteration)!;
  }
  return { run: first.run, rows, iterations, values };
}

export const heatOfRun = ({ run, rows, iterations, values }: RunHeat): HeatBlock => ({
  kind: 'heat',
  id: 'rank-steps',
  title: `Ranks and steps of run ${run}`,
  caption: 'time of a rank apart from communication, divided by the median of the step',
  rows,
  columns: iterations.length,
  from: `step ${iterations[0]}`,
  to: `step ${iterations.at(-1)}`,
  values,
});

const nameOf = ({ rank, device }: Pick<StepRow, 'rank' | 'device'>) =>
  rank === null ? `GPU ${device}` : `rank ${rank} GPU ${device}`;
const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });
const placesOf = <Key>(keys: readonly Key[]) => new Map(keys.map((key, i) => [key, i]));
