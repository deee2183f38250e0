/**
 * Whether files given together can be of one run. Ranks of a run record at the same time; files that lie far apart
 * in time are other runs, or other windows with another load, and as ranks of one they would be hours late.
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
  const recorded = profiles.flatMap(spanOf).sort((a, b) => (a.from < b.from ? -1 : 1));
  if (recorded.length < 2 || windowsOfOneProcess(profiles)) return;
  const longest = recorded.reduce((most, { from, to }) => Math.max(most, Number(to - from)), 0);
  const areRanks = new Set(ranks).size >= profiles.length || nameRanks(profiles);
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

/** One window after the other of the same process: it is not late, it was recorded again. */
function windowsOfOneProcess(profiles: readonly Profile[]): boolean {
  const launching = profiles.map(profile => {
    const pids = new Set(profile.streams.map(({ process }) => profile.processes[process].pid));
    return [...pids].sort((a, b) => a - b).join();
  });
  return launching.every(pids => pids !== '' && pids === launching[0]);
}

/** `report_rank3.sqlite`, `trace-TP-2.json.gz`: each file has a number of its own. */
const RANK_IN_NAME = /(?:^|[-_.])(?:rank|[tpde]p)[-_.]?(\d+)(?!\d)/i;
function nameRanks(profiles: readonly Profile[]): boolean {
  const numbers = profiles.map(profile => RANK_IN_NAME.exec(nameOf(profile))?.[1]);
  return numbers.every(number => number !== undefined) && new Set(numbers).size === profiles.length;
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
