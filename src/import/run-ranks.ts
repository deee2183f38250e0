/**
 * Which rank of a run a file is. In order of trust: the file's own statement (Kineto's `distributedInfo`, the agent's
 * file, labels of a merged trace), the variables that MPI, Slurm and torchrun set (read with the environment), the
 * file's name. Several processes in one file: process-ranks.ts.
 */
import type { Profile } from '../model/profile.js';

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

export const areDistinct = (values: readonly (string | number | undefined)[]): boolean =>
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
