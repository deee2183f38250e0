/** Predictions as blocks: the answer, the equation, what each change does, and what the figures stand on. */

import {
  capitalized,
  formatChange,
  formatCount,
  formatDuration,
  formatRate,
  formatShare,
  plural,
} from '../../base/units.js';
import { NEUTRAL } from '../../catalog/palette.js';
import type { Phase } from '../../catalog/phases.js';
import { type Block, type FactsBlock, KEEP, type StatementBlock, type WaterfallBlock } from '../block.js';
import { phaseLook } from '../names-and-colors.js';
import { tableOf } from '../table-of.js';
import { type Equation, equationOf } from './equation.js';
import type { NoPrediction, PhasePrediction, PredictedChange } from './predict.js';
import { isLikely, isPredicted, stepInterval } from './whatif-document.js';

/** From this ratio on, times say more than percent. */
const TIMES = 1.5;
/** Terms that matter, as a share of the change. */
const MATTERS = 0.1;
const MOST_REASONS = 3;
/** Terms below this share of the step have no line of their own. */
const SMALL = 0.003;

interface DescribedPhase {
  readonly answer: StatementBlock;
  readonly blocks: readonly Block[];
}

function describePhase(one: PhasePrediction | NoPrediction): DescribedPhase {
  if (!isPredicted(one))
    return {
      answer: statement(one.phase, [`Cannot tell for ${nameOf(one.phase)}: ${one.cannotTell}.`]),
      blocks: [],
    };
  const equation = equationOf(one);
  return {
    answer: statement(one.phase, answerLines(one, equation)),
    blocks: [waterfall(one, equation), changesTable(one), basis(one)],
  };
}

export const whatifBlocks = (predictions: readonly (PhasePrediction | NoPrediction)[]): Block[] =>
  predictions.map(describePhase).flatMap(({ answer, blocks }) => [answer, ...blocks]);

/** `decode`, or `the step` where the profile does not show the phase. */
const nameOf = (phase: Phase): string => (phase === 'unknown' ? 'the step' : phaseLook(phase).label);
const stepsOf = (count: number, phase: Phase): string =>
  plural(count, phase === 'unknown' ? 'step' : `${phaseLook(phase).label} step`);

const statement = (phase: string, lines: readonly string[]): StatementBlock => ({
  kind: 'statement',
  id: `answer-${phase}`,
  title: 'Answer',
  lines,
});

function answerLines(one: PhasePrediction, equation: Equation): string[] {
  const applied = one.changes.filter(({ outcome }) => outcome.status === 'applied');
  const others = one.changes.flatMap(({ change, outcome }) =>
    outcome.status === 'applied'
      ? []
      : [
          `${change.label}: ${outcome.status === 'cannot-tell' ? 'cannot tell' : 'no change'}; ${outcome.why}.`,
        ],
  );
  if (applied.length === 0) {
    const time = formatDuration(equation.fromNs);
    return [`${capitalized(nameOf(one.phase))} stays at ${time} per step: no change applies.`, ...others];
  }
  return [
    outcomeLine(one, equation, applied),
    ...reasons(equation),
    ...together(applied, equation),
    ...perToken(one, equation),
    ...others,
  ];
}

function outcomeLine(
  one: PhasePrediction,
  { fromNs, toNs, changeNs }: Equation,
  applied: readonly PredictedChange[],
): string {
  const names = applied.map(({ change }) => change.label).join(' + ');
  const [low, high] = stepInterval(one, fromNs).map(formatDuration);
  const times = `${formatDuration(fromNs)} → ${formatDuration(toNs)} per step (${formatChange(changeNs)}; interval ${low} to ${high})`;
  const confidence = isLikely(one) ? 'likely' : 'possible';
  return `With ${names}, ${nameOf(one.phase)} is predicted ${speed(fromNs, toNs)}: ${times}, ${confidence}.`;
}

function speed(before: number, after: number): string {
  const ratio = Math.max(before, after) / Math.max(1, Math.min(before, after));
  const word = after <= before ? 'fast' : 'slow';
  return ratio >= TIMES
    ? `${ratio.toFixed(1)} times as ${word}`
    : `${formatShare(Math.abs(after - before) / before)} ${word}er`;
}

function reasons({ terms, changeNs }: Equation): string[] {
  const largest = terms
    .filter(term => Math.abs(term.changeNs) >= MATTERS * Math.abs(changeNs) && term.changeNs !== 0)
    .sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs))
    .slice(0, MOST_REASONS)
    .map(
      term =>
        `${term.label} ${formatChange(term.changeNs)} (${formatDuration(term.fromNs)} → ${formatDuration(term.toNs)})`,
    );
  return largest.length > 0 ? [`${largest.join('; ')}.`] : [];
}

/** Gains do not add: one removes what another would have hidden. */
function together(applied: readonly PredictedChange[], { changeNs }: Equation): string[] {
  if (applied.length < 2) return [];
  const sum = applied.reduce((total, { aloneNs }) => total + (aloneNs ?? 0), 0);
  return [
    `Alone, the changes sum to ${formatChange(Math.round(sum))}; together they change the step by ${formatChange(changeNs)}.`,
  ];
}

function perToken({ requests, phase }: PhasePrediction, { fromNs, toNs }: Equation): string[] {
  if (!requests || (phase !== 'decode' && phase !== 'unknown') || toNs === 0) return [];
  const perSecond = (count: number, ns: number) => formatRate((count / ns) * 1e9);
  const [before, after] = [requests.from, requests.to].map(count => formatCount(Math.round(count)));
  return [
    `${before === after ? before : `${before} → ${after}`} requests per step: ${perSecond(requests.from, fromNs)} → ${perSecond(requests.to, toNs)} tokens/s as profiled.`,
  ];
}

function waterfall(one: PhasePrediction, { fromNs, toNs, terms }: Equation): WaterfallBlock {
  const isShown = (ns: number) => Math.abs(ns) >= SMALL * Math.max(fromNs, toNs);
  const shown = terms.filter(term => isShown(term.changeNs) || isShown(term.fromNs / 10));
  const rest = terms.filter(term => !shown.includes(term));
  const sum = (of: (term: (typeof terms)[number]) => number) =>
    rest.reduce((total, term) => total + of(term), 0);
  const last =
    rest.length === 0
      ? []
      : [
          {
            label: plural(rest.length, 'smaller term'),
            color: NEUTRAL,
            ...{ fromNs: sum(term => term.fromNs), toNs: sum(term => term.toNs) },
            changeNs: sum(term => term.changeNs),
          },
        ];
  return {
    kind: 'waterfall',
    id: `prediction-${one.phase}`,
    title: `What changes in ${nameOf(one.phase)}`,
    from: { label: `profiled, mean of ${stepsOf(one.steps, one.phase)}`, ns: fromNs },
    to: { label: 'predicted', ns: toNs },
    terms: [...shown, ...last].map(({ label, color, fromNs: from, toNs: to, changeNs }) => ({
      ...{ label, color, fromNs: from, toNs: to, changeNs, fromCount: null, toCount: null },
    })),
  };
}

function changesTable(one: PhasePrediction): Block {
  return tableOf(one.changes, { id: `changes-${one.phase}`, title: 'Changes' }, [
    ['Change', 'text', ({ change }) => change.label],
    ['Alone', 'ns-change', ({ aloneNs }) => (aloneNs === null ? Number.NaN : Math.round(aloneNs))],
    ['Model error', 'text', ({ error }) => `±${formatShare(error.share)}`, { priority: KEEP }],
    ['Tested by', 'text', ({ error }) => tested(error.pairs)],
    [
      'What it does',
      'text',
      ({ outcome }) => (outcome.status === 'applied' ? outcome.did : `not applied: ${outcome.why}`),
    ],
  ]);
}

const tested = (pairs: number): string =>
  pairs === 0 ? 'no measured pair tests this model' : plural(pairs, 'measured pair');

function basis(one: PhasePrediction): FactsBlock {
  const left = one.leftOut > 0 ? `; ${plural(one.leftOut, 'step')} left out` : '';
  return {
    kind: 'facts',
    id: `basis-${one.phase}`,
    title: 'Basis',
    facts: [
      {
        label: 'replay',
        text: `unchanged, it reproduces ${plural(one.steps, 'recorded step')} within ${formatShare(one.replayError)}${left}; waits that nothing explains are ${formatShare(one.unexplained)} of the step`,
      },
      ...(one.phase === 'unknown'
        ? [{ label: 'phase', text: 'the profile does not show it; the steps are taken for decode steps' }]
        : []),
      {
        label: 'profiler',
        text: one.changes.some(
          ({ change, outcome }) => change.id === 'no-profiler' && outcome.status === 'applied',
        )
          ? 'its cost is taken out by estimate (stepscope analyze FILE --only undisturbed-step)'
          : 'the predicted step is a step under the same profiler; without it both are shorter (--no-profiler)',
        tone: 'quiet',
      },
      {
        label: 'models',
        text: 'docs/gains.md: model, assumptions and measured pairs of each change',
        tone: 'quiet',
      },
    ],
  };
}
