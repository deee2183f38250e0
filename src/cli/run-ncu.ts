/** Starts Nsight Compute, without a shell, and reads its reports. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { UserError } from '../base/user-error.js';
import { type NcuLaunch, parseNcuCsv } from '../rerun/ncu-result.js';

const INSTALL =
  'Install Nsight Compute, or run the printed command where it is installed and give --result FILE.';
/** A page of raw metrics of a few launches. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The program's output goes where ours does not: standard output is for the result. */
export function runNcu(args: readonly string[]): void {
  const { status, error } = spawnSync('ncu', args, { stdio: ['ignore', 2, 2] });
  if (error) throw new UserError('usage', `ncu could not be started: ${error.message}.`, INSTALL);
  if (status !== 0)
    throw new UserError(
      'usage',
      `ncu exited with status ${status}.`,
      'Its messages are above. ERR_NVGPUCTRPERM: counters need administrator rights or the driver’s permission.',
    );
}

export function readNcuResult(file: string): NcuLaunch[] {
  const launches = parseNcuCsv(file.endsWith('.ncu-rep') ? imported(file) : readText(file));
  if (launches && launches.length > 0) return launches;
  throw new UserError(
    'unreadable',
    `${file} has no kernels that Nsight Compute measured.`,
    'Give a report (.ncu-rep), or its CSV: ncu --import REPORT --csv --page raw > FILE.csv. An empty report means that no launch matched.',
  );
}

function readText(file: string): string {
  const { size } = fs.statSync(file);
  if (size > MOST_BYTES)
    throw new UserError(
      'unreadable',
      `${file} is larger than 256 MB.`,
      'Export fewer launches: --launch-count 1',
    );
  return fs.readFileSync(file, 'utf8');
}

function imported(file: string): string {
  const { stdout, status, error } = spawnSync('ncu', ['--import', file, '--csv', '--page', 'raw'], {
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
  });
  if (error) throw new UserError('usage', `ncu could not be started to read ${file}.`, INSTALL);
  if (status !== 0)
    throw new UserError(
      'unreadable',
      `ncu cannot read ${file}.`,
      'Read it with the version of ncu that wrote it.',
    );
  return stdout;
}
