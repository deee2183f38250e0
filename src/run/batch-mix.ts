/**
 * What a step had to do, in words that two runs can be matched by: how many requests were in prefill and in decode.
 * Prompt tokens rarely agree to the token, so they count in powers of two.
 */
import { formatCount, plural } from '../base/units.js';
import type { StepFacts } from '../catalog/engine-markers.js';
import type { Phase } from '../catalog/phases.js';

/** The same words for the same mix; empty where the marker does not say. */
export function batchMix({ contextRequests, contextTokens, generationRequests }: StepFacts): string {
  const parts: string[] = [];
  if (contextRequests) {
    const tokens = contextTokens
      ? ` (up to ${formatCount(2 ** Math.ceil(Math.log2(contextTokens)))} tokens)`
      : '';
    parts.push(`${plural(contextRequests, 'request')} in prefill${tokens}`);
  }
  if (generationRequests) parts.push(`${formatCount(generationRequests)} decoding`);
  return parts.join(', ');
}

/** What a step of this phase makes or reads, as its marker says; undefined where it does not. */
export function tokensOfStep(facts: StepFacts, phase: Phase): number | undefined {
  const { contextTokens, generationTokens, generationRequests } = facts;
  const generated = generationTokens ?? generationRequests;
  if (phase === 'prefill') return contextTokens;
  // Accepted drafts are not recorded: each request gets at least one token.
  if (phase === 'speculative') return generationRequests;
  if (phase === 'decode') return generated;
  if (phase === 'mixed' && contextTokens !== undefined) return contextTokens + (generated ?? 0);
  return undefined;
}
