/**
 * What starts the ranks. Under mpirun and srun nsys goes between launcher and program, so each rank has its own nsys
 * and its own report; outside, it would trace the launcher's own machine alone and mix all ranks of it. torchrun is
 * told not to start Python itself (`--no-python`), which makes the same place.
 */
import { UserError } from '../base/user-error.js';

type LauncherKind = 'mpirun' | 'srun' | 'torchrun';

export interface Launch {
  readonly kind: LauncherKind | 'none';
  /** The launcher with its options; nsys comes after. */
  readonly before: readonly string[];
  readonly program: readonly string[];
  /** The variable that holds a rank's number where nsys starts. */
  readonly rankVariable?: string;
  /** As the launcher's options say; absent when they do not. */
  readonly ranks?: number;
  /** MPICH's launchers hand on the whole environment; Open MPI only what `-x` names. */
  readonly mpich?: boolean;
  /** srun with --export=… hands on only what is listed. */
  readonly exports?: string;
}

/** Options of Open MPI and MPICH that take one word, or as many as stated, after them. */
const mpirunValues: Readonly<Record<string, number>> = Object.fromEntries([
  ...'-n -np -c --n --np -x -H -host --host -hostfile --hostfile -machinefile --machinefile -f -ppn -N -npernode --npernode -npersocket --npersocket -rank-by --rank-by -map-by --map-by -bind-to --bind-to -wdir --wdir -wd -path --path -prefix --prefix -output-filename --output-filename -genvlist -hosts -app --app -timeout --timeout -report-state-on-timeout --personality --launch-agent'
    .split(' ')
    .map(name => [name, 1] as const),
  ...'-mca --mca -gmca --gmca -genv -env --prtemca --pmixmca'.split(' ').map(name => [name, 2] as const),
]);

const srunValues: Readonly<Record<string, number>> = Object.fromEntries(
  '-n -N -p -A -t -J -w -x -c -o -e -i -D -q -C -G -m -d -M -u --ntasks --nodes --partition --account --time --job-name --nodelist --exclude --cpus-per-task --output --error --chdir --qos --constraint --gpus --gres --mpi --ntasks-per-node --gpus-per-node --gpus-per-task --cpu-bind --distribution --export --container-image --container-mounts --container-name --container-workdir --jobid --mem --reservation --segment'
    .split(' ')
    .filter(name => name !== '-u')
    .map(name => [name, 1]),
);

const torchrunValues: Readonly<Record<string, number>> = Object.fromEntries(
  'nnodes nproc-per-node rdzv-backend rdzv-endpoint rdzv-id rdzv-conf max-restarts monitor-interval start-method role log-dir redirects tee local-ranks-filter node-rank master-addr master-port local-addr'
    .split(' ')
    .flatMap(name => [`--${name}`, `--${name.replaceAll('-', '_')}`])
    .concat(['-r', '-t'])
    .map(name => [name, 1]),
);

export const baseName = (word: string): string => word.split('/').pop() ?? word;
export const isPython = (word: string): boolean => /^python(\d+(\.\d+)?)?$/.test(baseName(word));

export function readLaunch(command: readonly string[]): Launch {
  const name = baseName(command[0] ?? '');
  if (/^(mpirun|mpiexec|orterun|prterun)(\.\w+)?$/.test(name)) return readMpirun(command, name);
  if (name === 'srun') return readSrun(command);
  if (name === 'torchrun') return readTorchrun(command, 1, 'python3');
  const runsTorch = /^torch\.distributed\.(run|launch)$/.test(command[2] ?? '');
  if (isPython(name) && command[1] === '-m' && runsTorch) return readTorchrun(command, 3, command[0]);
  return { kind: 'none', before: [], program: command };
}

function readMpirun(command: readonly string[], name: string): Launch {
  const end = optionsEnd(command, 1, mpirunValues);
  const before = command.slice(0, end);
  const mpich = /hydra|mpich/.test(name) || before.includes('-genv') || before.includes('-ppn');
  return {
    kind: 'mpirun',
    before,
    program: needProgram(command, end),
    rankVariable: mpich ? 'PMI_RANK' : 'OMPI_COMM_WORLD_RANK',
    ranks: countOf(before, ['-n', '-np', '--np', '--n', '-c']),
    mpich,
  };
}

function readSrun(command: readonly string[]): Launch {
  const end = optionsEnd(command, 1, srunValues);
  const before = command.slice(0, end);
  return {
    kind: 'srun',
    before,
    program: needProgram(command, end),
    rankVariable: 'SLURM_PROCID',
    ranks: countOf(before, ['-n', '--ntasks']),
    exports: textOf(before, ['--export']),
  };
}

function readTorchrun(command: readonly string[], from: number, python: string): Launch {
  const end = optionsEnd(command, from, torchrunValues);
  const options = command.slice(from, end);
  const plain = (word: string) => !['-m', '--module', '--no-python', '--no_python'].includes(word);
  const asModule = options.includes('-m') || options.includes('--module');
  const asIs = options.includes('--no-python') || options.includes('--no_python');
  const script = needProgram(command, end);
  const perNode = countOf(options, ['--nproc-per-node', '--nproc_per_node']);
  const nodes = countOf(options, ['--nnodes']);
  return {
    kind: 'torchrun',
    before: [...command.slice(0, from), ...options.filter(plain), '--no-python'],
    program: asIs ? script : [python, ...(asModule ? ['-m'] : []), ...script],
    rankVariable: 'RANK',
    ...(perNode === undefined ? {} : { ranks: perNode * (nodes ?? 1) }),
  };
}

/** Where the launcher's options end and the program begins. */
function optionsEnd(
  command: readonly string[],
  from: number,
  values: Readonly<Record<string, number>>,
): number {
  let at = from;
  while (at < command.length && command[at].startsWith('-')) {
    const word = command[at];
    at += 1;
    if (word === '--') break;
    if (!word.includes('=')) at += values[word] ?? 0;
  }
  return at;
}

function needProgram(command: readonly string[], from: number): readonly string[] {
  if (from < command.length) return command.slice(from);
  throw new UserError(
    'usage',
    `${baseName(command[0])} has no program to start.`,
    'Write the whole command after --: … -- mpirun -n 8 trtllm-llmapi-launch trtllm-bench …',
  );
}

export function textOf(words: readonly string[], names: readonly string[]): string | undefined {
  for (let i = 0; i < words.length; i++) {
    if (names.includes(words[i])) return words[i + 1];
    const equals = words[i].indexOf('=');
    if (equals > 0 && names.includes(words[i].slice(0, equals))) return words[i].slice(equals + 1);
  }
  return undefined;
}

function countOf(words: readonly string[], names: readonly string[]): number | undefined {
  const text = textOf(words, names);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The launcher's own words that carry variables to the ranks; empty where it hands on the whole environment. */
export function forwarding(launch: Launch, names: readonly string[]): string[] {
  if (launch.kind !== 'mpirun' || launch.mpich) return [];
  const given = launch.before.flatMap((word, i) =>
    word === '-x' ? [launch.before[i + 1].split('=')[0]] : [],
  );
  return names.filter(name => !given.includes(name)).flatMap(name => ['-x', name]);
}
