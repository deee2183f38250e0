/** The steps that requests are compared with: those the agent noted, otherwise those whose markers state their batch. */
import type { Profile } from '../../model/profile.js';
import type { NotedStep, StepLog } from '../../model/step-log.js';
import type { Steps } from '../inference/steps.js';

/** Ranks step together: the first one's steps stand for all. */
export function notedSteps(profile: Profile, steps: Steps | undefined): StepLog | undefined {
  const logs = (profile.stepLogs ?? [])
    .filter(({ isOfOtherServer }) => !isOfOtherServer)
    .sort((a, b) => a.rank - b.rank);
  return logs[0] ?? (steps ? markedSteps(profile, steps) : undefined);
}

function markedSteps(profile: Profile, { lanes, numbered, method }: Steps): StepLog | undefined {
  if (profile.clock !== 'utc' || method !== 'marker' || !numbered || lanes.length === 0) return undefined;
  const steps: NotedStep[] = [];
  for (const { start, end, facts } of lanes[0].runs) {
    const { iteration, contextRequests, generationRequests } = facts;
    // A batch that is not stated would read as an empty one.
    if (iteration === undefined || contextRequests === undefined || generationRequests === undefined)
      return undefined;
    steps.push({
      ...{ iteration, startNs: start, hostNs: end - start, contextRequests, generationRequests },
      profiled: true,
      contextTokens: facts.contextTokens ?? 0,
      generationTokens: facts.generationTokens ?? 0,
    });
  }
  return { file: profile.capture.files[0] ?? '', rank: 0, originNs: profile.originNs, wallDriftNs: 0, steps };
}
