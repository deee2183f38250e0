/** What a machine needs for captures, from facts to checks. Pure: the facts are handed in. */
import { formatBytes } from '../base/units.js';
import { engines, packagedEngines } from '../catalog/engines.js';
import { compareVersions } from './versions.js';

const oneOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export interface DoctorFacts {
  readonly nsys: readonly { readonly path: string; readonly version: string }[];
  /** What a capture of nothing left. Some packages lack the part that makes a report of the raw stream. */
  readonly trial?: 'report' | 'stream' | 'nothing';
  readonly ncuVersion?: string;
  readonly gpus: readonly { readonly name: string; readonly driver: string; readonly memory: string }[];
  readonly nvidiaSmi: boolean;
  readonly perfEventParanoid?: number;
  readonly adminOnlyCounters?: boolean;
  readonly root: boolean;
  /** Python and packages; undefined without Python. */
  readonly python?: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly freeBytes?: number;
  readonly temporaryFolder: string;
  readonly temporaryFreeBytes?: number;
  readonly kubectl: boolean;
  readonly ssh: boolean;
}

type DoctorState = 'ok' | 'warn' | 'missing';

interface DoctorCheck {
  readonly id: string;
  readonly state: DoctorState;
  readonly text: string;
  /** Absent when there is nothing to do. */
  readonly fix?: string;
}

/** Room for one capture with CPU samples: nsys writes two gigabytes of symbols for a program that loads PyTorch. */
const ENOUGH_BYTES = 5e9;

/** Each driver branch brings a CUDA; an nsys older than the one shipped with that CUDA may record no kernels. */
const nsysForDriver: readonly (readonly [driver: number, cuda: string, nsys: readonly number[]])[] = [
  [580, '13.0', [2025, 3]],
  [575, '12.9', [2025, 1]],
  [570, '12.8', [2024, 6]],
  [560, '12.6', [2024, 5]],
  [555, '12.5', [2024, 2]],
  [550, '12.4', [2023, 4]],
  [545, '12.3', [2023, 3]],
  [535, '12.2', [2023, 2]],
  [530, '12.1', [2023, 1]],
  [520, '11.8', [2022, 4]],
];

export function diagnose(facts: DoctorFacts): DoctorCheck[] {
  return [
    nsysCheck(facts),
    reportCheck(facts),
    driverCheck(facts),
    ...rightsChecks(facts),
    gpuCheck(facts),
    ncuCheck(facts),
  ]
    .concat(pythonChecks(facts))
    .concat([
      room('disk', facts.folder, facts.freeBytes, 'Capture into another folder: -o /large/disk/trace'),
      room(
        'temporary',
        facts.temporaryFolder,
        facts.temporaryFreeBytes,
        'Set TMPDIR to a folder with more free space',
      ),
      tool('kubectl', facts.kubectl, 'only needed to capture in pods'),
      tool('ssh', facts.ssh, 'only needed to capture on other machines'),
    ]);
}

function nsysCheck({ nsys }: DoctorFacts): DoctorCheck {
  if (nsys.length === 0)
    return {
      id: 'nsys',
      state: 'missing',
      text: 'Nsight Systems was not found',
      fix: 'apt install nsight-systems-cli (NVIDIA’s devtools repository), or set NSYS=/path/to/nsys',
    };
  const [{ path, version }] = nsys;
  const others = nsys.length > 1 ? `, and ${nsys.length - 1} older` : '';
  const old = compareVersions(numbers(version), [2023, 4]) < 0;
  return {
    id: 'nsys',
    state: old ? 'warn' : 'ok',
    text: `Nsight Systems ${version} at ${path}${others}`,
    ...(old ? { fix: 'Install 2023.4 or newer: this version cannot trace the GIL' } : {}),
  };
}

function reportCheck({ nsys, trial }: DoctorFacts): DoctorCheck {
  const id = 'nsys-report';
  if (trial === 'report') return { id, state: 'ok', text: 'a test capture wrote a report' };
  if (nsys.length === 0)
    return {
      id,
      state: 'missing',
      text: 'no test capture without nsys',
      fix: 'Install the complete package (nsight-systems-cli from NVIDIA)',
    };
  return trial === 'stream'
    ? {
        id,
        state: 'warn',
        text: `a test capture left a raw stream (.qdstrm), and no importer (QdstrmImporter) of nsys ${nsys[0].version} was found to make a report of it`,
        fix: 'Install the complete package of this version (nsight-systems-cli from NVIDIA), next to this nsys or anywhere else',
      }
    : {
        id,
        state: 'warn',
        text: 'a test capture wrote no report',
        fix: `Run ${nsys[0].path} profile true to see why`,
      };
}

function driverCheck({ nsys, gpus }: DoctorFacts): DoctorCheck {
  const driver = gpus[0]?.driver;
  const branch = Number(driver?.split('.')[0]);
  const row = nsysForDriver.find(([from]) => branch >= from);
  if (driver === undefined || row === undefined || nsys.length === 0)
    return {
      id: 'driver',
      state: 'missing',
      text: 'driver and nsys versions cannot be compared',
      fix: 'Run this on the machine with the GPU',
    };
  const [, cuda, wanted] = row;
  const fits = compareVersions(numbers(nsys[0].version), wanted) >= 0;
  return {
    id: 'driver',
    state: fits ? 'ok' : 'warn',
    text: `driver ${driver} (CUDA ${cuda}) with nsys ${nsys[0].version}`,
    ...(fits
      ? {}
      : {
          fix: `Install Nsight Systems ${wanted.join('.')} or newer: an older version may not record kernels`,
        }),
  };
}

function rightsChecks({ perfEventParanoid, adminOnlyCounters, root }: DoctorFacts): DoctorCheck[] {
  // What is not known is not fine, whoever asks.
  const sampling = perfEventParanoid !== undefined && (root || perfEventParanoid <= 2);
  const level = perfEventParanoid === undefined ? 'not readable' : String(perfEventParanoid);
  const counters = adminOnlyCounters !== undefined && (root || !adminOnlyCounters);
  return [
    {
      id: 'cpu-sampling',
      state: sampling ? 'ok' : 'warn',
      text: `perf_event_paranoid is ${level}${root ? ', and you are root' : ''}`,
      ...(sampling
        ? {}
        : { fix: 'sudo sysctl kernel.perf_event_paranoid=2 (only for --sample and --backtrace)' }),
    },
    {
      id: 'gpu-counters',
      state: counters ? 'ok' : 'warn',
      text:
        adminOnlyCounters === undefined
          ? 'access to GPU performance counters is unknown (no /proc/driver/nvidia/params)'
          : `GPU performance counters are available to ${adminOnlyCounters ? 'administrators only' : 'all users'}${root ? ', and you are root' : ''}`,
      ...(counters
        ? {}
        : {
            fix:
              adminOnlyCounters === undefined
                ? 'Run this on the machine with the GPU (only for --gpu-metrics)'
                : 'load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run as root (only for --gpu-metrics)',
          }),
    },
  ];
}

function gpuCheck({ gpus, nvidiaSmi }: DoctorFacts): DoctorCheck {
  if (gpus.length === 0)
    return {
      id: 'gpu',
      state: 'missing',
      text: nvidiaSmi ? 'nvidia-smi lists no GPU' : 'nvidia-smi was not found',
      fix: 'Capture on the machine with the GPU; analyze files on any machine',
    };
  const names = new Map<string, number>();
  for (const { name } of gpus) names.set(name, (names.get(name) ?? 0) + 1);
  const list = [...names].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name));
  return { id: 'gpu', state: 'ok', text: `${list.join(', ')}, ${gpus[0].memory} each` };
}

function ncuCheck({ ncuVersion }: DoctorFacts): DoctorCheck {
  return ncuVersion === undefined
    ? {
        id: 'ncu',
        state: 'missing',
        text: 'Nsight Compute was not found',
        fix: 'only needed to profile individual kernels',
      }
    : { id: 'ncu', state: 'ok', text: `Nsight Compute ${ncuVersion}` };
}

function pythonChecks({ python }: DoctorFacts): DoctorCheck[] {
  if (!python)
    return [
      {
        id: 'python',
        state: 'missing',
        text: 'Python was not found',
        fix: 'activate the environment of the engine',
      },
    ];
  const { python: version, torch, nvtx, ...rest } = python;
  const found = Object.entries(rest).map(([name, number]) => `${name} ${number}`);
  return [
    { id: 'python', state: 'ok', text: `Python ${version}` },
    torch === undefined
      ? {
          id: 'torch',
          state: 'missing',
          text: 'PyTorch is not installed',
          fix: 'activate the environment of the engine',
        }
      : { id: 'torch', state: 'ok', text: `PyTorch ${torch}` },
    found.length > 0
      ? { id: 'engines', state: 'ok', text: found.join(', ') }
      : {
          id: 'engines',
          state: 'missing',
          text: `no ${oneOf.format(packagedEngines.map(({ label }) => label))} found`,
          fix: 'activate the environment of the engine, or use capture --engine-version',
        },
    ...(nvtx === undefined && engines.vllm.package! in rest
      ? [
          {
            id: 'nvtx',
            state: 'warn' as const,
            text: `the Python package nvtx is not installed: captures of ${engines.vllm.label} have no ranges around its parts`,
            fix: 'pip install nvtx, in the environment of the engine',
          },
        ]
      : []),
  ];
}

function room(id: string, folder: string, free: number | undefined, fix: string): DoctorCheck {
  if (free === undefined) return { id, state: 'warn', text: `${folder}: free space unknown`, fix };
  return free < ENOUGH_BYTES
    ? {
        id,
        state: 'warn',
        text: `${folder}: ${formatBytes(free)} free, a capture may need ${formatBytes(ENOUGH_BYTES)}`,
        fix,
      }
    : { id, state: 'ok', text: `${folder}: ${formatBytes(free)} free` };
}

const tool = (id: string, found: boolean, fix: string): DoctorCheck =>
  found
    ? { id, state: 'ok', text: `${id} is installed` }
    : { id, state: 'missing', text: `${id} was not found`, fix };

const numbers = (version: string): number[] => version.split('.').map(Number);

const signs: Readonly<Record<DoctorState, string>> = { ok: 'ok     ', warn: 'warn   ', missing: 'missing' };

export function checksText(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.flatMap(({ id, state, text, fix }) => [
    `${signs[state]}  ${id.padEnd(width)}  ${text}`,
    ...(fix === undefined ? [] : [`${' '.repeat(width + 11)}→ ${fix}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
