/**
 * Which rank of a run a file is. In order of trust: the file's own statement (Kineto's `distributedInfo`, the agent's
 * file, labels of a merged trace), the variables that MPI, Slurm and torchrun set (read with the environment), the
 * file's name. Several processes in one file are ranks by the GPU each of them drives.
 */
import type { Note } from '../base/notes.js';
import { createClassifier } from '../catalog/kernels/classify.js';
import { NCCL_JOIN, parseNcclRange } from '../catalog/messages.js';
import type { Profile, Row } from '../model/profile.js';

/** Kinds of rank in the order in which engines number their processes: the last one changes fastest. */
const KINDS = ['dp', 'pp', 'ep', 'tp'];
/** What stands for a rank in a name. */
export const RANK_LABEL = /(?:^|[^a-z])(rank|r|[dpet]p)[-_.=]?(\d{1,5})(?![0-9a-z])/gi;

/** `report_rank3.nsys-rep`, `trace-TP-2-DECODE.json.gz`, `run.r4.sqlite`. */
export function rankInName(name: string): number | undefined {
  const labels = labelsIn(name);
  return labels.get('rank') ?? labels.get('r') ?? labels.get('tp');
}

function labelsIn(name: string): ReadonlyMap<string, number> {
  const labels = new Map<string, number>();
  for (const [, kind, digits] of name.matchAll(RANK_LABEL)) {
    const key = kind.toLowerCase();
    if (!labels.has(key)) labels.set(key, Number(digits));
  }
  return labels;
}

/** Files that do not state their rank get the one their names give, if all of them differ. */
export function withRanks(profiles: readonly Profile[]): readonly Profile[] {
  const unknown = profiles.filter(({ capture }) => capture.ranks.length === 0);
  const taken = new Set(profiles.flatMap(({ capture }) => capture.ranks));
  const names = unknown.map(({ capture }) => capture.files[0]);
  const ranks = distinctRanks(names);
  if (!ranks || ranks.some(rank => taken.has(rank))) return profiles;
  return profiles.map(profile => {
    const at = unknown.indexOf(profile);
    return at < 0 ? profile : { ...profile, capture: { ...profile.capture, ranks: [ranks[at]] } };
  });
}

/** Undefined where the names do not give each file a rank of its own. */
function distinctRanks(names: readonly string[]): readonly number[] | undefined {
  if (names.length === 0) return undefined;
  const plain = names.map(rankInName);
  if (areDistinct(plain)) return plain as number[];
  const labels = names.map(name => {
    const found = labelsIn(name);
    return KINDS.some(kind => found.has(kind))
      ? KINDS.map(kind => found.get(kind) ?? 0).join('.')
      : undefined;
  });
  if (areDistinct(labels)) {
    // Several numbers per file: the processes are counted in the order of their labels.
    const sorted = [...(labels as string[])].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return labels.map(label => sorted.indexOf(label!));
  }
  return onlyDifferingNumber(names);
}

const areDistinct = (values: readonly (string | number | undefined)[]): boolean =>
  !values.includes(undefined) && new Set(values).size === values.length;

/** `report.0.sqlite`, `report.1.sqlite`: one number differs, and it counts from 0. */
function onlyDifferingNumber(names: readonly string[]): readonly number[] | undefined {
  const parts = names.map(name => name.split(/(\d+)/));
  const [first] = parts;
  if (names.length < 2 || parts.some(own => own.length !== first.length)) return undefined;
  const differing = first.flatMap((_, at) => (parts.some(own => own[at] !== first[at]) ? [at] : []));
  if (differing.length !== 1 || differing[0] % 2 === 0) return undefined;
  const numbers = parts.map(own => Number(own[differing[0]]));
  return areDistinct(numbers) && Math.min(...numbers) === 0 && Math.max(...numbers) < 100_000
    ? numbers
    : undefined;
}

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
