/** What will spoil a capture, said before it is taken. Each check is one question about the plan. */
import { formatBytes } from '../base/units.js';
import { ROUTER_VARIABLE } from '../catalog/engine-switches.js';
import type { CaptureOptions, PlanEstimate, PlanFacts, PlanWarning } from './capture-plan.js';
import type { EnginePart } from './engine-part.js';
import type { Launch } from './launchers.js';
import type { NsysFeatures } from './nsys-versions.js';
import type { Program } from './read-command.js';
import { formatVersion } from './versions.js';
import { demandOf } from './window-goal.js';

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
    ...withoutEffect(checked),
    ...checked.part.warnings,
    ...demanded(checked),
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
      `${program.client} only sends requests: the report would contain the client and no GPU work.`,
      'Wrap the server (trtllm-serve, vllm serve, sglang.launch_server …) and run the client separately, without nsys.',
    );
  if (program.container !== undefined)
    yield error(
      'container-not-followed',
      `nsys cannot follow ${program.container} into a container: processes there are not its children.`,
      'Run nsys inside the container, in front of the engine; it needs --cap-add=SYS_ADMIN for GPU metrics.',
    );
}

function* withoutEffect({ options, program, part }: Checked): Iterable<PlanWarning> {
  const byAgent = program.preset === 'python' && options.agent !== undefined;
  if (options.perfectRouter && part.env[ROUTER_VARIABLE] === undefined)
    yield error(
      'router-ignored',
      `--perfect-router has no effect on ${program.preset === 'python' ? 'this program' : program.engine.label}: the capture would show the learned routing.`,
      'Add --agent: it balances the routers of vLLM, SGLang and transformers (docs/agent.md).',
    );
  if (options.nvtxDebug && !program.engine.debugRanges && !byAgent)
    yield warning(
      'nvtx-debug-ignored',
      `--nvtx-debug has no effect on ${program.preset === 'python' ? 'this program' : program.engine.label}: it has no debug ranges to turn on.`,
      'For Python programs, --agent --nvtx-debug marks layers, experts and sampling. Otherwise remove it.',
    );
}

/** A window that opens by what the engine reports needs a server that opens one when asked. */
function* demanded({ options, part, program }: Checked): Iterable<PlanWarning> {
  const demand = demandOf(options);
  if (!demand || part.byRequest || part.warnings.some(({ severity }) => severity === 'error')) return;
  const what = program.preset === 'python' ? 'This program' : program.engine.label;
  yield error(
    'window-by-request',
    program.server || program.preset === 'python'
      ? `${what} does not open a window on request, so ${demand.words} is not possible.`
      : `${demand.words} needs a server: this command runs its own load, and nobody can open a window in it.`,
    program.engine.windowByVariable
      ? 'Give --iterations A-B.'
      : 'Capture the server of TensorRT-LLM 1.3, vLLM or SGLang, or give --delay and --duration.',
  );
}

function* theWindow({ options, part, program }: Checked): Iterable<PlanWarning> {
  const { iterations, durationS, delayS } = options;
  if (iterations && durationS !== undefined)
    yield warning(
      'two-windows',
      'Both iterations and a duration are set: the capture ends with whichever comes first.',
      'Give one of them.',
    );
  if (options.range !== undefined && !part.opensRange && program.engine.windowByVariable)
    yield error(
      'never-opens-range',
      `${program.engine.label} opens the capture range only if TLLM_PROFILE_START_STOP is set: the report would be empty.`,
      'Give --iterations A-B, for example --iterations 100-150.',
    );
  else if (options.range === 'cudaProfilerApi' && !part.opensRange)
    yield warning(
      'must-open-range',
      'Nothing is recorded unless the program calls cudaProfilerStart and cudaProfilerStop.',
      'Give --iterations A-B if the engine supports it, add --agent, or make the calls in the program.',
    );
  else if (durationS === undefined && !part.opensRange && options.range === undefined)
    yield warning(
      'whole-run',
      'The capture would record the whole run: loading, warm-up and all requests. Such reports are slow to open and hard to read.',
      program.engine.windowByVariable
        ? 'Give --iterations A-B, for example --iterations 100-150.'
        : 'Give --iterations A-B if the engine supports it, otherwise --delay and --duration.',
    );
  if (!iterations && durationS !== undefined && delayS === undefined)
    yield warning(
      'warm-up-inside',
      'Recording starts with the program: the window includes loading and warm-up.',
      'Set --delay to at least the time until the first requests run.',
    );
  if (!iterations) return;
  const first = iterations[0].first;
  if (first < WARM_STEPS && !program.engine.countsFromProfile)
    yield warning(
      'warm-up-inside',
      `Iteration ${first} is among the first ${WARM_STEPS}, which include compilation, autotuning and cold caches.`,
      'Start at iteration 20 or later, preferably 100.',
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
      `${steps} steps make a large report and show little more than 100 steps.`,
      'Capture 20 to 100.',
    );
}

function* nsysTraps(checked: Checked): Iterable<PlanWarning> {
  const { options, facts, features, graphTrace, traceFork, ranks, launch } = checked;
  const version = facts.nsysVersion ? `nsys ${formatVersion(facts.nsysVersion)}` : 'this nsys';
  if (facts.nsysMissing)
    yield note(
      'nsys-missing',
      'nsys was not found on this machine; the plan is for a machine that has it.',
      'Install Nsight Systems (apt install nsight-systems-cli from NVIDIA’s repository), or set NSYS to its path.',
    );
  if (graphTrace === 'graph')
    yield warning(
      'graphs-as-blocks',
      'CUDA graphs are recorded as single blocks: the kernels inside, most of decode, are hidden.',
      'Remove --graph-trace graph; use it only to measure the overhead of node tracing.',
    );
  if (!features.graphTrace)
    yield note(
      'graph-trace-missing',
      `${version} does not support --cuda-graph-trace; it always records individual nodes.`,
      'No action is needed.',
    );
  if (options.gil && !features.gil)
    yield error(
      'gil-missing',
      `${version} cannot trace the GIL: python-gil is not recorded.`,
      'Install Nsight Systems 2023.4 or newer.',
    );
  if (options.backtrace && !features.pythonBacktrace)
    yield warning(
      'python-backtrace-missing',
      `${version} does not support --python-backtrace: only native frames are recorded.`,
      'Install Nsight Systems 2023.1 or newer.',
    );
  if (!features.rangeEnd && checked.part.opensRange)
    yield warning(
      'old-range-end',
      `${version} does not support --capture-range-end: nsys may stop the program when the range ends, and records only one range.`,
      'Install a newer Nsight Systems.',
    );
  if (!traceFork)
    yield warning(
      'fork-not-followed',
      'nsys does not follow processes that fork without exec; engines run their workers in such processes.',
      'Remove --no-trace-fork unless the program hangs under nsys.',
    );
  if (options.gpuMetrics && launch.kind !== 'none' && ranks > 1)
    yield warning(
      'several-metric-users',
      'The nsys of each rank samples every visible GPU, but only one nsys can sample a GPU at a time. If ranks see all GPUs, all but one fail.',
      'Give each rank its own GPU (CUDA_VISIBLE_DEVICES), or sample with one nsys per machine: nsys profile --gpu-metrics-devices=all sleep 60.',
    );
  else if (options.gpuMetrics)
    yield note(
      'metrics-exclusive',
      'GPU metrics fail while another tool uses the counters (dcgm-exporter, a second nsys).',
      'Run dcgmi profile --pause before the capture and dcgmi profile --resume afterwards.',
    );
  if (options.backtrace)
    yield warning(
      'backtraces',
      'Backtraces turn on CPU sampling and can double kernel launch time.',
      'Use them to find the code that launches each kernel, not to measure time.',
    );
  if (options.osrt)
    yield note(
      'osrt-symbols',
      'With OS runtime tracing, nsys stores the symbols of every library: 2 GB and one minute more for a program that loads PyTorch.',
      'Remove --osrt unless you are investigating OS locks and waits.',
    );
  if (launch.exports !== undefined && !/\bALL\b/.test(launch.exports))
    yield error(
      'srun-export',
      `srun --export=${launch.exports} passes only the listed variables: the variables of this plan do not reach the ranks.`,
      'Use --export=ALL, or add their names.',
    );
}

function* rights({ options, facts, cpuSampling }: Checked): Iterable<PlanWarning> {
  if (facts.root) return;
  const paranoid = facts.perfEventParanoid;
  if (cpuSampling && paranoid !== undefined && paranoid > 2)
    yield error(
      'no-cpu-sampling',
      `perf_event_paranoid is ${paranoid}: CPU sampling is not possible.`,
      'Run sudo sysctl kernel.perf_event_paranoid=2, or remove --sample and --backtrace.',
    );
  if (options.gpuMetrics && facts.adminOnlyCounters)
    yield error(
      'no-gpu-counters',
      'GPU performance counters are restricted to administrators (RmProfilingAdminOnly: 1).',
      'Run as root (in a container: --cap-add=SYS_ADMIN), or load the driver with NVreg_RestrictProfilingToAdminUsers=0.',
    );
}

function* torchWeight(options: CaptureOptions): Iterable<PlanWarning> {
  if (options.torchShapes && options.torchStack && options.torchMemory)
    yield warning(
      'torch-everything',
      'Shapes, stacks and memory together produce traces of several gigabytes and slow the host several times.',
      'Record one of them, for a few steps.',
    );
  else if (options.torchStack)
    yield note(
      'torch-stacks',
      'Stacks make up most of the trace size and slow the host.',
      'Record only a few steps with stacks.',
    );
}

function* space({ facts, estimate, part }: Checked): Iterable<PlanWarning> {
  if (part.torchInstead) return;
  const { freeBytes, temporaryFreeBytes } = facts;
  if (freeBytes !== undefined && freeBytes < estimate.bytes + estimate.temporaryBytes)
    yield error(
      'too-little-disk',
      `The report folder has ${formatBytes(freeBytes)} free; writing the report needs about ${formatBytes(estimate.bytes + estimate.temporaryBytes)}.`,
      'Choose another -o, or a shorter window.',
    );
  if (temporaryFreeBytes !== undefined && temporaryFreeBytes < estimate.temporaryBytes)
    yield warning(
      'too-little-temporary',
      `The temporary folder has ${formatBytes(temporaryFreeBytes)} free; nsys may need ${formatBytes(estimate.temporaryBytes)}.`,
      'Set TMPDIR to a folder with more free space.',
    );
}
