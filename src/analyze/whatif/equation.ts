/** A prediction as an equation in whole nanoseconds: the profiled step, term by term, the predicted step. */
import { busyParts, causeLook, familyLook, type Look } from '../names-and-colors.js';
import type { PhasePrediction } from './predict.js';

interface PredictedTerm {
  /** `kernel:gemm`, `replay`, `communication`, `copies`, `idle:host-code` */
  readonly key: string;
  readonly label: string;
  readonly color: string;
  readonly fromNs: number;
  readonly toNs: number;
  readonly changeNs: number;
}

export interface Equation {
  /** Sums of the terms, so that nothing is lost to rounding. */
  readonly fromNs: number;
  readonly toNs: number;
  readonly changeNs: number;
  readonly terms: readonly PredictedTerm[];
}

export function equationOf({ from, to }: Pick<PhasePrediction, 'from' | 'to'>): Equation {
  const keys = [...new Set([...from.keys(), ...to.keys()])];
  const terms = keys.map((key): PredictedTerm => {
    const [fromNs, toNs] = [from, to].map(parts => Math.round(parts.get(key) ?? 0));
    const { label, color } = lookOf(key);
    return { key, label, color, fromNs, toNs, changeNs: toNs - fromNs };
  });
  // Kernels by time, then communication and copies, then why the GPU is idle.
  terms.sort((a, b) => placeOf(a.key) - placeOf(b.key) || b.fromNs - a.fromNs || (a.key < b.key ? -1 : 1));
  const sum = (of: (term: PredictedTerm) => number) => terms.reduce((total, term) => total + of(term), 0);
  return {
    fromNs: sum(({ fromNs }) => fromNs),
    toNs: sum(({ toNs }) => toNs),
    changeNs: sum(({ changeNs }) => changeNs),
    terms,
  };
}

function lookOf(key: string): Pick<Look, 'label' | 'color'> {
  const [kind, id = ''] = key.split(':');
  if (kind === 'kernel') return familyLook(id);
  if (kind === 'replay') return { ...busyParts.compute, label: 'graph replays' };
  if (kind === 'communication' || kind === 'copies') return busyParts[kind];
  const { label, color } = causeLook(id);
  return { label: `idle: ${label}`, color };
}

const order = ['kernel', 'replay', 'communication', 'copies', 'idle'];
const placeOf = (key: string): number => order.indexOf(key.split(':')[0]);
