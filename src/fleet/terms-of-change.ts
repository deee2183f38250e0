/**
 * A change between two groups of runs as an equation: the mean step before, plus one term per part, is the mean step
 * after. Parts are moments of the device, so terms add up whatever ran in parallel.
 */

import { busyParts, causeLook, familyLook, type Look } from '../analyze/names-and-colors.js';
import { workColors } from '../catalog/palette.js';
import { apportion } from '../run/apportion.js';
import type { OpenLake, PartSums } from './read-lake.js';

interface ChangeTerm {
  readonly look: Look;
  readonly fromNs: number;
  readonly toNs: number;
}

interface KernelTerm {
  readonly name: string;
  readonly family: string | null;
  readonly fromNs: number;
  readonly toNs: number;
  /** Launches per step and device. */
  readonly fromCount: number;
  readonly toCount: number;
}

export interface TermsOfChange {
  readonly fromNs: number;
  readonly toNs: number;
  /** Largest change first; they sum to toNs − fromNs. */
  readonly terms: readonly ChangeTerm[];
  readonly kernels: readonly KernelTerm[];
}

const MOST_KERNELS = 12;

export async function termsOfChange(
  lake: OpenLake,
  phase: string,
  before: readonly string[],
  after: readonly string[],
): Promise<TermsOfChange> {
  const { parts, windows } = await lake.partsOf([...before, ...after], phase);
  const [from, to] = [sideOf(parts, windows, before), sideOf(parts, windows, after)];
  const names = [...new Set([...from.keys(), ...to.keys()])].sort();
  const terms = new Map<string, { look: Look; fromNs: number; toNs: number }>();
  const kernels: KernelTerm[] = [];
  for (const name of names) {
    const [a, b] = [from.get(name), to.get(name)];
    const { family, kernel } = (b ?? a)!;
    const look = lookOf(name, family);
    const known = terms.get(look.id) ?? { look, fromNs: 0, toNs: 0 };
    const [fromNs, toNs] = [a?.ns ?? 0, b?.ns ?? 0];
    terms.set(look.id, { look, fromNs: known.fromNs + fromNs, toNs: known.toNs + toNs });
    if (kernel !== null)
      kernels.push({ name: kernel, family, fromNs, toNs, fromCount: a?.count ?? 0, toCount: b?.count ?? 0 });
  }
  const size = ({ fromNs, toNs }: { fromNs: number; toNs: number }) => Math.abs(toNs - fromNs);
  const bySize = <Term extends { fromNs: number; toNs: number }>(list: readonly Term[]) =>
    [...list].sort((a, b) => size(b) - size(a));
  const all = bySize([...terms.values()]);
  return {
    fromNs: all.reduce((sum, term) => sum + term.fromNs, 0),
    toNs: all.reduce((sum, term) => sum + term.toNs, 0),
    terms: all,
    kernels: bySize(kernels)
      .filter(term => size(term) > 0)
      .slice(0, MOST_KERNELS),
  };
}

interface PartMean {
  readonly ns: number;
  readonly count: number;
  readonly family: string | null;
  readonly kernel: string | null;
}

/** Means per step and device of some runs, each run counting the same: as the history does. */
function sideOf(
  parts: readonly PartSums[],
  windows: ReadonlyMap<string, number>,
  runs: readonly string[],
): Map<string, PartMean> {
  const own = new Set(runs);
  const means = new Map<string, PartMean>();
  for (const { run, part, ns, count, family, kernel } of parts) {
    if (!own.has(run)) continue;
    const weight = 1 / (windows.get(run)! * own.size);
    const known = means.get(part) ?? { ns: 0, count: 0, family, kernel };
    means.set(part, { ...known, ns: known.ns + ns * weight, count: known.count + count * weight });
  }
  // Whole nanoseconds on each side, so that terms add up and what did not change is zero.
  const exact = new Map([...means].map(([part, { ns }]) => [part, ns]));
  const total = Math.round([...exact.values()].reduce((sum, ns) => sum + ns, 0));
  const rounded = apportion(exact, total);
  return new Map([...means].map(([part, mean]) => [part, { ...mean, ns: rounded.get(part)! }]));
}

function lookOf(part: string, family: string | null): Look {
  if (part.startsWith('idle:')) {
    const look = causeLook(part.slice('idle:'.length));
    return { ...look, id: `idle.${look.id}`, label: `idle: ${look.label}` };
  }
  if (part.startsWith('copy:')) return busyParts.copies;
  if (part.startsWith('comm:')) return busyParts.communication;
  if (part === 'wait:ranks') return busyParts.waiting;
  if (family === null) return { id: 'replay', label: 'graph replays', color: workColors['graph-block'] };
  return familyLook(family);
}
