/**
 * The per-token equation: kernels + communication + copies + host + other idle = wall, in whole nanoseconds over the
 * steps of one phase, and the tokens to divide them by. Parts are what a step's budget is made of, so they add up.
 */
import type { Analyzer } from '../../analyze/analysis.js';
import { addBudgets } from '../../analyze/inference/budget-totals.js';
import { windowBudgets } from '../../analyze/inference/step-budget.js';
import { stepsOf } from '../../analyze/inference/steps.js';
import { NOT_HOST } from '../../analyze/inference/token-time.js';
import type { StepFacts } from '../../catalog/engine-markers.js';
import { howToRecord } from '../../catalog/how-to-record.js';
import type { Phase } from '../../catalog/phases.js';
import { type Missing, missing, orMissing } from './figure.js';

export const tokenParts = ['kernels', 'communication', 'copies', 'host', 'otherIdle'] as const;
export type TokenPart = (typeof tokenParts)[number];

export interface TokenBudget {
  /** Distinct steps whose tokens are known. */
  readonly steps: number;
  /** Steps of the phase whose tokens are not known: left out. */
  readonly stepsWithoutTokens: number;
  /** Over all windows: steps times devices. A step's tokens count once per device, as its time does. */
  readonly tokens: number;
  readonly windows: number;
  readonly wallNs: number;
  /** Whole nanoseconds; their sum is wallNs. */
  readonly partsNs: Readonly<Record<TokenPart, number>>;
  /** Part of the kernels: graph replays recorded as blocks, in which idle time cannot be seen. */
  readonly graphReplayNs: number;
}

/** What a step of this phase makes or reads, as its marker says; undefined where it does not. */
function tokensOf(facts: StepFacts, phase: Phase): number | undefined {
  const { contextTokens, generationTokens, generationRequests } = facts;
  const generated = generationTokens ?? generationRequests;
  if (phase === 'prefill') return contextTokens;
  // Accepted drafts are not recorded: each request gets at least one token.
  if (phase === 'speculative') return generationRequests;
  if (phase === 'decode') return generated;
  if (phase === 'mixed' && contextTokens !== undefined) return contextTokens + (generated ?? 0);
  return undefined;
}

export const tokenWords: Readonly<Partial<Record<Phase, string>>> = {
  decode: 'one token of one request',
  prefill: 'one prompt token',
  mixed: 'one token, prompt or answer',
  speculative: 'one request’s step: at least one token, accepted drafts are not recorded',
};

export function tokenBudget(analyzer: Analyzer, phase: Phase): TokenBudget | Missing {
  const read = orMissing(() => ({
    steps: analyzer.get(stepsOf)?.steps,
    windows: analyzer.get(windowBudgets),
  }));
  if ('value' in read) return read;
  const steps = read.steps ?? [];
  const own = read.windows.filter(({ window }) => steps[window.step]?.facts.phase === phase);
  const known = own.filter(({ window }) => (tokensOf(steps[window.step].facts, phase) ?? 0) > 0);
  if (known.length === 0) return own.length === 0 ? noSteps(phase) : noTokens(phase);
  const total = addBudgets(known.map(({ budget }) => budget));
  const otherIdle = NOT_HOST.reduce((sum, cause) => sum + (total.idleByCause[cause] ?? 0), 0);
  const distinct = (list: typeof own) => new Set(list.map(({ window }) => window.step)).size;
  return {
    steps: distinct(known),
    stepsWithoutTokens: distinct(own) - distinct(known),
    tokens: known.reduce((sum, { window }) => sum + tokensOf(steps[window.step].facts, phase)!, 0),
    windows: known.length,
    wallNs: total.wallNs,
    partsNs: {
      kernels: total.computeNs,
      communication: total.communicationExposedNs,
      copies: total.copyExposedNs,
      host: total.idleNs - otherIdle,
      otherIdle,
    },
    graphReplayNs: total.graphReplayNs,
  };
}

const noSteps = (phase: Phase): Missing =>
  missing(`${phase} steps`, `capture iterations in which the engine does ${phase}`);

function noTokens(phase: Phase): Missing {
  return phase === 'prefill' || phase === 'mixed'
    ? missing('prompt tokens per step', howToRecord.promptTokens)
    : missing(
        'requests per step',
        'capture with the engine’s step markers (-t nvtx, or a PyTorch trace), or give marker: with a group generation',
      );
}
