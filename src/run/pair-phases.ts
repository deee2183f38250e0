/**
 * Like with like: steps of one phase and batch mix against steps of the same phase and mix. Where several mixes are
 * shared, both sides are weighted alike (the mean of their own shares), so that another mix of work is no change of
 * speed; mixes only one side has are left out and said.
 */
import { phases } from '../catalog/phases.js';
import type { CellFacts, Configuration } from './run.js';

/** Per run of a configuration, its steps that take part. */
export type RunCells = readonly (readonly CellFacts[])[];

export interface MixPair {
  readonly mix: string;
  /** Of all mixes of the phase; they sum to 1. */
  readonly weight: number;
  readonly from: RunCells;
  readonly to: RunCells;
}

export interface PhasePair {
  readonly phase: CellFacts['phase'];
  readonly mixes: readonly MixPair[];
  readonly onlyFrom: readonly string[];
  readonly onlyTo: readonly string[];
  /** Hardly a mix is shared: all steps of the phase are compared, whatever they had to do. */
  readonly mixesDiffer: boolean;
}

export interface Pairing {
  readonly pairs: readonly PhasePair[];
  readonly onlyFrom: readonly CellFacts['phase'][];
  readonly onlyTo: readonly CellFacts['phase'][];
}

type Sides = Pick<Configuration, 'runs'>;

/** Shared mixes must hold this share of the steps of both sides, or they say little about them. */
const LEAST_SHARED = 0.5;

export function pairPhases(from: Sides, to: Sides): Pairing {
  const ours = phasesOf(from);
  const theirs = phasesOf(to);
  const order = [...phases.map(({ id }) => id), null];
  const wall = (phase: CellFacts['phase']) =>
    [...cellsOf(from, phase), ...cellsOf(to, phase)].flat().reduce((sum, cell) => sum + cell.wallNs, 0);
  const shared = order.filter(phase => ours.has(phase) && theirs.has(phase));
  // What lies outside steps comes last, however long it is.
  shared.sort((a, b) => Number(a === null) - Number(b === null) || wall(b) - wall(a));
  return {
    pairs: shared.map(phase => pairMixes(phase, cellsOf(from, phase), cellsOf(to, phase))),
    onlyFrom: order.filter(phase => ours.has(phase) && !theirs.has(phase)),
    onlyTo: order.filter(phase => theirs.has(phase) && !ours.has(phase)),
  };
}

const phasesOf = ({ runs }: Sides) => new Set(runs.flatMap(run => run.profile.cells.map(cell => cell.phase)));

const cellsOf = ({ runs }: Sides, phase: CellFacts['phase']): CellFacts[][] =>
  runs.map(run => run.profile.cells.filter(cell => cell.phase === phase));

export const windowsOf = (cells: RunCells): number =>
  cells.flat().reduce((sum, cell) => sum + cell.windows, 0);

function pairMixes(phase: CellFacts['phase'], from: RunCells, to: RunCells): PhasePair {
  const mixesIn = (cells: RunCells) => [...new Set(cells.flat().map(cell => cell.mix))].sort();
  const withMix = (cells: RunCells, mix: string) => cells.map(run => run.filter(cell => cell.mix === mix));
  const ours = mixesIn(from);
  const theirs = mixesIn(to);
  const shared = ours.filter(mix => theirs.includes(mix));
  const covered = (cells: RunCells) =>
    shared.reduce((sum, mix) => sum + windowsOf(withMix(cells, mix)), 0) / windowsOf(cells);
  const onlyFrom = ours.filter(mix => !shared.includes(mix));
  const onlyTo = theirs.filter(mix => !shared.includes(mix));
  if (Math.min(covered(from), covered(to)) < LEAST_SHARED)
    return { phase, mixes: [{ mix: '', weight: 1, from, to }], onlyFrom, onlyTo, mixesDiffer: true };
  const share = (cells: RunCells, mix: string) =>
    windowsOf(withMix(cells, mix)) / (covered(cells) * windowsOf(cells));
  const mixes = shared.map(mix => ({
    mix,
    weight: shared.length === 1 ? 1 : (share(from, mix) + share(to, mix)) / 2,
    from: withMix(from, mix),
    to: withMix(to, mix),
  }));
  return { phase, mixes, onlyFrom, onlyTo, mixesDiffer: false };
}
