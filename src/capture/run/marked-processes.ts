/**
 * Everything a capture started, however it detached itself. A process group is not enough: nsys puts its agent and
 * the profiled program into sessions of their own (seen in 2022.4 to 2025.3), so when nsys is killed they live on.
 * All of them inherit the environment, and a variable with a random value in it tells them from everybody else's. One
 * that clears its environment is known by its ancestors, which are looked at while they live.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';

export const MARK_VARIABLE = 'STEPSCOPE_CAPTURE_ID';

export const newMark = (): string => randomBytes(12).toString('hex');

export interface MarkedProcess {
  readonly pid: number;
  readonly name: string;
}

/** What is known of a capture's processes besides the mark. */
interface Remembered {
  /** Seen to descend from marked ones; a number counts as long as the process began at the same time. */
  readonly begun: Map<number, string>;
  /** The pipes that the capture reads: who holds one was started by it. */
  readonly pipes: ReadonlySet<string>;
}
const remembered = new Map<string, Remembered>();
const LOOK_MS = 250;

/**
 * Looks again and again until the function it gives is called: a process may lose its mark, then its parent. `pid` is
 * the process just started, whose output goes into pipes of its own.
 */
export function rememberDescendants(mark: string, pid: number | undefined): () => void {
  const pipes = new Set([1, 2].map(fd => linkOf(`/proc/${pid}/fd/${fd}`)).filter(isPipe));
  remembered.set(mark, { begun: new Map(), pipes });
  const timer = setInterval(() => markedProcesses(mark), LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    // The last look is for what must be ended now.
    setTimeout(() => remembered.delete(mark), 60_000).unref();
  };
}

/** Empty where the system has no /proc: there the process group has to do. */
export function markedProcesses(mark: string, procFolder = '/proc'): MarkedProcess[] {
  let pids: number[] = [];
  try {
    pids = fs
      .readdirSync(procFolder)
      .filter(name => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
  const known = remembered.get(mark);
  const stats = new Map(pids.map(pid => [pid, statOf(pid, procFolder)]));
  const ours = new Set(
    pids.filter(pid => {
      const begun = stats.get(pid)?.begun;
      if (carries(pid, mark, procFolder)) return true;
      return known && ((begun !== undefined && known.begun.get(pid) === begun) || holdsOne(pid, known.pipes));
    }),
  );
  // Children have larger numbers than their parents, but for the rare turn of the counter: until nothing is added.
  for (let before = -1; known && before < ours.size; ) {
    before = ours.size;
    for (const [pid, stat] of stats) if (stat && ours.has(stat.parent)) ours.add(pid);
  }
  ours.delete(process.pid);
  for (const pid of ours) known?.begun.set(pid, stats.get(pid)?.begun ?? '');
  return [...ours].map(pid => ({ pid, name: nameOf(pid, procFolder) }));
}

const isPipe = (link: string): boolean => /^(?:pipe|socket):\[\d+\]$/.test(link);

function linkOf(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}

const holdsOne = (pid: number, pipes: ReadonlySet<string>): boolean =>
  pid !== process.pid && [1, 2].some(fd => pipes.has(linkOf(`/proc/${pid}/fd/${fd}`)));

/** Parent and moment of birth; undefined for one that is gone or waits to be gone. */
function statOf(pid: number, procFolder: string): { parent: number; begun: string } | undefined {
  try {
    const text = fs.readFileSync(`${procFolder}/${pid}/stat`, 'latin1');
    // The name stands in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : { parent: Number(fields[1]), begun: fields[19] };
  } catch {
    return undefined;
  }
}

function carries(pid: number, mark: string, procFolder: string): boolean {
  try {
    const wanted = `${MARK_VARIABLE}=${mark}`;
    // The environment of a process that ended but was not yet waited for is empty: it needs no ending.
    return fs.readFileSync(`${procFolder}/${pid}/environ`, 'latin1').split('\0').includes(wanted);
  } catch {
    // Gone, or another user's.
    return false;
  }
}

function nameOf(pid: number, procFolder: string): string {
  try {
    return fs.readFileSync(`${procFolder}/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Each rank of mpirun has its own nsys. Its agent goes by the same name but is not the one to ask. */
export function nsysAmong(mark: string): number[] {
  return markedProcesses(mark)
    .filter(({ pid, name }) => {
      if (name !== 'nsys') return false;
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[1] === 'profile';
      } catch {
        return false;
      }
    })
    .map(({ pid }) => pid);
}

/** Looked at again right before the signal: a number may belong to someone else by now. */
export function signalMarked(mark: string, signal: NodeJS.Signals): MarkedProcess[] {
  return markedProcesses(mark).filter(({ pid }) => {
    try {
      process.kill(pid, signal);
      return true;
    } catch {
      return false;
    }
  });
}

/** Asks what is left to end, waits, then ends it. Gives what had to be asked. */
export async function endMarked(mark: string, graceMs: number): Promise<MarkedProcess[]> {
  // The agent of nsys ends by itself a moment after nsys.
  for (const patience = Date.now() + 1000; Date.now() < patience; await sleep(50))
    if (markedProcesses(mark).length === 0) return [];
  const asked = signalMarked(mark, 'SIGTERM');
  if (asked.length === 0) return [];
  const until = Date.now() + graceMs;
  while (Date.now() < until) {
    if (markedProcesses(mark).length === 0) return asked;
    await sleep(50);
  }
  // A process may be starting another while it is looked for.
  for (let round = 0; round < 20 && signalMarked(mark, 'SIGKILL').length > 0; round++) await sleep(50);
  return asked;
}

export const sleep = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms));
