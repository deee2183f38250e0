/** What a GPU is called among several: its rank where one process with a rank uses it. */
import type { Profile } from '../../model/profile.js';

/** Processes that ran something on each GPU. */
export function processesOf(profile: Profile): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const { gpu, process } of profile.streams) {
    const own = found.get(gpu) ?? new Set<number>();
    own.add(process);
    found.set(gpu, own);
  }
  return found;
}

export function rankLabels(profile: Profile): Map<number, string> {
  const severalHosts = new Set(profile.gpus.map(gpu => gpu.host)).size > 1;
  return new Map(
    [...processesOf(profile)].map(([gpu, processes]) => {
      const ranks = [...processes].map(process => profile.processes[process]?.rank);
      const { deviceId, host } = profile.gpus[gpu];
      const isRank = ranks.length === 1 && ranks[0] !== undefined;
      // Files without a host name are told apart by their rank.
      const isNamed = severalHosts && !(isRank && host === `rank ${ranks[0]}`);
      const place = `GPU ${deviceId}${isNamed ? ` · ${host}` : ''}`;
      return [gpu, isRank ? `rank ${ranks[0]} · ${place}` : place];
    }),
  );
}
