/**
 * Files of the same run that are not profiles: the engine's log, and benchmark results. What they show was measured
 * without a profiler, so it goes next to what the profile shows.
 */
import type { Note } from '../base/notes.js';
import { UserError } from '../base/user-error.js';
import type { BenchIteration, BenchRun, EngineState } from '../model/bench-run.js';
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
import { stepsOfIterations } from './iteration-log.js';
import { ProfileFile } from './profile-file.js';
import { type QuietStep, withQuietSteps } from './quiet-step.js';
import { outsideProfile, readServerLog } from './server-log.js';

export interface Companion {
  readonly name: string;
  readonly runs: readonly BenchRun[];
  /** From a server's log. */
  readonly steps: Parameters<typeof outsideProfile>[0];
}

/** Undefined: neither a log nor a result that we can read. */
export async function readCompanion(path: string, name?: string): Promise<Companion | undefined> {
  const file = ProfileFile.open(path, name);
  try {
    // Files that are no text are read for nothing, and may be huge.
    if (!isText(await file.head())) return undefined;
    // The readers of all benchmark tools: most calls are about a profile alone.
    const { benchText, readBenchText } = await import('./bench/open-bench.js');
    const text = await benchText(file);
    const log = readServerLog(text);
    const runs = runsIn(() => readBenchText(file.name, text));
    if (!log && runs.length === 0) return undefined;
    return { name: file.name, runs, steps: log?.steps ?? [] };
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  } finally {
    file.close();
  }
}

const isText = (head: Uint8Array) => (head[0] === 0xff && head[1] === 0xfe) || !head.includes(0);

function runsIn(read: () => readonly BenchRun[]): readonly BenchRun[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** `tables`: those that are wanted, as importers are told. */
export function withCompanions(
  profile: Profile,
  companions: readonly Companion[],
  tables?: ReadonlyMap<TableName, unknown>,
): Profile {
  if (companions.length === 0) return profile;
  const steps: QuietStep[] = [];
  const notes: Note[] = [];
  const benchmarks: BenchRun[] = [...(profile.benchmarks ?? [])];
  const states = [...(profile.engineStates ?? [])];
  for (const { name, runs, steps: printed } of companions) {
    const iterations = runs.flatMap(run => run.iterations ?? []);
    const found = iterations.length === 0 ? [] : stepsOfIterations(iterations, profile);
    const own = [...outsideProfile(printed, profile), ...(typeof found === 'string' ? [] : found)];
    const results = runs.filter(hasResult);
    const printedStates = statesOf(iterations);
    if (printedStates.length > 0) states.push({ file: name, states: printedStates });
    for (const step of own) steps.push(step);
    benchmarks.push(...results);
    if (own.length > 0)
      notes.push(note('info', `steps without a profiler come from a log`, own.length, name));
    else if (typeof found === 'string') notes.push(note('warning', `log was left out: ${found}`, 1, name));
    else if (results.length === 0)
      notes.push(
        note('warning', 'log was left out: it has no step that is certainly outside the profile', 1, name),
      );
  }
  const known = tables && !tables.has('quietSteps') ? profile : withQuietSteps(profile, steps);
  return {
    ...known,
    notes: [...known.notes, ...notes],
    ...(benchmarks.length > 0 ? { benchmarks } : {}),
    ...(states.length > 0 ? { engineStates: states } : {}),
  };
}

/** Of the first rank: others print into the same log, and have the same queue. */
function statesOf(iterations: readonly BenchIteration[]): EngineState[] {
  return iterations.flatMap(({ iteration, globalRank = 0, activeRequests, queuedRequests, kvCacheShare }) => {
    if (globalRank !== 0 || (activeRequests ?? queuedRequests ?? kvCacheShare) === undefined) return [];
    const all = { iteration, running: activeRequests, waiting: queuedRequests, kvShare: kvCacheShare };
    return [Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))];
  });
}

const note = (severity: Note['severity'], text: string, count: number, example: string): Note => ({
  ...{ code: 'companion', severity, text, count, example },
});

/** Iteration lines alone are no result. */
const hasResult = ({ throughput, latency, energy, requests, engineStates }: BenchRun) =>
  [throughput, latency, energy ?? {}].some(figures => Object.keys(figures).length > 0) ||
  [requests, engineStates].some(rows => (rows?.length ?? 0) > 0);

export function nothingButCompanions(companions: readonly Companion[]): UserError {
  const [{ name, runs }] = companions;
  const isResult = runs.some(hasResult);
  return new UserError(
    'not-a-profile',
    `${name} is ${isResult ? 'a benchmark result' : 'a log'}, and no profile of its run was given.`,
    isResult ? `Add its profile. To read results alone: stepscope bench ${name}` : 'Add its profile.',
  );
}
