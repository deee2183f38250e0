/** Why a kernel is in its family, as facts. */

import type { Explanation } from '../catalog/kernels/classify.js';
import type { FactsBlock } from './block.js';

export function explainKernel(name: string, explanation: Explanation): FactsBlock {
  const { class: found, winner, alsoMatching, attributes } = explanation;
  const told = Object.entries(attributes).flatMap(([label, from]) =>
    from ? [{ label, text: `${from.value}, from ${JSON.stringify(from.because)}` }] : [],
  );
  return {
    kind: 'facts',
    id: 'why',
    title: found.shortName,
    facts: [
      { label: 'kernel', text: name },
      { label: 'function', text: explanation.functionName || '(no function name found)' },
      { label: 'family', text: found.variant ? `${found.family}, ${found.variant}` : found.family },
      winner
        ? {
            label: 'rule',
            text: `${winner.rule}: ${winner.pattern}${winner.templatePattern ? ` and template ${winner.templatePattern}` : ''}`,
          }
        : { label: 'rule', text: 'none matched', hint: 'write one: docs/kernel-families.md' },
      ...(winner ? [{ label: 'source', text: winner.source }] : []),
      {
        label: 'template',
        text: explanation.templateUsed
          ? 'read, because the function name is generic'
          : 'not read: the function name alone decides',
      },
      ...told,
      ...alsoMatching.map(other => ({
        label: 'later rule',
        text: `${other.rule} → ${other.family}`,
        tone: 'quiet' as const,
      })),
    ],
  };
}
