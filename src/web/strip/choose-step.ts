/** The steps people ask for by name: the slowest, the typical, the first that generates. */

import type { Look } from '../../analyze/names-and-colors.js';
import type { StepsDocument } from '../../timeline/wire.js';
import { wallOf } from './strip-layout.js';

/** Warm-up is always the slowest and never what is meant. */
function worthAsking(steps: StepsDocument): number[] {
  const all = Array.from({ length: steps.length }, (_, i) => i);
  const steady = all.filter(i => steps.state[i] === 'steady');
  return steady.length > 0 ? steady : all;
}

/** -1 when there are no steps; so do the others. */
export function slowestStep(steps: StepsDocument): number {
  return worthAsking(steps).reduce(
    (most, i) => (most < 0 || wallOf(steps, i) > wallOf(steps, most) ? i : most),
    -1,
  );
}

/** Of the steps of one phase: that of `like`, else the phase most steps have. */
export function medianStep(steps: StepsDocument, like: number | null): number {
  const asked = worthAsking(steps);
  const phase = like === null ? commonest(asked.map(i => steps.phase[i])) : steps.phase[like];
  const own = asked.filter(i => steps.phase[i] === phase);
  own.sort((a, b) => wallOf(steps, a) - wallOf(steps, b));
  return own[(own.length - 1) >> 1] ?? -1;
}

export function firstDecode(steps: StepsDocument, phases: readonly Look[]): number {
  const generates = (i: number) => ['decode', 'speculative'].includes(phases[steps.phase[i]]?.id);
  return worthAsking(steps).find(generates) ?? steps.phase.findIndex((_, i) => generates(i));
}

function commonest(values: readonly number[]): number | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
