/** Several processes in one file: ranks by the communicator they joined, or by the GPU each of them drives. */
import type { Note } from '../base/notes.js';
import { createClassifier } from '../catalog/kernels/classify.js';
import { NCCL_JOIN, parseNcclRange } from '../catalog/messages.js';
import type { Profile, Row } from '../model/profile.js';
import { areDistinct } from './run-ranks.js';

/**
 * Several processes of one file that communicate are the ranks of one run. Their number is the one under which they
 * joined their largest NCCL communicator; where that was not recorded, and each drives a GPU of its own, that of the GPU:
 * launchers start them in this order.
 */
export function withProcessRanks(profile: Profile): Profile {
  if (profile.processes.some(({ rank }) => rank !== undefined)) return profile;
  const gpusOf = new Map<number, Set<number>>();
  for (const { process, gpu } of profile.streams) {
    const own = gpusOf.get(process) ?? new Set();
    gpusOf.set(process, own.add(gpu));
  }
  if (gpusOf.size < 2) return profile;
  const joined = communicatorRanks(profile);
  if (joined)
    return ranked(
      profile,
      joined,
      'their ranks are those under which they joined their largest NCCL communicator',
    );
  const communicating = communicatingProcesses(profile);
  const drives = [...gpusOf]
    .filter(([process]) => communicating.has(process))
    .map(([process, gpus]) => ({ process, gpus: [...gpus] }));
  if (drives.length < 2 || drives.some(({ gpus }) => gpus.length !== 1)) return profile;
  const numbers = drives.map(({ gpus }) => profile.gpus[gpus[0]].deviceId);
  const hosts = new Set(drives.map(({ gpus }) => profile.gpus[gpus[0]].host));
  if (!areDistinct(numbers) || hosts.size > 1) return profile;
  return ranked(
    profile,
    new Map(drives.map(({ process }, i) => [process, numbers[i]])),
    'each drives one GPU, and their ranks are taken from the numbers of the GPUs',
  );
}

function ranked(profile: Profile, rankOf: ReadonlyMap<number, number>, how: string): Profile {
  const ranks = [...rankOf.values()].sort((a, b) => a - b);
  const note: Note = {
    code: 'ranks-of-processes',
    severity: 'info',
    text: `processes of this file communicate; ${how}`,
    count: ranks.length,
    example: `rank ${ranks[0]}`,
  };
  return {
    ...profile,
    capture: { ...profile.capture, ranks },
    processes: profile.processes.map((process, row) => {
      const rank = rankOf.get(row);
      return rank === undefined ? process : { ...process, rank };
    }),
    notes: [...profile.notes, note],
  };
}

/** By the communicator with most ranks; undefined where fewer than two processes joined it, or two under one number. */
function communicatorRanks({
  tables: { ranges },
  threads,
  strings,
}: Profile): Map<number, number> | undefined {
  if (!ranges?.payloadText) return undefined;
  const joined = new Map<string, { size: number; ranks: Map<number, number> }>();
  const joins = new Map<number, boolean>();
  for (let row = 0 as Row<'ranges'>; row < ranges.length; row++) {
    const [name, payload, thread] = [ranges.name[row], ranges.payloadText[row], ranges.thread[row]];
    if (name < 0 || payload < 0 || thread < 0) continue;
    if (!joins.has(name)) joins.set(name, NCCL_JOIN.test(strings.text(name)));
    const message = joins.get(name) ? parseNcclRange(strings.text(name), strings.text(payload)) : undefined;
    if (message?.rank === undefined) continue;
    const known = joined.get(message.group) ?? {
      size: message.groupSize ?? 0,
      ranks: new Map<number, number>(),
    };
    joined.set(message.group, known);
    known.ranks.set(threads[thread].process, message.rank);
  }
  const [largest] = [...joined.values()].sort((a, b) => b.size - a.size || b.ranks.size - a.ranks.size);
  return largest && largest.ranks.size > 1 && areDistinct([...largest.ranks.values()])
    ? largest.ranks
    : undefined;
}

function communicatingProcesses({ tables: { kernels }, streams, strings }: Profile): Set<number> {
  const found = new Set<number>();
  const classifier = createClassifier();
  const known: (boolean | undefined)[] = [];
  const communicates = (name: number) =>
    (known[name] ??= classifier.classify(strings.text(name as never)).family === 'communication');
  for (let row = 0 as Row<'kernels'>; row < (kernels?.length ?? 0); row++) {
    const stream = kernels!.stream[row];
    if (stream >= 0 && communicates(kernels!.name[row])) found.add(streams[stream].process);
  }
  return found;
}
