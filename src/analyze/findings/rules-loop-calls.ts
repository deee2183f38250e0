/** Calls that do not belong into a loop: functions of the host in a stream, and graphs captured again in each step. */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { lengthWithin } from '../../base/intervals.js';
import { formatDuration } from '../../base/units.js';
import { apiFunction } from '../../catalog/api-function.js';
import { BEGIN_CAPTURE, GRAPH_INSTANTIATE, HOST_FUNCTION } from '../../catalog/host-activities.js';
import type { Row } from '../../model/profile.js';
import { idleIntervals } from '../host/idle-intervals.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { callsNamed } from '../names-used.js';
import { graphWord } from '../program.js';
import { formatMean, perStep } from '../words.js';
import { budgetEvidence } from './budget-evidence.js';
import { costing, finding, perPhaseStep, perWindow, type Rule, type RuleInput } from './rule.js';

/** Now and then is no loop: a new batch size is captured once, and a callback may end a request. */
const IN_MOST_STEPS = 0.5;
/** Once or twice is no loop either. */
const LEAST_TIMES = 3;

/** Rows of such calls in the selected steps, in order. */
function inSteps({ profile, use }: RuleInput, pattern: RegExp): Row<'apiCalls'>[] {
  const calls = profile.tables.apiCalls;
  if (!calls) return [];
  const moments = use(selectedMoments);
  const { first, end } = moments.rowsOf(calls);
  const rows = callsNamed(profile, pattern) as unknown as Int32Array;
  const found: Row<'apiCalls'>[] = [];
  for (let i = lowerBound(rows, first); i < rows.length && rows[i] < end; i++) {
    const row = rows[i] as Row<'apiCalls'>;
    const thread = calls.thread[row];
    if (thread !== NONE && moments.holds(profile.threads[thread].process, calls.start[row])) found.push(row);
  }
  return found;
}

const hostFunction: Rule = {
  id: 'host-function',
  about: 'a function of the host inside a stream, for which the GPU waits',
  uses: [selectedMoments],
  look(input) {
    const rows = inSteps(input, HOST_FUNCTION);
    const [total] = input.phases;
    const windows = input.phases.reduce((sum, phase) => sum + phase.windows, 0);
    if (!total || rows.length < IN_MOST_STEPS * windows) return [];
    // How long the function runs is not recorded; work that was launched in time and did not start waited for it.
    const ns = total.idleByCause['device-wait'] ?? 0;
    if (ns < input.policy.hostShareOfWall * total.wallNs) return [];
    const { strings, tables } = input.profile;
    const call = apiFunction(strings.text(tables.apiCalls!.name[rows[0]]));
    return [
      finding('host-function', input, {
        claim: `The GPU waits ${formatDuration(perWindow(total, ns))} ${perPhaseStep(total.phase)} with work in its queue, while ${call} puts functions of the host into its streams`,
        ...costing(total, perWindow(total, ns), ''),
        gain: null,
        confidence: 'possible',
        evidence: [
          budgetEvidence(
            total,
            ns,
            `device-side wait; ${formatMean(rows.length / windows)} × ${call} ${perStep(total.phase)}`,
          ),
        ],
        confirm: 'stepscope analyze FILE --only idle-gaps',
      }),
    ];
  },
};

const capturedAgain: Rule = {
  id: 'graph-captured-again',
  about: 'a graph that is captured and instantiated again in each step',
  uses: [selectedMoments, idleIntervals],
  look(input) {
    const { profile, program } = input;
    const made = inSteps(input, GRAPH_INSTANTIATE);
    const [total] = input.phases;
    const windows = input.phases.reduce((sum, phase) => sum + phase.windows, 0);
    // While a server starts it captures all of them, which has a remark of its own.
    if (!total || total.phase === null || program.capturesGraph || made.length < IN_MOST_STEPS * windows)
      return [];
    const calls = profile.tables.apiCalls!;
    const wallNs = input.phases.reduce((sum, phase) => sum + phase.wallNs, 0);
    // Several graphs of one step are the shapes that it captures, once.
    const spanNs = made.length < LEAST_TIMES ? 0 : calls.start[made[made.length - 1]] - calls.start[made[0]];
    if (spanNs < (IN_MOST_STEPS / 2) * wallNs) return [];
    const begun = inSteps(input, BEGIN_CAPTURE);
    const idleOf = input.use(idleIntervals);
    let ns = 0;
    for (const row of made) {
      const thread = calls.thread[row];
      // From the last capture that this thread began; instantiating alone, where none was recorded.
      const begin = begun.findLast(other => other < row && calls.thread[other] === thread) ?? row;
      ns += lengthWithin(idleOf(profile.threads[thread].process), calls.start[begin], calls.end[row]);
    }
    if (ns < input.policy.hostShareOfWall * total.wallNs) return [];
    const graph = graphWord(program.isAmd).replace(/s$/, '');
    return [
      finding('graph-captured-again', input, {
        claim: `A ${graph} is captured again in ${made.length >= windows ? 'every step' : 'most steps'}: ${formatDuration(ns / windows)} ${perPhaseStep(total.phase)} while the GPU waits`,
        ...costing(total, ns / windows, 'if the graph is kept and replayed'),
        confidence: 'possible',
        evidence: [
          budgetEvidence(
            total,
            (ns / windows) * total.windows,
            `${made.length} graphs made in ${windows} steps`,
          ),
        ],
        confirm: 'stepscope analyze FILE --only idle-gaps',
      }),
    ];
  },
};

export const loopCallRules: readonly Rule[] = [hostFunction, capturedAgain];
