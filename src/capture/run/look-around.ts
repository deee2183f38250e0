/** What `capture` and `doctor` look up on this machine: rights, room, programs. Missing is a fact, not an error. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { STREAM_ENDING } from '../../catalog/file-formats.js';
import type { DoctorFacts } from '../doctor.js';
import { planCapture } from '../plan-capture.js';
import { probeWith, pythonVersions } from '../run-probe.js';
import { parseVersion } from '../versions.js';
import { freeBytesOf } from './free-space.js';
import { runPlan } from './run-plan.js';

interface Rights {
  readonly perfEventParanoid?: number;
  readonly adminOnlyCounters?: boolean;
}

/** `root` stands in front of /proc; tests put a tree of their own there. */
export function readRights(root = ''): Rights {
  const paranoid = readFile(`${root}/proc/sys/kernel/perf_event_paranoid`);
  const params = readFile(`${root}/proc/driver/nvidia/params`);
  const adminOnly = /RmProfilingAdminOnly:\s*(\d)/.exec(params ?? '')?.[1];
  return {
    ...(paranoid !== undefined && /^-?\d+\s*$/.test(paranoid) ? { perfEventParanoid: Number(paranoid) } : {}),
    ...(adminOnly === undefined ? {} : { adminOnlyCounters: adminOnly === '1' }),
  };
}

function readFile(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** How to call an nsys: by name where PATH leads to it. */
export function nsysCommand(found: string, env: NodeJS.ProcessEnv = process.env): string {
  const onPath = (env.PATH ?? '').split(path.delimiter).map(folder => path.join(folder, 'nsys'));
  const first = onPath.find(file => fs.existsSync(file));
  return first !== undefined && path.resolve(first) === path.resolve(found) ? 'nsys' : found;
}

export async function lookAround(nsys: DoctorFacts['nsys'], folder: string): Promise<DoctorFacts> {
  const probe = probeWith(process.env);
  const query = ['--query-gpu=name,driver_version,memory.total', '--format=csv,noheader'];
  const [smi, ncu, python, kubectl, ssh] = await Promise.all([
    probe('nvidia-smi', query),
    probe('ncu', ['--version']),
    pythonVersions(probe),
    probe('kubectl', ['version', '--client=true', '--output=json']),
    probe('ssh', ['-V']),
  ]);
  return {
    nsys,
    ...(nsys.length > 0 ? { trial: await tryNsys(nsys[0]) } : {}),
    nvidiaSmi: smi.found,
    gpus: smi.ok ? readGpus(smi.stdout) : [],
    ncuVersion: /Version (\d[\w.]*)/.exec(ncu.stdout)?.[1],
    root: process.getuid?.() === 0,
    ...readRights(),
    python,
    folder: path.resolve(folder),
    freeBytes: freeBytesOf(folder),
    temporaryFolder: os.tmpdir(),
    temporaryFreeBytes: freeBytesOf(os.tmpdir()),
    kubectl: kubectl.found,
    ssh: ssh.found,
  };
}

const TRIAL_TIMEOUT_MS = 30_000;

/** Captures a program that does nothing, planned and run as `capture` would, in a folder of its own. */
async function tryNsys({ path: nsys, version }: DoctorFacts['nsys'][number]): Promise<DoctorFacts['trial']> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-doctor-'));
  const isThere = (ending: string) => fs.existsSync(path.join(folder, `trial${ending}`));
  const left = () => (isThere('.nsys-rep') ? 'report' : isThere(STREAM_ENDING) ? 'stream' : 'nothing');
  try {
    const plan = planCapture(
      { command: [process.execPath, '--version'], output: path.join(folder, 'trial') },
      { nsys, nsysVersion: parseVersion(version) },
    );
    // What a real capture would need is another check's business.
    const trial = { ...plan, estimate: { bytes: 0 } };
    await runPlan(trial, { timeoutMs: TRIAL_TIMEOUT_MS, graceMs: TRIAL_TIMEOUT_MS });
    return left();
  } catch (error) {
    if (error instanceof UserError) return left();
    throw error;
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
