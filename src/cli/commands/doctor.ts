import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { type DoctorCheck, type DoctorFacts, type DoctorState, diagnose } from '../../capture/doctor.js';
import { probeWith, pythonVersions } from '../../capture/run-probe.js';
import { readArguments } from '../arguments.js';
import type { Command } from '../command.js';
import { freeBytes, lookForNsys, readRights } from '../machine-facts.js';

export const doctor: Command = {
  name: 'doctor',
  summary:
    'Check this machine for captures: nsys, driver, rights, engines, room; and how to fix what is missing.',
  usage: 'stepscope doctor [-o FOLDER] [--json]',
  options: [
    {
      flags: '-o, --output FOLDER',
      meaning: 'where reports will go, for the room there (the current folder)',
    },
    { flags: '--json', meaning: 'the checks as JSON' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope doctor', 'before the first capture on a machine'],
    ['stepscope doctor -o /scratch --json', 'for a script'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('doctor', args, {
      output: { type: 'string', short: 'o' },
      json: { type: 'boolean' },
    });
    if (positionals.length > 0)
      throw new UserError(
        'usage',
        `doctor takes no file: ${positionals[0]}`,
        'For a profile: stepscope info FILE',
      );
    const checks = diagnose(await lookAround(values.output ?? '.'));
    if (values.json) output.out(`${JSON.stringify({ schema: 'stepscope-doctor/1', checks }, null, 2)}\n`);
    else output.out(checksText(checks));
    return 0;
  },
};

async function lookAround(folder: string): Promise<DoctorFacts> {
  const probe = probeWith(process.env);
  const query = ['--query-gpu=name,driver_version,memory.total', '--format=csv,noheader'];
  const [nsys, smi, ncu, python, kubectl, ssh] = await Promise.all([
    lookForNsys(),
    probe('nvidia-smi', query),
    probe('ncu', ['--version']),
    pythonVersions(probe),
    probe('kubectl', ['version', '--client=true', '--output=json']),
    probe('ssh', ['-V']),
  ]);
  return {
    nsys,
    writesReports: nsys.length > 0 && (await tryNsys(nsys[0].path)),
    nvidiaSmi: smi.found,
    gpus: smi.ok ? readGpus(smi.stdout) : [],
    ncuVersion: /Version (\d[\w.]*)/.exec(ncu.stdout)?.[1],
    root: process.getuid?.() === 0,
    ...readRights(),
    python,
    folder: path.resolve(folder),
    freeBytes: freeBytes(folder),
    temporaryFolder: os.tmpdir(),
    temporaryFreeBytes: freeBytes(os.tmpdir()),
    kubectl: kubectl.found,
    ssh: ssh.found,
  };
}

const TRIAL_TIMEOUT_MS = 30_000;

/** Captures a program that does nothing, in a folder of its own. */
async function tryNsys(nsys: string): Promise<boolean> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-doctor-'));
  try {
    const options = ['-t', 'nvtx', '-s', 'none', '--cpuctxsw=none', '-o', path.join(folder, 'trial')];
    await probeWith(process.env, TRIAL_TIMEOUT_MS)(nsys, [
      'profile',
      ...options,
      process.execPath,
      '--version',
    ]);
    return fs.existsSync(path.join(folder, 'trial.nsys-rep'));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function readGpus(csv: string): DoctorFacts['gpus'] {
  return csv
    .split('\n')
    .map(line => line.split(',').map(cell => cell.trim()))
    .filter(cells => cells.length === 3 && /^\d+\./.test(cells[1]))
    .map(([name, driver, memory]) => ({ name, driver, memory }));
}

const signs: Readonly<Record<DoctorState, string>> = { ok: 'ok     ', warn: 'warn   ', missing: 'missing' };

function checksText(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.flatMap(({ id, state, text, fix }) => [
    `${signs[state]}  ${id.padEnd(width)}  ${text}`,
    ...(fix === undefined ? [] : [`${' '.repeat(width + 11)}→ ${fix}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
