/**
 * Whether files given together can be of one run. Its ranks are as many as all of them state, use the same software and
 * record at the same time, each once; files that lie far apart in time are other runs, or other windows with another
 * load, and as ranks of one they would be hours late.
 */
import { formatDuration } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import type { Profile } from '../model/profile.js';
import { tableNamed } from '../model/rows.js';

/** Clocks of machines differ by less, and windows of ranks begin closer together … */
const LEAST_GAP_NS = 1e9;
/** … unless ranks wait for nobody: files that call themselves different ranks may be further apart. */
const LEAST_GAP_OF_RANKS_NS = 60e9;
const GAP_BY_SPAN = 10;

interface Recorded {
  readonly profile: Profile;
  readonly from: bigint;
  readonly to: bigint;
}

/** `ranks`: those that files and sidecars name. */
export function assertOneRun(profiles: readonly Profile[], ranks: readonly number[]): void {
  assertOneWorld(profiles);
  assertOneSoftware(profiles);
  const recorded = profiles.flatMap(spanOf).sort((a, b) => (a.from < b.from ? -1 : 1));
  assertNoRankTwice(recorded);
  for (const window of windowsOf(recorded)) assertOneTime(window, ranks);
}

function assertOneTime(recorded: readonly Recorded[], ranks: readonly number[]): void {
  if (recorded.length < 2) return;
  const profiles = recorded.map(({ profile }) => profile);
  const longest = recorded.reduce((most, { from, to }) => Math.max(most, Number(to - from)), 0);
  const stated = profiles.flatMap(({ capture }) => capture.ranks);
  const areRanks = new Set(ranks).size >= profiles.length || new Set(stated).size >= profiles.length;
  const leastGap = areRanks ? LEAST_GAP_OF_RANKS_NS : LEAST_GAP_NS;
  const allowed = BigInt(Math.max(leastGap, GAP_BY_SPAN * longest));
  let until = recorded[0].to;
  for (let i = 1; i < recorded.length; i++) {
    const gap = recorded[i].from - until;
    if (gap > allowed) throw differentTimes(recorded.slice(0, i), recorded.slice(i), Number(gap));
    if (recorded[i].to > until) until = recorded[i].to;
  }
}

function assertOneWorld(profiles: readonly Profile[]): void {
  const known = profiles.filter(({ capture }) => capture.distributed);
  const sizeOf = ({ capture }: Profile) => capture.distributed!.worldSize;
  const other = known.find(profile => sizeOf(profile) !== sizeOf(known[0]));
  if (!other) return;
  throw new UserError(
    'usage',
    `These files come from different runs: ${nameOf(known[0])} is one of ${sizeOf(known[0])} ranks, ${nameOf(other)} one of ${sizeOf(other)}.`,
    'Open only files of one run together. Compare runs with stepscope compare.',
  );
}

/** Software that all ranks of a run share, by its key in `versions`; drivers may differ from machine to machine. */
export const SHARED_VERSIONS: readonly (readonly [key: string, label: string])[] = [
  ['torch', 'PyTorch'],
  ['nccl', 'NCCL'],
  ['cuda_runtime', 'the CUDA runtime'],
  ['hip_runtime', 'the HIP runtime'],
];

function assertOneSoftware(profiles: readonly Profile[]): void {
  for (const [key, label] of SHARED_VERSIONS) {
    const known = profiles.filter(({ capture }) => capture.versions[key]);
    // A build's own suffix (2.6.0+cu124) is not written by all.
    const versionOf = ({ capture }: Profile) => capture.versions[key].split('+')[0];
    const other = known.find(profile => versionOf(profile) !== versionOf(known[0]));
    if (!other) continue;
    throw new UserError(
      'usage',
      `These files come from different runs: ${nameOf(known[0])} used ${label} ${versionOf(known[0])}, ${nameOf(other)} ${versionOf(other)}.`,
      'Open only files of one run together. Compare runs with stepscope compare.',
    );
  }
}

/** Of the shorter file: windows of one rank follow each other, a rank given twice covers the same time. */
const SAME_TIME = 0.5;

function assertNoRankTwice(recorded: readonly Recorded[]): void {
  recorded.forEach((one, i) => {
    for (const other of recorded.slice(i + 1)) {
      const rank = statedRanks(one).find(own => statedRanks(other).includes(own));
      if (rank === undefined) continue;
      const shared = Number((one.to < other.to ? one.to : other.to) - other.from);
      const shorter = Math.min(Number(one.to - one.from), Number(other.to - other.from));
      if (shared <= SAME_TIME * shorter) continue;
      throw new UserError(
        'usage',
        `${nameOf(one.profile)} and ${nameOf(other.profile)} both have rank ${rank} and cover the same time.`,
        'Give each rank once. Files of another run belong to a separate command: stepscope compare A B.',
      );
    }
  });
}

/** Processes of one file are numbered by their GPUs, which every machine has; merged ranks have labels of their own. */
function statedRanks({ profile: { capture, notes } }: Recorded): readonly number[] {
  const isStated = capture.ranks.length === 1 || notes.some(({ code }) => code === 'merged-ranks');
  return isStated ? capture.ranks : [];
}

/** Wall-clock times of what a file holds; nothing where its clock is its own. */
function spanOf(profile: Profile): Recorded[] {
  if (profile.clock !== 'utc') return [];
  let from = Infinity;
  let to = -Infinity;
  for (const name of ['apiCalls', 'kernels', 'ranges'] as const) {
    const table = tableNamed(profile, name);
    if (!table || table.length === 0) continue;
    // Rows are sorted by start.
    const starts = table.start as unknown as Float64Array;
    from = Math.min(from, starts[0]);
    to = Math.max(to, starts[table.length - 1]);
  }
  if (from > to) return [];
  const at = (ns: number) => profile.originNs + BigInt(Math.round(ns));
  return [{ profile, from: at(from), to: at(to) }];
}

/**
 * One window after the other of the same processes: they are not late, they were recorded again. Each window must have
 * all of them; otherwise all files are one.
 */
function windowsOf(recorded: readonly Recorded[]): readonly (readonly Recorded[])[] {
  const filesOf = new Map<string, Recorded[]>();
  for (const one of recorded) {
    const { streams, processes, capture } = one.profile;
    const pids = new Set(streams.map(({ process }) => processes[process].pid));
    if (pids.size === 0) return [recorded];
    // Processes of two machines may have the same number.
    const key = [capture.ranks.join(), ...[...pids].sort((a, b) => a - b)].join(' ');
    filesOf.set(key, [...(filesOf.get(key) ?? []), one]);
  }
  const groups = [...filesOf.values()];
  const [{ length: windows }] = groups.length > 0 ? groups : [[]];
  if (windows < 2 || groups.some(({ length }) => length !== windows)) return [recorded];
  return groups[0].map((_, window) => groups.map(files => files[window]));
}

const nameOf = ({ capture }: Profile) => capture.files[0];

function differentTimes(before: readonly Recorded[], after: readonly Recorded[], gapNs: number): UserError {
  const called = (list: readonly Recorded[]) =>
    list.length === 1 ? nameOf(list[0].profile) : `${nameOf(list[0].profile)} and ${list.length - 1} more`;
  return new UserError(
    'usage',
    `These files were recorded at different times: ${called(after)} begins ${formatDuration(gapNs)} after ${called(before)} ended.`,
    'Ranks of one run record at the same time. Open those together, and compare runs with stepscope compare.',
  );
}
