/** The summary of comparisons: by how much, both sides as bars, and the terms that moved most. */
import { knownPhase } from '../analyze/names-and-colors.js';
import { MOST_ACTIONS, type PageSummary, type SummaryBar } from '../analyze/page-summary.js';
import { formatChange, formatDuration, formatRelativeChange } from '../base/units.js';
import type { Comparison, PhaseComparison } from './compare-configurations.js';
import { sideParts } from './side-parts.js';

const MOST_PHASES = 2;
const MOST_SIDES = 6;

export function comparisonSummary(comparisons: readonly Comparison[]): PageSummary {
  const [only] = comparisons;
  if (comparisons.length > 1) return { figures: [], bars: severalBars(comparisons), title: '', actions: [] };
  const [main] = only.phases;
  return {
    figures: figuresOf(main),
    bars: only.phases.slice(0, MOST_PHASES).flatMap(phase => pairBars(only, phase)),
    title: 'Largest changes',
    actions: [...main.terms]
      .filter(({ changeNs }) => changeNs !== 0)
      .sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs))
      .slice(0, MOST_ACTIONS)
      .map(({ label, fromNs, toNs, changeNs }) => ({
        text: `${label}: ${formatChange(changeNs)}`,
        about: `${formatDuration(fromNs)} → ${formatDuration(toNs)}${main.phase === null ? '' : ' per step'}`,
        section: `waterfall-${main.phase ?? 'all'}`,
      })),
  };
}

function figuresOf(main: PhaseComparison): PageSummary['figures'] {
  const { changeShare, changeNs, interval, from, to, verdict } = main;
  const what = main.phase === null ? 'time' : `${knownPhase(main.phase)} step time`.trim();
  const doubt =
    verdict === 'not-measurable' ? ', not measurable' : verdict === 'unknown' ? ', noise unknown' : '';
  return [
    { value: formatRelativeChange(changeShare), label: `${what}${doubt}` },
    {
      value: `${formatDuration(from.wallNs)} → ${formatDuration(to.wallNs)}`,
      label: main.phase === null ? 'in total' : 'per step',
    },
    interval
      ? {
          value: formatChange(changeNs),
          label: `95% confidence interval ${formatChange(Math.round(interval[0]))} to ${formatChange(Math.round(interval[1]))}`,
        }
      : { value: formatChange(changeNs), label: 'change' },
  ];
}

const inPhase = ({ phase }: PhaseComparison) => knownPhase(phase) && `, ${knownPhase(phase)}`;

function pairBars({ from, to }: Comparison, phase: PhaseComparison): SummaryBar[] {
  const wholeNs = Math.max(phase.from.wallNs, phase.to.wallNs);
  return (
    [
      ['from', from],
      ['to', to],
    ] as const
  ).map(([side, { name }]) => ({
    name: `${name}${inPhase(phase)}`,
    wallNs: phase[side].wallNs,
    wholeNs,
    parts: sideParts(phase[side]),
  }));
}

/** The base once, then every other run in its main phase. */
function severalBars(comparisons: readonly Comparison[]): SummaryBar[] {
  const bars = comparisons.flatMap((comparison, i) => {
    const pair = pairBars(comparison, comparison.phases[0]);
    return i === 0 ? pair : pair.slice(1);
  });
  const wholeNs = Math.max(...bars.map(({ wallNs }) => wallNs));
  return bars.slice(0, MOST_SIDES).map(bar => ({ ...bar, wholeNs }));
}
