/** The answer in two sentences: what holds this phase up (its first finding, or its budget), and how long a step takes. */
import { formatCount, formatDuration } from '../base/units.js';
import type { IdleCause } from '../catalog/idle-causes.js';
import { idleCauses } from '../catalog/idle-causes.js';
import { type FamilyId, familyOf } from '../catalog/kernels/families.js';
import type { Finding } from './findings/finding.js';
import { findingHeadline } from './findings/headline.js';
import type { FamilyRow } from './gpu/family-row.js';
import type { PhaseBudget } from './inference/budget-totals.js';
import { type UndisturbedRow, withoutProfiler } from './undisturbed/undisturbed-step.js';

/** From this share of the step on, a part is what holds it up. */
const NOTABLE = 0.2;
/** A cause with this share of the idle time is the cause. */
const MAIN = 0.4;

const names: Record<string, string> = {
  prefill: 'Prefill',
  mixed: 'Mixed prefill and decode',
  decode: 'Decode',
  speculative: 'Speculative decoding',
  draft: 'Drafting',
  unknown: 'This workload',
};

const holdsUp: Partial<Record<IdleCause, string>> = {
  'launch-bound': 'is launch-bound',
  synchronisation: 'is stalled by synchronization',
  'garbage-collection': 'stalls on Python garbage collection',
  gil: 'waits for the Python GIL',
  'os-call': 'is stalled by blocking OS calls',
  allocation: 'is stalled by memory allocation',
  'host-code': 'is stalled by host code',
  'device-wait': 'has device-side gaps between kernels launched in time',
  'profiler-overhead': 'is distorted by profiler overhead',
};

const percent = (share: number) => `${Math.round(share * 100)}%`;

export function phaseVerdict(
  total: PhaseBudget,
  families: readonly FamilyRow[],
  kernelsPerStep: number | undefined,
  graphsHidden: boolean,
  inGraphs: boolean,
  first: Finding | undefined,
  undisturbed: UndisturbedRow | undefined,
): [answer: string, detail: string] {
  const name = names[total.phase ?? 'unknown'];
  const share = (ns: number) => (total.wallNs > 0 ? ns / total.wallNs : 0);
  const idle = share(total.idleNs);
  const every = total.phase === null ? 'of the time' : 'of every step';
  const busyNs = (total.wallNs - total.idleNs) / total.windows;
  const detail = [
    `${formatDuration(total.wallNs / total.windows)} ${total.phase === null ? 'in total' : 'per step'}${undisturbed ? ` as profiled, ${withoutProfiler(undisturbed)}` : ''}`,
    `${formatDuration(busyNs)} of GPU work`,
    kernelsPerStep !== undefined && `${formatCount(Math.round(kernelsPerStep))} kernels`,
  ].filter(text => text !== false);
  const sentence = `${detail.join(', ')}.`;
  if (busyNs === 0)
    return [
      `No GPU work was recorded in ${total.phase === null ? 'this time' : 'these steps'}: cannot tell what the GPU waits for.`,
      sentence,
    ];
  if (first) return [findingHeadline(first), sentence];
  if (idle >= NOTABLE) {
    const where = graphsHidden ? ' outside graph replays' : '';
    return [
      `${name} ${idleWords(total, inGraphs)}: the GPU waits ${percent(idle)} ${every}${where}.`,
      sentence,
    ];
  }
  if (share(total.communicationExposedNs) >= NOTABLE) {
    const exposed = percent(share(total.communicationExposedNs));
    return [`${name} waits for communication: ${exposed} ${every} is exposed communication.`, sentence];
  }
  if (
    total.computeNs + total.communicationExposedNs + total.communicationHiddenNs === 0 &&
    total.copyExposedNs > 0
  )
    return ['Only copies and memsets ran on the GPU: no kernels were recorded.', sentence];
  if (share(total.copyExposedNs) >= NOTABLE) {
    return [
      `${name} waits for copies: ${percent(share(total.copyExposedNs))} ${every} is exposed copies.`,
      sentence,
    ];
  }
  const busy = `${name} keeps the GPU busy ${percent(1 - idle)} ${every}`;
  const largest = largestFamily(total, families);
  return [largest ? `${busy}; ${largest}.` : `${busy}.`, sentence];
}

function idleWords({ idleByCause, idleNs }: PhaseBudget, inGraphs: boolean): string {
  const [[first, firstNs] = ['unknown', 0], second] = Object.entries(idleByCause);
  const label = (id: string) => idleCauses.find(cause => cause.id === id)?.label ?? id;
  if (first === 'unknown') return 'leaves the GPU idle for unrecorded reasons';
  // One launch per step is no launch overhead: the host simply comes too late with the next replay.
  if (first === 'launch-bound' && inGraphs) return 'waits for the next graph launch';
  if (firstNs >= MAIN * idleNs)
    return holdsUp[first as IdleCause] ?? `is stalled by ${label(first)} on the host`;
  return `is stalled by ${label(first)}${second ? ` and ${label(second[0])}` : ''}`;
}

/** `most of it is GEMM (61% of GPU time)` */
function largestFamily(total: PhaseBudget, families: readonly FamilyRow[]): string | undefined {
  const own = families.map(row => ({
    row,
    ns: row.phases.find(part => part.phase === total.phase)?.totalNs ?? 0,
  }));
  const sum = own.reduce((all, { ns }) => all + ns, 0);
  const [largest] = own.sort((a, b) => b.ns - a.ns);
  if (!largest || sum === 0) return undefined;
  const part = largest.ns / sum;
  const label =
    largest.row.family === 'other'
      ? 'kernels of no known family'
      : familyOf(largest.row.family as FamilyId).label;
  return `${part > 0.5 ? 'most of it is' : 'the largest part is'} ${label} (${percent(part)} of GPU time)`;
}
