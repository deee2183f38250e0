/** What balanced routing would save, for `whatif`: from counts per expert beside the profile, else from its ranks. */
import type { RoutingGain } from '../analyze/whatif/change.js';
import { openLoads } from '../import/expert-load/open-loads.js';
import { answerFromLoads, answerFromLog, answerFromProfile } from '../moe/answer.js';
import { readExpertWork, readMoeFiles } from './moe/read-moe.js';
import type { Output } from './output.js';

interface Routing {
  /** The profiles among what was given. */
  readonly files: readonly string[];
  readonly routingGain?: RoutingGain;
}

export async function readRouting(given: readonly string[], output: Output): Promise<Routing> {
  const { loads, others } = await openLoads(given, {});
  loads?.close();
  if (!loads) {
    const answer = answerFromProfile(await readExpertWork(others, output), {});
    return answer
      ? {
          files: others,
          routingGain: { savedShare: answer.lostShare, source: 'from the times of the ranks' },
        }
      : { files: others };
  }
  const { summary, log, profile } = await readMoeFiles(given, { load: {} }, output);
  const answer = summary ? answerFromLoads(summary, { profile }) : answerFromLog(log!, { profile });
  const source = summary ? 'from counts per expert' : 'from the balance in a log';
  return { files: others, routingGain: { savedShare: answer.lostShare, source } };
}
