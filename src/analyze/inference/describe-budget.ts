/** The step budget in words and bars, phase by phase. */
import { formatDuration, plural } from '../../base/units.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import type { AnalysisResult } from '../analysis.js';
import type { BarRow, BarsBlock, Block } from '../block.js';
import { busyParts } from '../names-and-colors.js';
import type { BudgetRow } from './budget-totals.js';
import { type PhaseBudget, totalsByPhase, transferringNs } from './budget-totals.js';

/** Causes below this share of the step are added up in one line. */
const SMALL = 0.002;
/** The profiler's part of a cause is named from this share of it on. */
const LEAST_PROFILER_PART = 0.1;

export function describeBudget(result: AnalysisResult<BudgetRow>): Block[] {
  const hidden = result.summary?.graphReplaysHidden === true;
  const totals = totalsByPhase(result.rows);
  return totals.map(total => budgetBars(total, hidden, totals.length === 1));
}

/** `alone`: there is nothing but this; without steps it is the whole trace. */
export function budgetBars(
  total: PhaseBudget,
  graphsHidden: boolean,
  alone: boolean,
  profiler?: { readonly profilerNs: number; readonly profilerByCause: Readonly<Record<string, number>> },
): BarsBlock {
  const mean = (ns: number) => ns / total.windows;
  const row = (label: string, ns: number, depth: 0 | 1 = 0, color?: string): BarRow => ({
    label,
    depth,
    ns: mean(ns),
    share: total.wallNs > 0 ? ns / total.wallNs : 0,
    ...(color ? { color } : {}),
  });
  const { compute, communication, waiting, copies } = busyParts;
  const rows = [row(graphsHidden ? 'compute and replays' : 'compute', total.computeNs, 0, compute.color)];
  if (total.communicationExposedNs > 0)
    rows.push(row(communication.label, total.communicationExposedNs, 0, communication.color), ...splitRows());
  rows.push(row(copies.label, total.copyExposedNs, 0, copies.color));
  rows.push(row(graphsHidden ? 'idle outside replays' : 'idle', total.idleNs));
  let rest = 0;
  const inflated: string[] = [];
  for (const [id, ns] of Object.entries(total.idleByCause)) {
    const cause = idleCauses.find(known => known.id === id)!;
    if (ns < SMALL * total.wallNs) rest += ns;
    else rows.push(row(cause.label, ns, 1, cause.color));
    const added = profiler?.profilerByCause[id] ?? 0;
    if (ns >= SMALL * total.wallNs && added >= LEAST_PROFILER_PART * mean(ns))
      inflated.push(`${cause.label} ${formatDuration(added)}`);
  }
  if (rest > 0) rows.push(row('other causes', rest, 1));
  /** Where ranks were matched: whom the time goes to. */
  function splitRows(): BarRow[] {
    const transferred = transferringNs(total);
    if (transferred === undefined) return [];
    const parts = [
      row(waiting.label, total.communicationWaitingNs!, 1, waiting.color),
      row('transferring', transferred, 1, communication.color),
      row('not matched', total.communicationUnmatchedNs ?? 0, 1, communication.color),
    ];
    return parts.filter(({ ns }) => ns >= SMALL * mean(total.wallNs));
  }
  const devices = total.steps > 0 ? total.windows / total.steps : 1;
  const across = devices > 1 ? `, ${plural(Math.round(devices), 'device')}` : '';
  const caption =
    total.phase === null
      ? alone
        ? 'the whole trace'
        : 'outside all steps'
      : total.steps === 1
        ? `one ${total.phase === 'unknown' ? '' : `${total.phase} `}step${across}`
        : `${total.phase === 'unknown' ? 'steps' : total.phase}, mean of ${plural(total.steps, 'step')}${across}`;
  const hiddenWork = [
    inflated.length > 0 && `of this the profiler itself adds about: ${inflated.join(', ')}`,
    total.communicationHiddenNs > 0 &&
      `communication hidden by compute ${formatDuration(mean(total.communicationHiddenNs))}`,
    total.copyHiddenNs > 0 && `copies hidden ${formatDuration(mean(total.copyHiddenNs))}`,
    graphsHidden &&
      'graph replays count as busy; idle time inside them is not recorded: capture with --cuda-graph-trace=node',
  ].filter(text => text !== false);
  return {
    kind: 'bars',
    id: `step-budget${total.phase === null ? '-outside' : `-${total.phase}`}`,
    title: 'Step budget',
    caption,
    rows,
    ...(hiddenWork.length > 0 ? { remark: hiddenWork.join('; ') } : {}),
  };
}
