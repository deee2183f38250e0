/** What removing host work would bring, and when that cannot be told: no gain is promised for what nobody has seen. */
import { formatDuration } from '../../base/units.js';
import { namesRecordedBy } from '../../catalog/how-to-record.js';
import { waitsByPhase } from '../host/waits-by-phase.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { type Code, sleeps, waitsForOthers } from './code-evidence.js';
import type { Finding } from './finding.js';
import { costing, perWindow, type RuleInput } from './rule.js';

/** How a gain was estimated that needs no knowledge of the code: the GPU works meanwhile. */
const OVERLAPPED = 'if the host prepares the next step';

/**
 * Launching the next step before this one is read hides host work in the time the host waits for the GPU now, and no more
 * than that: a thread that works all the time cannot work earlier. What is longer has to be shortened, and how far that
 * goes nobody knows.
 */
export function asFarAsHidden(input: RuleInput, total: PhaseBudget, found: Finding): Finding {
  const { phase } = total;
  const { costNs } = found;
  if (phase === null || costNs === null) return found;
  // Steps overlap already: what the host does then is all its own.
  if (input.program.overlapsSteps) return { ...found, confidence: 'possible' };
  const seenNs = input.useIfRecorded(waitsByPhase)?.get(phase);
  // A host that polls shows no waits: then it waits through the rest of the step at most.
  const waitNs = perWindow(total, seenNs ?? total.wallNs) - (seenNs === undefined ? costNs : 0);
  const waited = `the ${formatDuration(waitNs)} per step that it waits for the GPU now`;
  const { gain } = costing(total, costNs, `${OVERLAPPED} in ${waited}`, Math.min(waitNs, costNs));
  if (waitNs >= costNs / 2) return { ...found, gain };
  const shorten: Finding['advice'][number] = {
    engine: 'any',
    text: `shorten it: find the code with stepscope host FILE; overlapping hides at most ${formatDuration(waitNs)}, the time the host waits for the GPU`,
  };
  return { ...found, confidence: 'possible', advice: [shorten, ...found.advice] };
}

/** Stacks lengthen host work, by so much here that no estimate of the step without them holds: nothing is promised. */
export function asFarAsKnown({ program }: RuleInput, total: PhaseBudget, found: Finding): Finding {
  if (!program.hasStacks || total.phase === null || total.recordingByCause) return found;
  const unknown = {
    text: 'recording Python stacks causes a part of it, which cannot be estimated: no gain is promised',
  };
  return { ...found, gain: null, evidence: [...found.evidence, unknown] };
}

/**
 * Host work that the file does not show may be the model's own work (layers on the CPU, a draft model), or a wait for
 * requests: nobody can say that it would go. Overlapping hides it all the same.
 */
export function asFarAsShown({ profile }: RuleInput, found: Finding, code: Code | undefined): Finding {
  if (!code || !found.gain || found.gain.how.startsWith(OVERLAPPED)) return found;
  const { totalNs, namedNs, places, advice } = code.words;
  const sum = (list: typeof places) => list.reduce((ns, place) => ns + place.ns, 0);
  const waiting = places.filter(({ label }) => waitsForOthers(label));
  const waitingNs = sum(waiting);
  // What comes next may tell as much as a name: code that ends with loading a module was compiled.
  const isTold = (label: string) => advice.some(text => text.startsWith(`${label}: `));
  const unseenNs =
    totalNs - namedNs - sum(places.filter(({ label }) => isTold(label) && /^before /.test(label)));
  if (waitingNs + unseenNs < totalNs / 2) return found;
  const isWaiting = waitingNs >= unseenNs;
  const what = !isWaiting
    ? 'the file does not show what it does'
    : sleeps(waiting[0].label)
      ? 'the launching thread sleeps'
      : 'the launching thread waits for another thread or process';
  const unknown = {
    text: isWaiting
      ? 'whether it waits for work or holds it up is not recorded: no gain is promised'
      : 'it may be work of the model itself: no gain is promised',
  };
  const hint = isWaiting
    ? undefined
    : namesRecordedBy(profile.capture.profiler, table => (profile.tables[table]?.length ?? 0) > 0);
  const record =
    hint === undefined ? [] : [{ engine: 'any', text: `record what the host does there: ${hint}` }];
  return {
    ...found,
    claim: `${found.claim}: ${what}`,
    gain: null,
    evidence: [...found.evidence, unknown],
    advice: [...record, ...found.advice],
  };
}
