/**
 * The selected steps of one run as sums per phase and batch mix. Time is counted where it passed (in the window of the
 * step), launches are counted for the step that asked for them, as everywhere else.
 */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { communicationSplit } from '../analyze/comm/communication-split.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { type BusyKind, momentOwners } from '../analyze/gpu/moment-owners.js';
import { workFamilies } from '../analyze/gpu/work-families.js';
import type { Budget } from '../analyze/inference/budget-totals.js';
import { layerOfWork } from '../analyze/inference/layer-of-work.js';
import type { SelectedWindow } from '../analyze/inference/selection.js';
import { windowBudgets } from '../analyze/inference/step-budget.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import { lengthWithin } from '../base/intervals.js';
import type { Phase } from '../catalog/phases.js';
import type { Row } from '../model/profile.js';
import { batchMix, tokensOfStep } from './batch-mix.js';
import { PartNames } from './part-names.js';
import {
  type CellFacts,
  type KernelFacts,
  type LayerAmount,
  type PartAmount,
  RANK_WAIT,
  type SequenceItem,
} from './run.js';

export const cellSources: readonly Derived<unknown>[] = [
  gpuWork,
  workFamilies,
  momentOwners,
  windowBudgets,
  stepWork,
  stepsOf,
  layerOfWork,
  communicationSplit,
];

const busyKinds: readonly BusyKind[] = ['compute', 'communication', 'copies'];
/** Sequences are aligned pairwise; what comes after so many kernels is matched by name alone. */
const LONGEST_SEQUENCE = 30_000;

type Window = { readonly window: SelectedWindow; readonly budget: Budget };

interface Cell {
  readonly phase: Phase | null;
  readonly mix: string;
  readonly windows: Window[];
  readonly amounts: PartAmount[];
  /** By place: layer times parts of a layer and part, after what is outside layers. */
  readonly layers: LayerAmount[];
  readonly sequence: SequenceItem[];
}

/** `firstDevice`: of ranks that run a step side by side, the first stands for it. */
export function collectCells(
  { profile, use }: AnalysisInput,
  firstDevice: boolean,
): { cells: CellFacts[]; kernels: ReadonlyMap<string, KernelFacts> } {
  const work = use(gpuWork);
  const families = use(workFamilies);
  const owners = use(momentOwners);
  const split = use(communicationSplit);
  const attributed = use(stepWork);
  const steps = use(stepsOf)?.steps ?? [];
  const { layer, part, parts: places } = use(layerOfWork);
  const parts = new PartNames(profile, work, families);
  const cells = new Map<string, Cell>();
  const cellOfRun = new Map<number, Cell>();
  let outside: Cell | undefined;
  const deviceOfStep = new Map<number, number>();
  for (const entry of use(windowBudgets)) {
    const { step, device, deviceRun } = entry.window;
    if (step !== NONE && !deviceOfStep.has(step)) deviceOfStep.set(step, device);
    if (firstDevice && step !== NONE && deviceOfStep.get(step) !== device) continue;
    const facts = steps[step]?.facts;
    const phase = facts?.phase ?? null;
    const mix = facts ? batchMix(facts) : '';
    const key = `${phase}|${mix}`;
    let cell = cells.get(key);
    if (!cell) cells.set(key, (cell = { phase, mix, windows: [], amounts: [], layers: [], sequence: [] }));
    cell.windows.push(entry);
    if (deviceRun === NONE) outside = cell;
    else cellOfRun.set(deviceRun, cell);
  }
  for (const cell of cells.values()) addTime(cell);
  addLaunches();
  return { cells: [...cells.values()].map(finish), kernels: parts.kernels };

  function amountOf(cell: Cell, index: number): PartAmount {
    return (cell.amounts[index] ??= { ns: 0, count: 0, spentNs: 0 });
  }

  function addTime(cell: Cell): void {
    for (const { window, budget } of cell.windows) {
      for (const kind of busyKinds)
        owners.visit(kind, window.device, window.start, window.end, (i, ns) => {
          const waited = kind === 'communication' ? waitedIn(window, i, ns) : undefined;
          amountOf(cell, parts.of(i)).ns += ns - (waited ?? 0);
          if (waited !== undefined) amountOf(cell, parts.index(RANK_WAIT)).ns += waited;
        });
      for (const [cause, ns] of Object.entries(budget.idleByCause))
        amountOf(cell, parts.index(`idle:${cause}`)).ns += ns;
    }
  }

  /** What of a piece's own time in a window it waits for the last rank; undefined where ranks were not matched. */
  function waitedIn({ device, start, end }: SelectedWindow, i: number, ns: number): number | undefined {
    const waiting = split?.get(device)?.waiting;
    if (!waiting) return undefined;
    return Math.min(ns, lengthWithin(waiting, Math.max(start, work.ownStart[i]), Math.min(end, work.end[i])));
  }

  function addLaunches(): void {
    const typical = new Map([...cells.values()].map(cell => [typicalRun(cell), cell]));
    const runCells = attributed?.deviceRuns.map((_, run) => cellOfRun.get(run));
    for (let i = 0; i < work.length; i++) {
      const run = attributed?.runOfWork[i] ?? NONE;
      const cell = run === NONE ? outside : runCells![run];
      if (!cell) continue;
      const index = parts.of(i);
      const ns = work.end[i] - work.start[i];
      const amount = amountOf(cell, index);
      amount.count++;
      amount.spentNs += ns;
      if (work.kind[i] !== WorkKind.kernel) continue;
      const place = layer[i] === NONE ? 0 : 1 + layer[i] * places.length + part[i];
      const known = (cell.layers[place] ??= { kernels: 0, spentNs: 0 });
      known.kernels++;
      known.spentNs += ns;
      if (typical.get(run) === cell && cell.sequence.length < LONGEST_SEQUENCE)
        cell.sequence.push({
          part: parts.names[index],
          ns,
          place: layer[i] === NONE ? '' : places[part[i]],
          blocks: blocksOf(work.row[i] as Row<'kernels'>),
        });
    }
  }

  function blocksOf(row: Row<'kernels'>): number {
    const { gridX, gridY, gridZ } = profile.tables.kernels!;
    if (!gridX || !gridY || !gridZ || gridX[row] < 1) return 0;
    return gridX[row] * Math.max(1, gridY[row]) * Math.max(1, gridZ[row]);
  }

  /** The run with the median length among those that did something; the whole trace where there are no runs. */
  function typicalRun({ windows }: Cell): number {
    const own = windows.filter(
      ({ window: { deviceRun } }) =>
        deviceRun === NONE || !Number.isNaN(attributed!.deviceRuns[deviceRun].gpuStart),
    );
    own.sort((a, b) => a.budget.wallNs - b.budget.wallNs || a.window.start - b.window.start);
    return own[(own.length - 1) >> 1]?.window.deviceRun ?? Number.NaN;
  }

  function placeName(place: number): string {
    if (place === 0) return 'outside/';
    return `${Math.floor((place - 1) / places.length)}/${places[(place - 1) % places.length]}`;
  }

  function finish(cell: Cell): CellFacts {
    // Outside steps a device's stretches are one: their number means nothing.
    const stepKey = ({ window }: Window) => (cell.phase === null ? window.device : window.step);
    const byStep = new Map<number, { ns: number; windows: number }>();
    for (const entry of cell.windows) {
      const known = byStep.get(stepKey(entry)) ?? { ns: 0, windows: 0 };
      known.ns += entry.budget.wallNs;
      known.windows += cell.phase === null && known.windows > 0 ? 0 : 1;
      byStep.set(stepKey(entry), known);
    }
    const inOrder = [...byStep].sort((a, b) => a[0] - b[0]).map(([, value]) => value);
    const own = [...byStep.keys()].filter(() => cell.phase !== null);
    const sumOver = (of: (step: number) => number) => own.reduce((sum, step) => sum + of(step), 0);
    return {
      phase: cell.phase,
      mix: cell.mix,
      windows: inOrder.reduce((sum, { windows }) => sum + windows, 0),
      wallNs: inOrder.reduce((sum, { ns }) => sum + ns, 0),
      stepNs: inOrder.map(({ ns }) => ns),
      stepWindows: inOrder.map(({ windows }) => windows),
      graphLaunches: sumOver(step => attributed!.graphLaunches[step]),
      contextTokens: sumOver(step => steps[step].facts.contextTokens ?? 0),
      kvTokens: sumOver(step => steps[step].facts.generationKvTokens ?? 0),
      tokens:
        sumOver(
          step => (tokensOfStep(steps[step].facts, cell.phase!) ?? Number.NaN) * byStep.get(step)!.windows,
        ) || 0,
      amounts: new Map(cell.amounts.flatMap((amount, i) => (amount ? [[parts.names[i], amount]] : []))),
      sequence: cell.sequence,
      layers: new Map(cell.layers.flatMap((amount, place) => (amount ? [[placeName(place), amount]] : []))),
    };
  }
}
