/**
 * The files of a lake, checked before anything is added up: what counts, what is left out and why, and what is wrong
 * with a run as a whole. The same rules as for files given together (import/one-run.ts), applied to what the lake kept.
 */
import { formatDuration, plural } from '../base/units.js';
import type { ProfilerKind } from '../model/profile.js';

/** What is known of a file, with its place. */
export interface LakeFile {
  readonly partition: string;
  readonly run: string;
  readonly rank: number | null;
  readonly file: string;
  readonly path: string;
  readonly host: string | null;
  readonly profiler: ProfilerKind;
  readonly engine: string | null;
  readonly gpu: string | null;
  readonly gpus: number;
  readonly graphs: string;
  readonly model: string | null;
  readonly config: string | null;
  readonly layers: number | null;
  readonly worldSize: number | null;
  readonly ranksInFile: number;
  readonly software: string | null;
  readonly originUtcNs: bigint | null;
  readonly startNs: number | null;
  readonly endNs: number | null;
  readonly selectedSteps: number;
  readonly stepsNumbered: boolean;
}

interface LeftOut {
  readonly path: string;
  readonly run: string;
  readonly why: string;
}

export interface RunProblem {
  readonly run: string;
  readonly kind: 'missing-ranks' | 'mixed' | 'no-rank' | 'no-steps' | 'graph-blocks';
  readonly text: string;
}

export interface CheckedFiles {
  readonly counted: readonly LakeFile[];
  readonly leftOut: readonly LeftOut[];
  readonly problems: readonly RunProblem[];
}

/** Of the shorter file: windows of one rank follow each other, a rank given twice covers the same time. */
const SAME_TIME = 0.5;
/** Ranks of one run begin closer together, whatever their clocks. */
const LEAST_GAP_NS = 60e9;
const GAP_BY_SPAN = 10;

export function checkFiles(files: readonly LakeFile[]): CheckedFiles {
  const counted: LakeFile[] = [];
  const leftOut: LeftOut[] = [];
  const problems: RunProblem[] = [];
  for (const [run, own] of byRun(files)) {
    const kept = withoutRepeats(run, own, leftOut);
    counted.push(...kept);
    problems.push(...problemsOf(run, kept));
  }
  return { counted, leftOut, problems };
}

function byRun(files: readonly LakeFile[]): Map<string, LakeFile[]> {
  const runs = new Map<string, LakeFile[]>();
  // By path, so that the same file is kept whatever the order on disk.
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    const own = runs.get(file.run);
    if (own) own.push(file);
    else runs.set(file.run, [file]);
  }
  return runs;
}

/** A rank twice over the same time is counted once. */
function withoutRepeats(run: string, files: readonly LakeFile[], leftOut: LeftOut[]): LakeFile[] {
  const byRank = new Map<number, LakeFile[]>();
  return files.filter(file => {
    if (file.rank === null) return true;
    const others = byRank.get(file.rank) ?? [];
    const repeated = others.find(other => coverSameTime(file, other));
    if (repeated) {
      const why = `rank ${file.rank} again, over the same time as ${repeated.path}`;
      leftOut.push({ path: file.path, run, why });
      return false;
    }
    byRank.set(file.rank, [...others, file]);
    return true;
  });
}

/** Without wall-clock times nothing shows that they are different windows. */
function coverSameTime(a: LakeFile, b: LakeFile): boolean {
  const [one, other] = [recordedTime(a), recordedTime(b)];
  if (!one || !other) return true;
  const shared = Math.min(one.to, other.to) - Math.max(one.from, other.from);
  return shared > SAME_TIME * Math.min(one.to - one.from, other.to - other.from);
}

/** In nanoseconds since 1970; differences of less than a microsecond do not matter here. */
export function recordedTime({
  originUtcNs,
  startNs,
  endNs,
}: LakeFile): { from: number; to: number } | undefined {
  if (originUtcNs === null || startNs === null || endNs === null) return undefined;
  const origin = Number(originUtcNs);
  return { from: origin + startNs, to: origin + endNs };
}

function problemsOf(run: string, files: readonly LakeFile[]): RunProblem[] {
  const problem = (kind: RunProblem['kind'], text: string): RunProblem => ({ run, kind, text });
  const found: RunProblem[] = [];
  const differing = mixedBy(files);
  if (differing !== undefined) found.push(problem('mixed', differing));
  const ranks = new Set(files.flatMap(({ rank }) => (rank === null ? [] : [rank])));
  const world = Math.max(0, ...files.map(({ worldSize }) => worldSize ?? 0));
  const inFiles = Math.max(ranks.size, ...files.map(({ ranksInFile }) => ranksInFile));
  if (world > inFiles && differing === undefined) {
    const missing = Array.from({ length: world }, (_, rank) => rank).filter(rank => !ranks.has(rank));
    const named = missing.length <= 8 ? ` (${missing.join(', ')})` : '';
    found.push(
      problem(
        'missing-ranks',
        `${plural(world - inFiles, 'rank')} of ${world} missing${inFiles === ranks.size ? named : ''}`,
      ),
    );
  }
  const unranked = files.filter(({ rank, ranksInFile }) => rank === null && ranksInFile < 2);
  if (unranked.length > 0 && files.length > 1)
    found.push(
      problem('no-rank', `${plural(unranked.length, 'file')} without a rank, e.g. ${unranked[0].path}`),
    );
  const empty = files.filter(({ selectedSteps }) => selectedSteps === 0);
  if (empty.length > 0)
    found.push(problem('no-steps', `${plural(empty.length, 'file')} without steps, e.g. ${empty[0].path}`));
  return found;
}

/** What shows that files called one run are not; undefined: nothing does. */
function mixedBy(files: readonly LakeFile[]): string | undefined {
  const facts: readonly [string, (file: LakeFile) => string | number | null][] = [
    ['number of ranks', ({ worldSize }) => worldSize],
    ['profiler', ({ profiler }) => profiler],
    ['engine', ({ engine }) => engine],
    ['GPU', ({ gpu }) => gpu],
    ['software', ({ software }) => software],
  ];
  for (const [label, of] of facts) {
    const known = files.filter(file => of(file) !== null);
    const other = known.find(file => of(file) !== of(known[0]));
    if (other)
      return `files of different runs: ${label} ${of(known[0])} in ${known[0].path}, ${of(other)} in ${other.path}`;
  }
  const spans = files.flatMap(file => {
    const span = recordedTime(file);
    return span ? [{ ...span, path: file.path }] : [];
  });
  spans.sort((a, b) => a.from - b.from);
  const longest = Math.max(0, ...spans.map(({ from, to }) => to - from));
  let until = spans[0]?.to ?? 0;
  for (const [i, span] of spans.entries()) {
    const gap = span.from - until;
    if (i > 0 && gap > Math.max(LEAST_GAP_NS, GAP_BY_SPAN * longest))
      return `files of different times: ${span.path} begins ${formatDuration(gap)} after the others ended`;
    until = Math.max(until, span.to);
  }
  return undefined;
}
