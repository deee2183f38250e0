/** One side of a comparison as means per step: time in whole nanoseconds that sum to the step, counts, layers. */
import { apportion } from './apportion.js';
import { type MixPair, type PhasePair, type RunCells, windowsOf } from './pair-phases.js';
import type { CellFacts, KernelFacts, ProfileParts, SequenceItem } from './run.js';

interface PartMean {
  /** Whole; all parts together sum to `wallNs`. */
  readonly ns: number;
  readonly count: number;
  readonly spentNs: number;
}

export interface SideMeans {
  readonly wallNs: number;
  readonly windows: number;
  readonly steps: number;
  readonly parts: ReadonlyMap<string, PartMean>;
  readonly layers: ReadonlyMap<string, { readonly kernels: number; readonly spentNs: number }>;
  readonly graphLaunches: number;
  readonly contextTokens: number;
  readonly kvTokens: number;
  readonly sequence: readonly SequenceItem[];
  readonly kernels: ReadonlyMap<string, KernelFacts>;
}

export type SideName = 'from' | 'to';

export function sideMeans(
  pair: PhasePair,
  side: SideName,
  runs: readonly { readonly profile: Pick<ProfileParts, 'kernels'> }[],
): SideMeans {
  const cells = pair.mixes.flatMap(mix => mix[side].flat());
  /** Mean per window of each mix, weighted alike on both sides. */
  const mean = (of: (cell: CellFacts) => number) =>
    pair.mixes.reduce((sum, mix) => sum + mix.weight * meanOver(mix[side], of), 0);
  const keys = new Set(cells.flatMap(cell => [...cell.amounts.keys()]));
  const exact = new Map<string, number>();
  for (const key of [...keys].sort())
    exact.set(
      key,
      mean(cell => cell.amounts.get(key)?.ns ?? 0),
    );
  const wallNs = Math.round(mean(cell => cell.wallNs));
  const whole = apportion(exact, wallNs);
  const parts = new Map<string, PartMean>();
  for (const [key, ns] of whole) {
    const count = mean(cell => cell.amounts.get(key)?.count ?? 0);
    const spentNs = mean(cell => cell.amounts.get(key)?.spentNs ?? 0);
    parts.set(key, { ns, count, spentNs });
  }
  const places = new Set(cells.flatMap(cell => [...cell.layers.keys()]));
  const kernels = new Map<string, KernelFacts>();
  for (const run of runs)
    for (const [part, facts] of run.profile.kernels) if (!kernels.has(part)) kernels.set(part, facts);
  return {
    wallNs,
    windows: cells.reduce((sum, cell) => sum + cell.windows, 0),
    steps: cells.reduce((sum, cell) => sum + cell.stepNs.length, 0),
    parts,
    layers: new Map(
      [...places].map(place => [
        place,
        {
          kernels: mean(cell => cell.layers.get(place)?.kernels ?? 0),
          spentNs: mean(cell => cell.layers.get(place)?.spentNs ?? 0),
        },
      ]),
    ),
    graphLaunches: mean(cell => cell.graphLaunches),
    contextTokens: mean(cell => cell.contextTokens),
    kvTokens: mean(cell => cell.kvTokens),
    sequence: typicalSequence(pair.mixes, side),
    kernels,
  };
}

function meanOver(cells: RunCells, of: (cell: CellFacts) => number): number {
  return cells.flat().reduce((sum, cell) => sum + of(cell), 0) / windowsOf(cells);
}

/** Of the mix both sides spend most steps in, so that both sequences had the same to do. */
function typicalSequence(mixes: readonly MixPair[], side: SideName): readonly SequenceItem[] {
  const recorded = (cells: RunCells) => cells.flat().find(cell => cell.sequence.length > 0)?.sequence;
  const byWeight = [...mixes].sort((a, b) => b.weight - a.weight || (a.mix < b.mix ? -1 : 1));
  const mix = byWeight.find(candidate => recorded(candidate.from) && recorded(candidate.to));
  return recorded((mix ?? byWeight[0])[side]) ?? [];
}
