/**
 * Puts what the agent wrote down into the captures of the same processes: steps and garbage collections as ranges, where
 * the capture has none of its own and both clocks are the wall clock. Versions and the parts of captured graphs are
 * added in any case, steps outside windows if no capture recorded them.
 *
 *     capture   ....[kernels  kernels  kernels]....
 *     sidecar   [0] [1     ] [2     ] [3      ] [4]      0 and 4 lie outside and are left out
 */
import { type AnyArray, allocate, missingValue, NONE } from '../../base/column.js';
import type { Note } from '../../base/notes.js';
import { matchMarker } from '../../catalog/engine-markers.js';
import { activityOf } from '../../catalog/host-activities.js';
import type { Profile, ThreadInfo } from '../../model/profile.js';
import { columnsOf, RangeKind } from '../../model/schema.js';
import { quietStepsOf, withQuietSteps } from '../quiet-step.js';
import { recordedSpan } from '../recorded-span.js';
import { CALIBRATED, OWN_TRACES } from './sidecar-fields.js';

type Cells = { readonly length: number } & Readonly<Record<string, AnyArray | undefined>>;

/** Sidecars alone are profiles like any other; beside captures each goes into those of its process. */
export function joinSidecars(profiles: readonly Profile[]): readonly Profile[] {
  const sidecars = profiles.filter(({ capture }) => capture.profiler === 'agent');
  const captures = profiles.filter(({ capture }) => capture.profiler !== 'agent');
  if (sidecars.length === 0 || captures.length === 0) return profiles;
  const isCalibration = ({ capture }: Profile) => CALIBRATED in capture.settings;
  for (const sidecar of sidecars.filter(one => !isCalibration(one))) {
    const own = capturesOf(sidecar, captures, sidecars);
    for (const at of own)
      captures[at] = isOfAnotherTime(captures[at], sidecar)
        ? withNote(captures[at], sidecar, 'is outside the time range of the capture and was left out')
        : join(captures[at], sidecar, at === own[0] ? own.map(one => captures[one]) : undefined);
    if (own.length === 0) captures[0] = besideOther(captures[0], sidecar);
  }
  // Last: by now the versions of the captured processes are known.
  for (const sidecar of sidecars.filter(isCalibration)) {
    const at = calibratedCapture(sidecar, captures);
    captures[at ?? 0] =
      at === undefined
        ? withNote(captures[0], sidecar, 'of a second run was left out: its rank was not captured')
        : joinCalibration(captures[at], sidecar);
  }
  return captures;
}

/** A second server that steps in the same time may have run the same requests: only its steps are kept. */
function besideOther(capture: Profile, sidecar: Profile): Profile {
  const log = sidecar.stepLogs?.[0];
  const knowsRequests = log?.steps.some(({ contextIds, generationIds }) =>
    [...(contextIds ?? []), ...(generationIds ?? [])].some(Boolean),
  );
  if (!log || !knowsRequests)
    return withNote(capture, sidecar, 'does not belong to any captured process and was left out');
  const described = {
    ...capture,
    capture: { ...capture.capture, files: [...capture.capture.files, ...sidecar.capture.files] },
    stepLogs: [...(capture.stepLogs ?? []), { ...log, isOfOtherServer: true as const }],
  };
  return withNote(described, sidecar, 'is of another server: only its requests are followed');
}

/**
 * By process number; where numbers differ (containers), by rank, or because there is only one. Several windows of one
 * process are several captures.
 */
function capturesOf(sidecar: Profile, captures: readonly Profile[], sidecars: readonly Profile[]): number[] {
  const byPid = capturesByPid(sidecar, captures);
  if (byPid.length > 0) return byPid;
  const [rank] = sidecar.capture.ranks;
  const byRank =
    rank === undefined
      ? []
      : captures.flatMap(({ capture }, at) => (capture.ranks.includes(rank) ? [at] : []));
  if (byRank.length > 0) return byRank;
  const isOnly = captures.length === 1 && captures[0].processes.length === 1;
  // Where another file names the captured process, this one is of another process.
  return isOnly && !sidecars.some(other => capturesByPid(other, captures).length > 0) ? [0] : [];
}

/** Exports of nsys list every process of the machine: those that drove a GPU were captured. */
function capturesByPid(sidecar: Profile, captures: readonly Profile[]): number[] {
  const [{ pid }] = sidecar.processes;
  return captures.flatMap(({ processes, streams }, place) => {
    const driving = new Set<number>(streams.map(({ process }) => process));
    const isIt = (at: number) => driving.size === 0 || driving.has(at);
    return processes.some((process, at) => process.pid === pid && isIt(at)) ? [place] : [];
  });
}

/** Numbers of processes come again: the file of another run must not speak for this one. */
function isOfAnotherTime(capture: Profile, sidecar: Profile): boolean {
  const { ranges } = sidecar.tables;
  const { startNs, endNs } = recordedSpan(capture);
  if (!ranges || ranges.length === 0 || capture.clock !== 'utc' || !(endNs > startNs)) return false;
  const { start, end } = ranges as unknown as Cells;
  const shiftNs = Number(sidecar.originNs - capture.originNs);
  for (let row = 0; row < ranges.length; row++)
    if (end![row] + shiftNs > startNs && start![row] + shiftNs < endNs) return false;
  return true;
}

/** `all`: every capture of this process; given to the first, which counts the file. */
function join(capture: Profile, sidecar: Profile, all: readonly Profile[] | undefined): Profile {
  const { files, sizeBytes } = all ? sidecar.capture : { files: [], sizeBytes: 0 };
  const { [OWN_TRACES]: _traces, ...settings } = sidecar.capture.settings;
  const ranked = withRank(capture, sidecar);
  const described = {
    ...ranked,
    capture: {
      ...ranked.capture,
      files: [...capture.capture.files, ...files],
      sizeBytes: capture.capture.sizeBytes + sizeBytes,
      settings: { ...settings, ...capture.capture.settings },
      versions: { ...sidecar.capture.versions, ...capture.capture.versions },
    },
    notes: [...capture.notes, ...sidecar.notes],
    // Given once, however many windows of the process were captured.
    ...(all && sidecar.stepLogs ? { stepLogs: [...(capture.stepLogs ?? []), ...sidecar.stepLogs] } : {}),
  };
  const withParts = withGraphParts(described, sidecar);
  const told = all ? withStepsOutside(withParts, sidecar, all) : withParts;
  if (capture.skipped.includes('ranges') || !sidecar.tables.ranges) return told;
  const has = kindsIn(capture);
  const missing = [...kindsIn(sidecar)].filter(kind => !has.has(kind));
  if (missing.length === 0) return told;
  if (capture.clock !== 'utc')
    return withNote(told, sidecar, 'could not be aligned: the capture has no wall-clock time');
  return withRanges(told, sidecar, missing);
}

/** Exports of nsys do not state their rank; the agent asked the program. */
function withRank(capture: Profile, sidecar: Profile): Profile {
  const [rank] = sidecar.capture.ranks;
  if (rank === undefined || capture.capture.ranks.length > 0) return capture;
  const [{ pid }] = sidecar.processes;
  const { distributed } = sidecar.capture;
  return {
    ...capture,
    capture: { ...capture.capture, ranks: [rank], ...(distributed ? { distributed } : {}) },
    processes: capture.processes.map(process => (process.pid === pid ? { ...process, rank } : process)),
  };
}

type RangeOf = 'steps' | 'garbage collections';

function kindOf(name: string): RangeOf | undefined {
  if (activityOf(name) === 'garbage-collection') return 'garbage collections';
  const match = matchMarker(name);
  return match !== undefined && !match.grammar.generic ? 'steps' : undefined;
}

function kindsIn({ tables, strings }: Profile): Set<RangeOf> {
  const names = new Set((tables.ranges?.name ?? []) as unknown as Int32Array);
  const kinds = [...names].flatMap(id => (id === NONE ? [] : (kindOf(strings.text(id as never)) ?? [])));
  return new Set(kinds);
}

function withNote(profile: Profile, sidecar: Profile, text: string): Profile {
  const note: Note = {
    code: 'agent-sidecar',
    severity: 'warning',
    text: `agent file ${text}`,
    count: 1,
    example: sidecar.capture.files[0],
  };
  return { ...profile, notes: [...profile.notes, note] };
}

function withRanges(capture: Profile, sidecar: Profile, wanted: readonly RangeOf[]): Profile {
  const added = sidecar.tables.ranges as unknown as Cells;
  const shiftNs = Number(sidecar.originNs - capture.originNs);
  const span = recordedSpan(capture);
  const starts = added.start!;
  const ends = added.end!;
  const isWanted = (row: number) =>
    wanted.includes(kindOf(sidecar.strings.text(added.name![row] as never)) as RangeOf);
  const rows = Array.from({ length: added.length }, (_, row) => row).filter(
    row => ends[row] + shiftNs > span.startNs && starts[row] + shiftNs < span.endNs && isWanted(row),
  );
  if (rows.length === 0) return capture;
  const { threads, threadOf, nameOf } = translation(capture, sidecar);
  const fresh = rows.map(row => ({
    start: starts[row] + shiftNs,
    end: ends[row] + shiftNs,
    thread: threadOf(added.thread![row]),
    name: nameOf(added.name![row]),
    kind: RangeKind.pushPop,
  }));
  const ranges = insert('ranges', capture.tables.ranges as unknown as Cells | undefined, fresh);
  const joined = { ...capture, threads, tables: { ...capture.tables, ranges: ranges as never } };
  return withNote(joined, sidecar, `provides the ${wanted.join(' and ')}, aligned by the machine clock`);
}

/** Numbers of nodes need no clock; where the clocks cannot be compared, the time of capturing is left at zero. */
function withGraphParts(capture: Profile, sidecar: Profile): Profile {
  const added = sidecar.tables.graphParts as unknown as Cells | undefined;
  if (!added || capture.skipped.includes('graphParts')) return capture;
  const shiftNs = capture.clock === 'utc' ? Number(sidecar.originNs - capture.originNs) : undefined;
  const { threads, threadOf, nameOf } = translation(capture, sidecar);
  const fresh = Array.from({ length: added.length }, (_, row) => ({
    ...Object.fromEntries(columnsOf('graphParts').map(([name]) => [name, added[name]![row]])),
    start: shiftNs === undefined ? 0 : added.start![row] + shiftNs,
    end: shiftNs === undefined ? 0 : added.end![row] + shiftNs,
    thread: threadOf(added.thread![row]),
    name: nameOf(added.name![row]),
  }));
  const parts = insert('graphParts', capture.tables.graphParts as unknown as Cells | undefined, fresh);
  return { ...capture, threads, tables: { ...capture.tables, graphParts: parts as never } };
}

/** A second run has other processes: its rank decides, and of several windows the first has the steps. */
function calibratedCapture(sidecar: Profile, captures: readonly Profile[]): number | undefined {
  const [rank] = sidecar.capture.ranks;
  if (rank === undefined) return 0;
  const at = captures.findIndex(({ capture }) => capture.ranks.includes(rank));
  if (at >= 0) return at;
  return captures.length === 1 && captures[0].capture.ranks.length === 0 ? 0 : undefined;
}

/** The same steps in a second run of the command. What is known of both must be the same. */
function joinCalibration(capture: Profile, sidecar: Profile): Profile {
  const { versions, files, sizeBytes } = sidecar.capture;
  const known = capture.capture.versions;
  const other = Object.keys(versions).find(name => name in known && known[name] !== versions[name]);
  if (other !== undefined)
    return withNote(capture, sidecar, `of a second run was left out: it used another version of ${other}`);
  const ranked = withRank(capture, sidecar);
  const described = {
    ...ranked,
    capture: {
      ...ranked.capture,
      files: [...capture.capture.files, ...files],
      sizeBytes: capture.capture.sizeBytes + sizeBytes,
    },
    notes: [...capture.notes, ...sidecar.notes],
  };
  const steps = quietStepsOf(sidecar).map(({ utcNs: _, ...step }) => ({ ...step, process: NONE }));
  return withQuietSteps(described, steps);
}

/**
 * Steps outside windows belong to no capture in particular: of several, the first has them. A profiler that recorded
 * more than the windows recorded these steps too; a trace of the agent's own holds nothing else.
 *
 *     agent     [before 1] [window 1] [after 1]
 *     capture              [--------]                 all are kept
 *     capture        [----------------------]         few are
 */
function withStepsOutside(capture: Profile, sidecar: Profile, all: readonly Profile[]): Profile {
  const noted = quietStepsOf(sidecar);
  if (noted.length === 0) return capture;
  const own = new Set(sidecar.capture.settings[OWN_TRACES]?.split('\n'));
  const others = all.filter(one => !one.capture.files.some(file => own.has(file)));
  if (others.some(({ clock }) => clock !== 'utc'))
    return withNote(
      capture,
      sidecar,
      'has steps outside windows that were left out: without a wall-clock time in the capture it is unknown whether they were profiled',
    );
  const spans = others.map(one => {
    const { startNs, endNs } = recordedSpan(one);
    return { from: Number(one.originNs) + startNs, to: Number(one.originNs) + endNs };
  });
  const undisturbed = noted.filter(({ utcNs = 0, periodNs }) =>
    spans.every(({ from, to }) => utcNs + periodNs <= from || utcNs >= to),
  );
  const { process } = translation(capture, sidecar);
  const joined = withQuietSteps(
    capture,
    undisturbed.map(step => ({ ...step, process })),
  );
  return undisturbed.length === noted.length
    ? joined
    : withNote(joined, sidecar, 'has steps outside windows that were profiled too; these were left out');
}

/** Threads and names of the sidecar, as the capture numbers them; threads it does not know are added. */
function translation(capture: Profile, sidecar: Profile) {
  const [{ pid }] = sidecar.processes;
  const process = Math.max(
    0,
    capture.processes.findIndex(other => other.pid === pid),
  );
  const threads: ThreadInfo[] = [...capture.threads];
  const threadOf = (thread: number): number => {
    const { tid } = sidecar.threads[thread];
    const known = threads.findIndex(other => other.process === process && other.tid === tid);
    return known >= 0 ? known : threads.push({ process: process as never, tid, name: '' }) - 1;
  };
  // Names only ever get added to the table of strings; rows that hold ids of it keep their meaning.
  const nameOf = (name: number): number => capture.strings.intern(sidecar.strings.text(name as never));
  return { process, threads, threadOf, nameOf };
}

/** Old and new rows in order of their start; what a new row does not say is missing. */
function insert(
  table: 'ranges' | 'graphParts',
  old: Cells | undefined,
  fresh: readonly Readonly<Record<string, number>>[],
): Cells {
  const before = old?.length ?? 0;
  const order = Array.from({ length: before + fresh.length }, (_, i) => i);
  const startOf = (i: number) => (i < before ? old!.start![i] : fresh[i - before].start);
  order.sort((a, b) => startOf(a) - startOf(b) || a - b);
  const columns: Record<string, AnyArray> = {};
  for (const [name, spec] of columnsOf(table)) {
    const source = old?.[name];
    if (spec.optional && !source) continue;
    const cells = allocate(spec.storage, order.length);
    const missing = missingValue(spec.storage);
    order.forEach((from, row) => {
      cells[row] = from < before ? (source?.[from] ?? missing) : (fresh[from - before][name] ?? missing);
    });
    columns[name] = cells;
  }
  return { length: order.length, ...columns } as unknown as Cells;
}
