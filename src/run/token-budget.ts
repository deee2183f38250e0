/**
 * The per-token equation: kernels + communication + copies + host + other idle = wall, in whole nanoseconds over the
 * steps of one phase, and the tokens to divide them by. Parts are what a step's budget is made of, so they add up.
 */
import { NOT_HOST } from '../analyze/inference/token-time.js';
import type { Static } from '../base/document.js';
import { howToRecord } from '../catalog/how-to-record.js';
import type { Phase } from '../catalog/phases.js';
import type { tokenBudgetSchema } from './document.js';
import { type Missing, missing } from './figure.js';
import { type CellFacts, isCommunication, REPLAY } from './run.js';

export type TokenBudget = Static<typeof tokenBudgetSchema>;
export type TokenPart = keyof TokenBudget['partsNs'];
/** As they stand in the equation. */
export const tokenParts: readonly TokenPart[] = ['kernels', 'communication', 'copies', 'host', 'otherIdle'];

export const tokenWords: Readonly<Partial<Record<Phase, string>>> = {
  decode: 'one token of one request',
  prefill: 'one prompt token',
  mixed: 'one token, prompt or output',
  speculative: 'one step of one request: at least one token, because accepted drafts are not recorded',
};

export function tokenBudget(cells: readonly CellFacts[], phase: Phase): TokenBudget | Missing {
  const own = cells.filter(cell => cell.phase === phase);
  const known = own.filter(({ tokens }) => tokens > 0);
  if (known.length === 0) return own.length === 0 ? noSteps(phase) : noTokens(phase);
  const sum = (list: readonly CellFacts[], of: (cell: CellFacts) => number) =>
    list.reduce((total, cell) => total + of(cell), 0);
  const time = (isWanted: (part: string) => boolean) =>
    sum(known, ({ amounts }) => {
      let total = 0;
      for (const [part, { ns }] of amounts) if (isWanted(part)) total += ns;
      return total;
    });
  const otherIdle = time(part => NOT_HOST.some(cause => part === `idle:${cause}`));
  const steps = sum(known, ({ stepNs }) => stepNs.length);
  return {
    steps,
    stepsWithoutTokens: sum(own, ({ stepNs }) => stepNs.length) - steps,
    tokens: sum(known, ({ tokens }) => tokens),
    windows: sum(known, ({ windows }) => windows),
    wallNs: sum(known, ({ wallNs }) => wallNs),
    partsNs: {
      kernels: time(part => part.startsWith('kernel:') || part === REPLAY),
      communication: time(isCommunication),
      copies: time(part => part.startsWith('copy:')),
      host: time(part => part.startsWith('idle:')) - otherIdle,
      otherIdle,
    },
    graphReplayNs: time(part => part === REPLAY),
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
