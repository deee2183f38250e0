/**
 * The perfect-router experiment as commands: the same work with the learned router and with ENABLE_PERFECT_ROUTER=1, in
 * turns, so that a machine that drifts drifts for both. The switch must reach every rank: launchers that start processes
 * on other machines are told to pass it on. It is off for anything but "1", so the other side gets a "0" of its own.
 */
import { UserError } from '../../base/user-error.js';

const SWITCH = 'ENABLE_PERFECT_ROUTER';

export interface PlannedRun {
  /** `learned-1`, `perfect-1` …; `learned-check` where experts are counted. */
  readonly name: string;
  readonly router: 'learned' | 'perfect';
  /** Counting slows the engine down: such a run says nothing about speed. */
  readonly timed: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

export interface ExperimentPlan {
  readonly runs: readonly PlannedRun[];
  readonly warnings: readonly string[];
}

interface ExperimentQuestion {
  readonly command: readonly string[];
  readonly repeats: number;
  /** Where results go; counts of check runs too. */
  readonly folder: string;
  /** Iterations to count experts in, `100-200`; one more run of each router. */
  readonly record?: string;
  /** For both routers: what loads our agent, where the engine has no switch of its own. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command serves until it is stopped, and the requests are ours. */
  readonly isServer?: boolean;
}

export function planExperiment(question: ExperimentQuestion): ExperimentPlan {
  const { command, repeats, folder, record, isServer = false } = question;
  if (command.length === 0)
    throw new UserError(
      'usage',
      'No command to run was given.',
      'For example: stepscope moe experiment --dry-run -- trtllm-bench --model MODEL throughput --dataset data.txt',
    );
  if (!(Number.isInteger(repeats) && repeats >= 1 && repeats <= 50))
    throw new UserError(
      'usage',
      `${repeats} is not a valid number of repeats.`,
      'Give 1 to 50; use at least three to separate a gain from noise.',
    );
  if (record !== undefined && !/^\d+-\d+$/.test(record))
    throw new UserError(
      'usage',
      `${JSON.stringify(record)} is not a range of iterations.`,
      'For example: --record 100-200',
    );
  const warnings: string[] = [];
  const runs: PlannedRun[] = [];
  const add = (router: PlannedRun['router'], suffix: string, more: Readonly<Record<string, string>> = {}) => {
    const name = `${router}-${suffix}`;
    const env = { ...question.env, [SWITCH]: router === 'perfect' ? '1' : '0', ...more };
    const { words, warning } = withEnvironment(
      command.map(word => word.replaceAll('{run}', name)),
      env,
    );
    if (warning && !warnings.includes(warning)) warnings.push(warning);
    runs.push({ name, router, timed: Object.keys(more).length === 0, env, command: words });
  };
  for (let repeat = 1; repeat <= repeats; repeat++) {
    const order = repeat % 2 === 1 ? (['learned', 'perfect'] as const) : (['perfect', 'learned'] as const);
    for (const router of order) add(router, String(repeat));
  }
  if (record !== undefined)
    for (const router of ['learned', 'perfect'] as const)
      add(router, 'check', {
        EXPERT_STATISTIC_ITER_RANGE: record,
        EXPERT_STATISTIC_PATH: `${folder}/${router}-check-experts`,
      });
  return { runs, warnings: [...warnings, ...careful(command, repeats, isServer)] };
}

/** The command with the variables handed to its launcher; others inherit them from the environment. */
function withEnvironment(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): { words: string[]; warning?: string } {
  const [program, ...rest] = words;
  const name = program.replace(/^.*\//, '');
  const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  if (/^(mpirun|orterun|prterun)$/.test(name))
    return { words: [program, ...pairs.flatMap(pair => ['-x', pair]), ...rest] };
  if (/^mpiexec(\.hydra)?$/.test(name))
    return {
      words: [program, ...Object.entries(env).flatMap(([key, value]) => ['-genv', key, value]), ...rest],
    };
  if (name === 'srun') {
    const at = rest.findIndex(word => word.startsWith('--export='));
    if (at < 0) return { words: [program, `--export=ALL,${pairs.join(',')}`, ...rest] };
    return { words: [program, ...rest.with(at, `${rest[at]},${pairs.join(',')}`)] };
  }
  if (/^(docker|podman|nerdctl)$/.test(name) && /^(run|exec)$/.test(rest[0] ?? ''))
    return { words: [program, rest[0], ...pairs.flatMap(pair => ['-e', pair]), ...rest.slice(1)] };
  if (/^(ssh|kubectl|sbatch|pdsh)$/.test(name))
    return {
      words: [...words],
      warning: `${name} does not pass environment variables on: set ${SWITCH} inside the command it runs, and check that the perfect run was balanced.`,
    };
  return { words: [...words] };
}

function careful(command: readonly string[], repeats: number, isServer: boolean): string[] {
  const text = command.join(' ');
  const launched = /^(?:\S*\/)?(?:mpirun|orterun|prterun|mpiexec|srun)\b/.test(text);
  return [
    ...(/--(?:tp|ep|tp_size|ep_size)[= ](?!1\b)\d/.test(text) && !launched
      ? [
          `TensorRT-LLM passes only variables named TRTLLM… and TLLM… to workers it starts itself: start it with mpirun or srun so that ${SWITCH} reaches every rank, and count with --record.`,
        ]
      : []),
    ...(/--(?:report_json|output_json|request_json|iteration_log|result-filename|output-file)/.test(text) &&
    !text.includes('{run}')
      ? ['Every run writes the same result file: put {run} into its name.']
      : []),
    ...(isServer || /(?:^|\s)--(?:dataset|dataset-path|seed|random-seed)\b/.test(text)
      ? []
      : ['The command has no dataset and no seed: both routers must get the same requests.']),
    ...(repeats < 3 ? ['With fewer than three repeats, a gain cannot be distinguished from noise.'] : []),
  ];
}

export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** One line for a shell, quoted where needed. */
export function shellLine({ env, command }: PlannedRun, log: string): string {
  const settings = Object.entries(env).map(([key, value]) => `${key}=${quote(value)}`);
  return `${[...settings, ...command.map(quote)].join(' ')} > ${quote(log)} 2>&1`;
}
