/**
 * Everything a capture started, however it detached itself. A process group is not enough: nsys puts its agent and
 * the profiled program into sessions of their own (seen in 2022.4 to 2025.3), so when nsys is killed they live on.
 * All of them inherit the environment, and a variable with a random value in it tells them from everybody else's.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';

export const MARK_VARIABLE = 'STEPSCOPE_CAPTURE_ID';

export const newMark = (): string => randomBytes(12).toString('hex');

export interface MarkedProcess {
  readonly pid: number;
  readonly name: string;
}

/** Empty where the system has no /proc: there the process group has to do. */
export function markedProcesses(mark: string, procFolder = '/proc'): MarkedProcess[] {
  let names: string[] = [];
  try {
    names = fs.readdirSync(procFolder).filter(name => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.map(Number).flatMap(pid => {
    if (pid === process.pid || !carries(pid, mark, procFolder)) return [];
    return [{ pid, name: nameOf(pid, procFolder) }];
  });
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
