/** The three commands of Slurm that a job needs. They ask the controller, which may be away for a while. */
import { execFile } from 'node:child_process';
import { UserError } from '../base/user-error.js';

interface Answer {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** The controller is being restarted, or the network is down; anything else is an answer. */
const AWAY =
  /unable to contact slurm controller|connection refused|socket timed out|communication connection failure|zero bytes were transmitted|slurm backup controller in standby/i;
const NO_CONFIGURATION = /configuration source/i;
const UNKNOWN_JOB = /invalid job id/i;

export class ControllerAway extends Error {}

function ask(command: string, args: readonly string[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { encoding: 'utf8', timeout: 60_000 }, (error, out, err) => {
      const { code } = (error ?? {}) as NodeJS.ErrnoException;
      if (code === 'ENOENT')
        reject(
          new UserError(
            'not-found',
            `${command} is not installed on this machine.`,
            'Run this on a login node of a Slurm cluster, or map here: --engine local',
          ),
        );
      else if (error && AWAY.test(err)) reject(new ControllerAway(err.trim().split('\n')[0]));
      else resolve({ status: error ? Number(error.code ?? 1) || 1 : 0, out, err });
    });
  });
}

/** Gives the id of the array job. */
export async function submitArray(script: string, options: readonly string[]): Promise<string> {
  const { status, out, err } = await ask('sbatch', ['--parsable', ...options, script]);
  // `123` or `123;cluster`.
  const job = /^(\d+)/.exec(out.trim())?.[1];
  if (status === 0 && job !== undefined) return job;
  throw new UserError(
    'job-failed',
    `sbatch did not accept the job: ${(err || out).trim().split('\n').at(-1)}`,
    NO_CONFIGURATION.test(err)
      ? 'Run this on a login node of a Slurm cluster, or map here: --engine local'
      : 'Check the options given with --sbatch-option, such as partition and account.',
  );
}

/** Numbers of the tasks that wait or run, with their state. */
export async function activeTasks(job: string): Promise<Map<number, string>> {
  const { status, out, err } = await ask('squeue', [
    '--noheader',
    '--array',
    '--jobs',
    job,
    '--format=%K %T',
  ]);
  // Some minutes after its end a job is forgotten.
  if (status !== 0 && UNKNOWN_JOB.test(err)) return new Map();
  if (status !== 0) throw new ControllerAway(err.trim().split('\n')[0]);
  return new Map(
    out
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => line.trim().split(/\s+/))
      .map(([task, state]) => [Number(task), state]),
  );
}

export const cancelJob = async (job: string): Promise<void> => {
  await ask('scancel', [job]);
};
