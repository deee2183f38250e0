/** What will spoil a capture, said before it is taken. Each check is one question about the plan. */
import { formatBytes } from '../base/units.js';
import type { CaptureOptions, PlanEstimate, PlanFacts, PlanWarning } from './capture-plan.js';
import type { EnginePart } from './engine-part.js';
import type { Launch } from './launchers.js';
import type { NsysFeatures } from './nsys-versions.js';
import type { Program } from './read-command.js';
import { formatVersion } from './versions.js';

interface Checked {
  readonly options: CaptureOptions;
  readonly facts: PlanFacts;
  readonly program: Program;
  readonly launch: Launch;
  readonly part: EnginePart;
  readonly features: NsysFeatures;
  readonly estimate: PlanEstimate;
  readonly ranks: number;
  readonly graphTrace: 'node' | 'graph';
  readonly traceFork: boolean;
  readonly cpuSampling: boolean;
}

/** Steps before this one compile, tune and fill caches; the guides say 10 to 50. */
const WARM_STEPS = 10;
const FEW_STEPS = 20;
const MANY_STEPS = 500;

const warning = (code: string, text: string, fix: string): PlanWarning => ({
  code,
  severity: 'warning',
  text,
  fix,
});
const error = (code: string, text: string, fix: string): PlanWarning => ({
  ...warning(code, text, fix),
  severity: 'error',
});
const note = (code: string, text: string, fix: string): PlanWarning => ({
  ...warning(code, text, fix),
  severity: 'note',
});

export function checkPlan(checked: Checked): PlanWarning[] {
  const found = [
    ...whatIsWrapped(checked),
    ...checked.part.warnings,
    ...(checked.part.torchInstead
      ? torchWeight(checked.options)
      : [...theWindow(checked), ...nsysTraps(checked)]),
    ...(checked.part.torchInstead ? [] : rights(checked)),
    ...space(checked),
  ];
  const order = { error: 0, warning: 1, note: 2 };
  return found.sort((a, b) => order[a.severity] - order[b.severity]);
}

function* whatIsWrapped({ program }: Checked): Iterable<PlanWarning> {
  if (program.client !== undefined)
    yield error(
      'client-profiled',
      `${program.client} only sends requests: the report would hold the client and no GPU work.`,
      'Wrap the server (trtllm-serve, vllm serve, sglang.launch_server …) and run the client beside it, without nsys.',
    );
  if (program.container !== undefined)
    yield error(
      'container-not-followed',
      `nsys cannot follow ${program.container} into a container: what runs there is not its child.`,
      'Run nsys inside the container, in front of the engine; it needs --cap-add=SYS_ADMIN for GPU metrics.',
    );
}

function* theWindow({ options, part, program }: Checked): Iterable<PlanWarning> {
  const { iterations, durationS, delayS } = options;
  if (iterations && durationS !== undefined)
    yield warning(
      'two-windows',
      'Both iterations and a duration were given: whichever ends first ends the capture.',
      'Give one of them.',
    );
  if (durationS === undefined && !part.opensRange)
    yield warning(
      'whole-run',
      'The whole run would be recorded: loading, warm-up, all requests. Such reports are slow to open and hard to read.',
      program.engine.windowByVariable
        ? 'Give --iterations A-B, for example --iterations 100-150.'
        : 'Give --iterations A-B where the engine supports it, else --delay and --duration.',
    );
  if (!iterations && durationS !== undefined && delayS === undefined)
    yield warning(
      'warm-up-inside',
      'Recording starts with the program: the window holds loading and warm-up.',
      'Give --delay of at least the time until requests run.',
    );
  if (!iterations) return;
  const first = iterations[0].first;
  if (first < WARM_STEPS && !program.engine.countsFromProfile)
    yield warning(
      'warm-up-inside',
      `Iteration ${first} is among the first ${WARM_STEPS}, which compile, tune and fill caches.`,
      'Begin at 20 or later, better at 100.',
    );
  const steps = iterations.reduce((sum, span) => sum + span.last - span.first + 1, 0);
  if (steps < FEW_STEPS)
    yield note(
      'too-few-steps',
      `${steps} steps are too few for percentiles and rare stalls.`,
      'Capture 20 to 100.',
    );
  if (steps > MANY_STEPS)
    yield warning(
      'too-many-steps',
      `${steps} steps make a large report and tell little more than 100.`,
      'Capture 20 to 100.',
    );
}

function* nsysTraps(checked: Checked): Iterable<PlanWarning> {
  const { options, facts, features, graphTrace, traceFork, ranks, launch } = checked;
  const version = facts.nsysVersion ? `nsys ${formatVersion(facts.nsysVersion)}` : 'this nsys';
  if (facts.nsysMissing)
    yield note(
      'nsys-missing',
      'nsys was not found on this machine; the plan is for one that has it.',
      'Install Nsight Systems (apt install nsight-systems-cli from NVIDIA’s repository), or name it with NSYS.',
    );
  if (graphTrace === 'graph')
    yield warning(
      'graphs-as-blocks',
      'CUDA graphs are recorded as blocks: the kernels inside, most of decode, stay hidden.',
      'Leave out --graph-trace graph; use it only to check how much node tracing costs.',
    );
  if (!features.graphTrace)
    yield note(
      'graph-trace-missing',
      `${version} has no --cuda-graph-trace; it records nodes one by one anyway.`,
      'Nothing to do.',
    );
  if (options.gil && !features.gil)
    yield error(
      'gil-missing',
      `${version} cannot trace the GIL: python-gil was left out.`,
      'Install Nsight Systems 2023.4 or newer.',
    );
  if (options.backtrace && !features.pythonBacktrace)
    yield warning(
      'python-backtrace-missing',
      `${version} has no --python-backtrace: only native frames are recorded.`,
      'Install Nsight Systems 2023.1 or newer.',
    );
  if (!features.rangeEnd && checked.part.opensRange)
    yield warning(
      'old-range-end',
      `${version} has no --capture-range-end: the program may be ended with the range, and only one range is recorded.`,
      'Install a newer Nsight Systems.',
    );
  if (!traceFork)
    yield warning(
      'fork-not-followed',
      'Processes that fork without starting a program are not followed; engines run their workers in such.',
      'Leave out --no-trace-fork unless the program hangs under nsys.',
    );
  if (options.gpuMetrics && launch.kind !== 'none' && ranks > 1)
    yield warning(
      'several-metric-users',
      'Each rank’s nsys samples every GPU the rank sees, and only one may at a time: where ranks see all GPUs, all but one fail.',
      'Leave each rank its own GPU (CUDA_VISIBLE_DEVICES), or sample from one nsys per machine: nsys profile --gpu-metrics-devices=all sleep 60.',
    );
  else if (options.gpuMetrics)
    yield note(
      'metrics-exclusive',
      'GPU metrics fail while another tool holds the counters (dcgm-exporter, a second nsys).',
      'dcgmi profile --pause, and --resume afterwards.',
    );
  if (options.backtrace)
    yield warning(
      'backtraces',
      'Backtraces switch CPU sampling on and can double the time of launches.',
      'Use them to find who launches what, not to measure.',
    );
  if (options.osrt)
    yield note(
      'osrt-symbols',
      'With OS calls nsys takes the symbols of every library along: 2 GB and a minute more for a program that loads PyTorch.',
      'Leave out --osrt unless locks and waits of the operating system are what you look for.',
    );
  if (launch.exports !== undefined && !/\bALL\b/.test(launch.exports))
    yield error(
      'srun-export',
      `srun --export=${launch.exports} hands on only what it lists: the variables of this plan do not reach the ranks.`,
      'Use --export=ALL, or add their names.',
    );
}

function* rights({ options, facts, cpuSampling }: Checked): Iterable<PlanWarning> {
  if (facts.root) return;
  const paranoid = facts.perfEventParanoid;
  if (cpuSampling && paranoid !== undefined && paranoid > 2)
    yield error(
      'no-cpu-sampling',
      `perf_event_paranoid is ${paranoid}: the CPU cannot be sampled.`,
      'sudo sysctl kernel.perf_event_paranoid=2, or leave out --sample and --backtrace.',
    );
  if (options.gpuMetrics && facts.adminOnlyCounters)
    yield error(
      'no-gpu-counters',
      'GPU counters are for administrators only (RmProfilingAdminOnly: 1).',
      'Run as root (in a container: --cap-add=SYS_ADMIN), or load the driver with NVreg_RestrictProfilingToAdminUsers=0.',
    );
}

function* torchWeight(options: CaptureOptions): Iterable<PlanWarning> {
  if (options.torchShapes && options.torchStack && options.torchMemory)
    yield warning(
      'torch-everything',
      'Shapes, stacks and memory together make traces of gigabytes and slow the host several times.',
      'Take one of them, for a few steps.',
    );
  else if (options.torchStack)
    yield note(
      'torch-stacks',
      'Stacks are most of a trace’s size and slow the host down.',
      'Take few steps with them.',
    );
}

function* space({ facts, estimate, part }: Checked): Iterable<PlanWarning> {
  if (part.torchInstead) return;
  const { freeBytes, temporaryFreeBytes } = facts;
  if (freeBytes !== undefined && freeBytes < estimate.bytes + estimate.temporaryBytes)
    yield error(
      'too-little-disk',
      `${formatBytes(freeBytes)} are free where the report goes, about ${formatBytes(estimate.bytes + estimate.temporaryBytes)} are needed while it is written.`,
      'Choose another -o, or a shorter window.',
    );
  if (temporaryFreeBytes !== undefined && temporaryFreeBytes < estimate.temporaryBytes)
    yield warning(
      'too-little-temporary',
      `${formatBytes(temporaryFreeBytes)} are free for temporary files; nsys may need ${formatBytes(estimate.temporaryBytes)}.`,
      'Set TMPDIR to a folder with more room.',
    );
}
