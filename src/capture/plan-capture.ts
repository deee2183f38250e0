/** From options and facts to a plan. Pure: what it needs to know of the machine is handed in. */
import { UserError } from '../base/user-error.js';
import { type PresetName, presets } from '../catalog/engine-programs.js';
import { reportStem } from '../catalog/file-formats.js';
import type {
  CaptureOptions,
  CapturePlan,
  PlanFacts,
  PlanOutput,
  PlanReason,
  PlanStep,
  PlanWarning,
} from './capture-plan.js';
import { checkPlan } from './checks.js';
import { chosenRanks } from './chosen-ranks.js';
import { planNim, planPython, planTgi } from './engine-others.js';
import type { EnginePart, EngineQuestion } from './engine-part.js';
import { planSglang } from './engine-sglang.js';
import { planTrtllm } from './engine-trtllm.js';
import { planVllm } from './engine-vllm.js';
import { estimateCapture } from './estimate.js';
import { forwarding, readLaunch, textOf } from './launchers.js';
import { nsysArguments } from './nsys-arguments.js';
import { nsysFeatures } from './nsys-versions.js';
import { readProgram } from './read-command.js';
import { questionedSwitches, reasonOf } from './switches.js';
import { demandOf } from './window-goal.js';

/** How each engine is asked. A new engine is one line here and one file. */
const engines: Readonly<Record<PresetName, (question: EngineQuestion) => EnginePart>> = {
  'trtllm-bench': planTrtllm,
  'trtllm-serve': planTrtllm,
  vllm: planVllm,
  sglang: planSglang,
  tgi: planTgi,
  nim: planNim,
  python: planPython,
};

/** Loading a large model takes its time. */
const READY_TIMEOUT_S = 1800;

export function planCapture(options: CaptureOptions, facts: PlanFacts = {}): CapturePlan {
  if (options.command.length === 0)
    throw new UserError(
      'usage',
      'No command was given.',
      'For example: stepscope capture --iterations 100-150 -- trtllm-bench --model … throughput --dataset …',
    );
  const launch = readLaunch(options.command);
  const program = readProgram(launch.program, options.preset);
  const url = options.serverUrl ?? `http://${program.address ?? `localhost:${presets[program.preset].port}`}`;
  const part = engines[program.preset]({ options, facts, program, launch, url });
  if (options.calibrate && !part.calibration)
    throw new UserError(
      'usage',
      options.iterations
        ? '--calibrate needs --agent, without --preset: only the agent notes the times of steps that no profiler records.'
        : '--calibrate needs --iterations: both runs must be about the same steps.',
      options.iterations ? 'Add --agent and remove --preset.' : 'Add --iterations A-B.',
    );
  const features = nsysFeatures(facts.nsysVersion);
  const graphTrace = options.graphTrace ?? 'node';
  const traceFork = options.traceFork ?? true;
  const cpuSampling = Boolean(options.sample || options.backtrace);
  const inside = textOf(launch.program, [
    '--tp_size',
    '--tp',
    '--tensor-parallel-size',
    '-tp',
    '--tp-size',
    '--num-shard',
  ]);
  const ranks = options.ranks ?? launch.ranks ?? (inside && /^\d+$/.test(inside) ? Number(inside) : 1);
  const chosen = chosenRanks(options.onlyRanks, launch);
  const reports = launch.kind === 'none' ? 1 : (chosen.count ?? ranks);
  const estimate = estimateCapture({
    // Iterations that nobody counts bound nothing.
    options: { ...options, iterations: boundsOf(options, part) },
    program,
    ranks,
    reports,
    graphTrace,
    cpuSampling,
  });

  const output = outputName(options.output ?? 'trace', launch.rankVariable);
  const nsys = nsysArguments({
    options,
    features,
    part,
    output,
    graphTrace,
    traceFork,
    cpuSampling,
    perRank: launch.kind !== 'none',
  });
  const env = { ...options.env, ...part.env };
  const names = Object.keys(env);
  const handed = forwarding(launch, names);
  const { calibration } = part;
  // nsys resolves %q{…} itself, so it stands where the launcher has set the rank's number.
  const wrapped = part.torchInstead ? [] : [options.nsys ?? facts.nsys ?? 'nsys', 'profile', ...nsys.args];
  const launched = (forwarded: readonly string[]) => [
    ...launch.before.slice(0, 1),
    ...forwarded,
    ...launch.before.slice(1),
  ];
  const before = [...launched(handed), ...(part.torchInstead ? [] : chosen.words)];

  const outputs: PlanOutput[] = part.torchInstead
    ? []
    : [reportOutput(output, rangesOf(part, options), reports)];
  const why: PlanReason[] = [
    ...(part.torchInstead ? [] : [...nsys.why, ...chosen.why]),
    ...part.why,
    ...Object.keys(options.env ?? {})
      .filter(name => part.env[name] === undefined)
      .map(name => reasonOf(name, env[name])),
    ...(handed.length > 0
      ? [{ what: handed.join(' '), why: 'mpirun passes only the variables listed with -x' }]
      : []),
    ...(launch.kind === 'torchrun'
      ? [
          {
            what: '--no-python',
            why: part.torchInstead
              ? 'torchrun starts the command unchanged'
              : 'torchrun starts nsys per rank, and nsys starts Python',
          },
        ]
      : []),
  ];
  return {
    preset: program.preset,
    engine: program.engine.label,
    profiler: part.torchInstead ? 'torch' : 'nsys',
    server: program.server,
    command: [...before, ...wrapped, ...launch.program, ...part.args],
    nsysAt: part.torchInstead ? -1 : before.length,
    programAt: before.length + wrapped.length,
    env,
    ...(part.optionalEnv.length > 0 ? { optionalEnv: part.optionalEnv } : {}),
    ...(part.files.length > 0 ? { files: part.files } : {}),
    exitCodes: options.durationS !== undefined && !part.torchInstead ? [0, 143] : [0],
    outputs: [...outputs, ...part.outputs],
    steps: stepsOf(program.server, part, url, options.durationS !== undefined),
    why,
    warnings: [
      ...questionedSwitches(options.env ?? {}, program.engine, facts.engineVersion),
      ...checkPlan({
        options,
        facts,
        program,
        launch,
        part,
        features,
        estimate,
        ranks,
        graphTrace,
        traceFork,
        cpuSampling,
      }),
    ],
    estimate,
    ...(calibration
      ? {
          calibration: {
            ...calibration,
            env: { ...options.env, ...calibration.env },
            command: [
              ...launched(forwarding(launch, Object.keys({ ...options.env, ...calibration.env }))),
              ...launch.program,
              ...part.args,
            ],
          },
        }
      : {}),
  };
}

function boundsOf(options: CaptureOptions, part: EnginePart): CaptureOptions['iterations'] {
  const demand = demandOf(options);
  if (demand && part.byRequest) return [{ first: 0, last: demand.steps - 1 }];
  return part.opensRange || part.torchInstead ? options.iterations : undefined;
}

/** With what was found in the command before it was planned, the worst first; the same code once. */
export function withWarnings(plan: CapturePlan, found: readonly PlanWarning[]): CapturePlan {
  if (found.length === 0) return plan;
  const severities = ['error', 'warning', 'note'];
  const warnings = [...plan.warnings, ...found].sort(
    (a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity),
  );
  return { ...plan, warnings };
}

/** nsys adds the extension; a name that has it already would lose it in the reports of several ranges. */
function outputName(asked: string, rankVariable: string | undefined): string {
  const name = reportStem(asked);
  if (rankVariable === undefined || name.includes('%q{') || name.includes('%p')) return name;
  return `${name}.rank%q{${rankVariable}}`;
}

/** A range that the program opens itself may repeat as often as the pasted command says, or without a limit. */
function rangesOf(part: EnginePart, { rangeEnd }: CaptureOptions): number {
  const repeats = part.opensRange ? undefined : /^repeat[\w-]*(?::(\d+))?$/.exec(rangeEnd ?? '');
  if (!repeats) return part.ranges ?? 1;
  return repeats[1] === undefined ? Number.POSITIVE_INFINITY : Number(repeats[1]);
}

function reportOutput(output: string, ranges: number, reports: number): PlanOutput {
  return {
    kind: 'nsys-report',
    pattern: ranges > 1 ? `${output}.*.nsys-rep` : `${output}.nsys-rep`,
    ...(Number.isFinite(ranges) ? { count: ranges * reports } : {}),
    ...(ranges > 1 ? { note: `one per range: ${output}.1.nsys-rep …` } : {}),
  };
}

function stepsOf(server: boolean, part: EnginePart, url: string, timed: boolean): PlanStep[] {
  if (!server) return [{ do: 'start' }, { do: 'wait-exit' }];
  const steps: PlanStep[] = [
    { do: 'start' },
    { do: 'wait-http', url: `${url}/health`, timeoutS: READY_TIMEOUT_S },
  ];
  const bounded = part.opensRange || part.torchInstead || timed;
  if (part.steps.length > 0) steps.push(...part.steps);
  else
    steps.push({
      do: 'load',
      why: bounded ? 'until the window has ended' : 'for the whole recording time',
    });
  const wait: PlanStep = {
    do: 'wait-reports',
    why:
      bounded && !timed
        ? 'written when the window closes; do not stop the server earlier'
        : 'written after the program has ended',
  };
  const stop: PlanStep = {
    do: 'stop',
    signal: 'SIGINT',
    why: bounded
      ? 'it is no longer needed'
      : 'this ends the capture; killing the server would lose the report',
  };
  // After a duration nsys ends the server itself.
  if (timed && !part.opensRange && !part.torchInstead) steps.push({ do: 'wait-exit' }, wait);
  else steps.push(...(bounded ? [wait, stop] : [stop, wait]));
  return steps;
}
