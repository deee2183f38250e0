/** Beside the equation: kernels by family, launches, idle, graphs, counters, memory, layer by layer, on both sides. */
import { familyLook } from '../analyze/names-and-colors.js';
import type { Static } from '../base/document.js';
import { families } from '../catalog/kernels/families.js';
import { type CellFacts, type Configuration, REPLAY, type SideFigure } from '../run/run.js';
import type { SideMeans } from '../run/side-means.js';
import type { phaseSchema } from './compare-schema.js';

type PhaseChange = Static<typeof phaseSchema>;
export type FamilyChange = PhaseChange['families'][number];
export type LayerChange = PhaseChange['layers'][number];
export type FigureChange = PhaseChange['figures'][number];

/** Replays recorded as blocks hide their kernels: what is left says nothing about families, layers or counts. */
const hidesKernels = ({ parts }: SideMeans): boolean => parts.has(REPLAY);

export function familyChanges(from: SideMeans, to: SideMeans): FamilyChange[] {
  if (hidesKernels(from) || hidesKernels(to)) return [];
  const tally = (side: SideMeans) => {
    const sums = new Map<string, { count: number; ns: number }>();
    for (const [part, { count, spentNs }] of side.parts) {
      const family = side.kernels.get(part)?.family ?? copyFamily(part);
      if (family === undefined) continue;
      const known = sums.get(family) ?? { count: 0, ns: 0 };
      sums.set(family, { count: known.count + count, ns: known.ns + spentNs });
    }
    return sums;
  };
  const [ours, theirs] = [tally(from), tally(to)];
  return families
    .filter(({ id }) => ours.has(id) || theirs.has(id))
    .map(({ id }) => ({
      family: id,
      label: familyLook(id).label,
      fromCount: ours.get(id)?.count ?? 0,
      toCount: theirs.get(id)?.count ?? 0,
      fromNs: ours.get(id)?.ns ?? 0,
      toNs: theirs.get(id)?.ns ?? 0,
    }))
    .filter(row => row.fromCount > 0 || row.toCount > 0)
    .sort((a, b) => Math.max(b.fromNs, b.toNs) - Math.max(a.fromNs, a.toNs));
}

const copyFamily = (part: string): 'copy' | 'memset' | undefined =>
  part === 'copy:memset' ? 'memset' : part.startsWith('copy:') ? 'copy' : undefined;

const partOf = (place: string) => place.slice(place.indexOf('/') + 1);

function wholeLayers(side: SideMeans): SideMeans {
  const layers = new Map<string, { kernels: number; spentNs: number }>();
  for (const [place, { kernels, spentNs }] of side.layers) {
    const whole = `${place.slice(0, place.indexOf('/'))}/`;
    const known = layers.get(whole) ?? { kernels: 0, spentNs: 0 };
    layers.set(whole, { kernels: known.kernels + kernels, spentNs: known.spentNs + spentNs });
  }
  return { ...side, layers };
}

/** Only where both sides know their layers. */
export function layerChanges(from: SideMeans, to: SideMeans): LayerChange[] {
  const hasLayers = ({ layers }: SideMeans) => [...layers.keys()].some(place => place !== 'outside/');
  if (hidesKernels(from) || hidesKernels(to) || !hasLayers(from) || !hasLayers(to)) return [];
  const partsIn = ({ layers }: SideMeans) =>
    new Set([...layers.keys()].filter(place => place !== 'outside/').map(partOf));
  const [ours, theirs] = [partsIn(from), partsIn(to)];
  // Where one side names the parts of a layer and the other does not, whole layers are all they share.
  if (![...ours].some(part => theirs.has(part)) && (ours.size > 1 || theirs.size > 1 || !ours.has('')))
    return layerChanges(wholeLayers(from), wholeLayers(to));
  const number = (place: string) => (place === 'outside/' ? Infinity : Number(place.split('/')[0]));
  return [...new Set([...from.layers.keys(), ...to.layers.keys()])]
    .sort((a, b) => number(a) - number(b) || (partOf(a) < partOf(b) ? -1 : 1))
    .map(place => ({
      layer: Number.isFinite(number(place)) ? number(place) : null,
      part: partOf(place),
      fromKernels: from.layers.get(place)?.kernels ?? 0,
      toKernels: to.layers.get(place)?.kernels ?? 0,
      fromNs: from.layers.get(place)?.spentNs ?? 0,
      toNs: to.layers.get(place)?.spentNs ?? 0,
    }));
}

/** Counters and memory say nothing unless both sides have them; a call that one side does not make says much. */
const BOTH_NEEDED = /^(metric|memory)/;

export function figureChanges(
  from: Configuration,
  to: Configuration,
  phase: CellFacts['phase'],
  ours: SideMeans,
  theirs: SideMeans,
): FigureChange[] {
  const sum = ({ parts }: SideMeans, prefix: string, of: 'ns' | 'count') =>
    [...parts].reduce((total, [part, mean]) => total + (part.startsWith(prefix) ? mean[of] : 0), 0);
  const kernels = (side: SideMeans) => sum(side, 'kernel:', 'count') + sum(side, 'comm:', 'count');
  const own = (id: string, label: string, unit: SideFigure['unit'], of: (side: SideMeans) => number) => ({
    ...{ id, label, unit, from: of(ours), to: of(theirs) },
  });
  const rows: FigureChange[] = [
    {
      ...own('kernels', 'kernels per step', 'count', kernels),
      ...(hidesKernels(ours) ? { from: null } : {}),
      ...(hidesKernels(theirs) ? { to: null } : {}),
    },
    own('gpu-busy', 'GPU busy per step', 'ns', side => side.wallNs - sum(side, 'idle:', 'ns')),
    own('idle', 'GPU idle per step', 'ns', side => sum(side, 'idle:', 'ns')),
    own('graph-launches', 'graph launches per step', 'count', side => side.graphLaunches),
  ];
  const wanted = (figure: SideFigure) =>
    figure.phase === phase || (figure.phase === null && figure.id === 'memory-peak');
  const meansOf = ({ runs }: Configuration) => {
    const values = new Map<string, { figure: SideFigure; sum: number; count: number }>();
    for (const figure of runs.flatMap(run => run.sideBySide ?? []).filter(wanted)) {
      const known = values.get(figure.id) ?? { figure, sum: 0, count: 0 };
      values.set(figure.id, { figure, sum: known.sum + figure.value, count: known.count + 1 });
    }
    return values;
  };
  const [a, b] = [meansOf(from), meansOf(to)];
  for (const id of new Set([...a.keys(), ...b.keys()])) {
    if (BOTH_NEEDED.test(id) && !(a.has(id) && b.has(id))) continue;
    const value = (side: typeof a) => {
      const known = side.get(id);
      return known ? known.sum / known.count : null;
    };
    const { label, unit } = (a.get(id) ?? b.get(id))!.figure;
    rows.push({ id, label, unit, from: value(a), to: value(b) });
  }
  const events = ({ runs }: Configuration) =>
    runs.reduce((total, run) => total + run.profile.capture.hostEventsPerStep, 0) / runs.length;
  rows.push({
    id: 'host-events',
    label: 'host events traced per step, approximately',
    unit: 'count',
    from: events(from),
    to: events(to),
  });
  return rows;
}
