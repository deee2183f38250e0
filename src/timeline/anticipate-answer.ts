/**
 * Computes what the page asks for next, result by result, so that the server answers in between. A thread that helps may
 * still be at work: what needs nothing of it comes first.
 */
import { type Analyzer, inOrderOfUse } from '../analyze/analysis.js';
import { findings } from '../analyze/findings/findings.js';
import { answerBasis } from '../analyze/page.js';

/** How often somebody looks whether the thread is done. */
const LOOK_MS = 2;

export async function anticipateAnswer(analyzer: Analyzer, breathe: () => Promise<void>): Promise<void> {
  const compute = async (derived: (typeof answerBasis)[number]) => {
    analyzer.anticipate(derived);
    await breathe();
  };
  for (const basis of answerBasis)
    for (const derived of inOrderOfUse(basis)) if (!analyzer.awaits(derived)) await compute(derived);
  // What only some findings use is computed only as long as there is nothing else to do.
  for (const derived of inOrderOfUse(findings)) {
    if (!analyzer.awaits(findings)) break;
    if (!analyzer.awaits(derived)) await compute(derived);
  }
  while (analyzer.awaits(findings)) await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  for (const basis of answerBasis) await compute(basis);
  analyzer.anticipate(findings);
}
