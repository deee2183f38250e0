/** What balanced routing would save, for `whatif`: from counts per expert beside the profile, else from its ranks. */
import type { RoutingGain } from '../analyze/whatif/change.js';
import { plural } from '../base/units.js';
import { openLoads } from '../import/expert-load/open-loads.js';
import { answerFromLoads, answerFromLog, answerFromProfile, type MoeAnswer } from '../moe/answer.js';
import { readExperts, readMoeFiles } from './moe/read-moe.js';
import type { Output } from './output.js';

interface Routing {
  /** The profiles among what was given. */
  readonly files: readonly string[];
  readonly routingGain?: RoutingGain;
}

export async function readRouting(
  given: readonly string[],
  gpus: number | undefined,
  output: Output,
): Promise<Routing> {
  const { loads, others } = await openLoads(given, {});
  loads?.close();
  const answer = await answerOf(loads !== undefined);
  // How many GPUs share the experts decides what imbalance costs: an assumed number would be an assumed gain.
  if (!answer || answer.machine.from === 'assumed') return { files: others };
  const { gpus: count } = answer.machine;
  const from = {
    counted: 'counts per expert',
    logged: 'the balance in a log',
    inferred: 'the times of the ranks',
  };
  const source = `${from[answer.basis]}, ${plural(count, 'GPU')}`;
  return { files: others, routingGain: { savedShare: answer.lostShare, source } };

  async function answerOf(hasLoads: boolean): Promise<MoeAnswer | undefined> {
    if (!hasLoads) {
      const { profile, balance } = await readExperts(others, output);
      return answerFromProfile(profile, { gpus, balance });
    }
    const { summary, log, profile, balance } = await readMoeFiles(given, { load: {}, gpus }, output);
    const question = { profile, balance, gpus };
    return summary ? answerFromLoads(summary, question) : answerFromLog(log!, question);
  }
}
