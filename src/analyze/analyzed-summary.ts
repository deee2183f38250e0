/** The summary of one capture: the gain of its first finding, a bar per phase, and the advice of three findings. */
import { capitalized, formatDuration, formatShare } from '../base/units.js';
import type { Analyzer } from './analysis.js';
import type { Finding } from './findings/finding.js';
import { findings } from './findings/findings.js';
import { isHeadline } from './findings/headline.js';
import { type PhaseBudget, transferringNs } from './inference/budget-totals.js';
import { busyParts, causeLook, causeOrder, phaseLook } from './names-and-colors.js';
import { describePageAnswer } from './page.js';
import { MOST_ACTIONS, type PageSummary, type SummaryBar } from './page-summary.js';
import { formatThroughput } from './words.js';

const MOST_BARS = 3;

export function analyzedSummary(analyzer: Analyzer): PageSummary | undefined {
  const { phases, hidden, headline } = describePageAnswer(analyzer);
  if (phases.length === 0) return undefined;
  const inSteps = phases.filter(total => total.phase !== null);
  const shown = (inSteps.length > 0 ? inSteps : phases).slice(0, MOST_BARS);
  const told = shown.find(total => headline?.phase && total.phase === headline.phase) ?? shown[0];
  const gain = headline?.gain;
  return {
    figures: [
      ...(gain && gain.throughput > 0
        ? [
            {
              value: formatThroughput(gain.throughput),
              label: `estimated gain in ${nameOf(headline.phase)}throughput once this is fixed (${headline.confidence})`,
            },
          ]
        : []),
      {
        value: formatDuration(told.wallNs / told.windows),
        label: told.phase === null ? 'in total, as profiled' : `per ${nameOf(told.phase)}step, as profiled`,
      },
      {
        value: formatShare(told.wallNs > 0 ? told.idleNs / told.wallNs : 0),
        label: `of ${told.phase === null ? 'that time' : 'a step'} the GPU is idle${hidden ? ', outside graph replays' : ''}`,
      },
    ],
    bars: shown.map(total => phaseBar(total, hidden)),
    title: 'What to do first',
    actions: actionsOf(analyzer.get(findings).findings),
  };
}

const nameOf = (phase: PhaseBudget['phase']) =>
  phase === null || phase === 'unknown' ? '' : `${phaseLook(phase).label} `;

function phaseBar(total: PhaseBudget, hidden: boolean): SummaryBar {
  const mean = (ns: number) => ns / total.windows;
  const waiting = transferringNs(total) === undefined ? 0 : (total.communicationWaitingNs ?? 0);
  const parts = [
    {
      ...busyParts.compute,
      label: hidden ? 'compute and replays' : busyParts.compute.label,
      ns: total.computeNs,
    },
    { ...busyParts.communication, ns: total.communicationExposedNs - waiting },
    { ...busyParts.waiting, ns: waiting },
    { ...busyParts.copies, ns: total.copyExposedNs },
    ...causeOrder.map(id => {
      const { label, color } = causeLook(id);
      return { label: `idle: ${label}`, color, ns: total.idleByCause[id] ?? 0 };
    }),
  ];
  const name =
    total.phase === null ? 'whole trace' : total.phase === 'unknown' ? 'steps' : phaseLook(total.phase).label;
  return {
    name,
    wallNs: mean(total.wallNs),
    parts: parts.filter(({ ns }) => ns > 0).map(({ label, color, ns }) => ({ label, color, ns: mean(ns) })),
  };
}

/** Of each finding its first advice: the one of the engine that ran, where there is one. */
function actionsOf(found: readonly Finding[]): PageSummary['actions'] {
  return found
    .filter(finding => isHeadline(finding) && finding.advice.length > 0)
    .slice(0, MOST_ACTIONS)
    .map(({ advice: [first], claim, gain, confidence }) => ({
      text: `${first.engine === 'any' ? '' : `${first.engine}: `}${first.engine === 'any' ? capitalized(first.text) : first.text}`,
      // The gain first: what follows may be cut on a narrow screen.
      about: `${gain && gain.throughput > 0 ? `${formatThroughput(gain.throughput)} (${confidence}): ` : ''}${claim}`,
      section: 'findings',
    }));
}
