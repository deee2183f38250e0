/** What is missing or wrong in an nsys command as it was written, and what the corrected one has instead. */
import type { CaptureOptions, PlanWarning } from './capture-plan.js';
import type { NsysWord } from './nsys-words.js';

interface Pasted {
  readonly options: readonly NsysWord[];
  readonly asked: Partial<CaptureOptions>;
  readonly outside: boolean;
}

/** An option that does nothing unless another one is given. */
const needs: readonly (readonly [option: RegExp, given: (pasted: Lookup) => boolean, what: string])[] = [
  [/^gpu-metrics-(frequency|set)$/, ({ asked }) => asked.gpuMetrics === true, '--gpu-metrics-devices'],
  [/^osrt-(threshold|backtrace)/, ({ asked }) => asked.osrt === true, 'osrt in --trace'],
  [/^(sampling-|samples-per-backtrace)/, ({ asked }) => asked.sample === true, '--sample=process-tree'],
  [/^capture-range-end$/, ({ asked }) => asked.range !== undefined, '--capture-range'],
  [/^nvtx-capture$/, ({ asked }) => asked.range === 'nvtx', '--capture-range=nvtx'],
  [
    /^python-sampling-frequency$/,
    ({ value }) => value('python-sampling') === 'true',
    '--python-sampling=true',
  ],
];

interface Lookup {
  readonly asked: Partial<CaptureOptions>;
  value(name: string): string | undefined;
}

export function judgePasted({ options, asked, outside }: Pasted): PlanWarning[] {
  const found: PlanWarning[] = [];
  const say = (severity: PlanWarning['severity'], code: string, text: string, fix: string) =>
    found.push({ code, severity, text, fix });
  const value = (name: string) => options.findLast(option => option.name === name)?.value;
  const kinds = value('trace')?.split(',') ?? ['cuda', 'opengl', 'nvtx', 'osrt'];
  const graphs = value('cuda-graph-trace');
  if (!graphs?.startsWith('node'))
    say(
      'warning',
      'graphs-hidden',
      `The pasted command hides the kernels in CUDA graphs, most of decode: ${graphs === undefined ? '--cuda-graph-trace is missing, and graph is the default' : `--cuda-graph-trace=${graphs}`}.`,
      'The corrected command has --cuda-graph-trace=node. Give --graph-trace graph to keep graphs as single blocks.',
    );
  const end = value('capture-range-end');
  if (asked.range !== undefined && (end === undefined || /shutdown/.test(end)))
    say(
      'warning',
      'range-ends-program',
      `The pasted command stops the program when the capture range ends: ${end === undefined ? '--capture-range-end is missing, and stop-shutdown is the default' : `--capture-range-end=${end}`}.`,
      'The corrected command has --capture-range-end=stop: the program continues.',
    );
  if (value('trace-fork-before-exec') === undefined)
    say(
      'note',
      'fork-not-set',
      '--trace-fork-before-exec is missing, and false is the default: forked workers are not recorded.',
      'The corrected command has --trace-fork-before-exec=true.',
    );
  for (const [kind, lost] of [
    ['cuda', 'kernels and CUDA calls'],
    ['nvtx', 'NVTX ranges, which mark the steps'],
  ] as const)
    if (!kinds.some(given => given.startsWith(kind)))
      say(
        'warning',
        `${kind}-not-traced`,
        `--trace has no ${kind}: ${lost} are not recorded.`,
        `The corrected command traces ${kind}.`,
      );
  if (value('trace') === undefined)
    say(
      'note',
      'default-traces',
      '--trace is missing: nsys then also records OS runtime calls and OpenGL, which slows the host and adds symbols.',
      'The corrected command traces cuda and nvtx. Give --osrt to keep OS runtime calls.',
    );
  if (value('sample') === undefined && asked.backtrace !== true)
    say(
      'note',
      'samples-by-default',
      '--sample is missing: nsys then samples the CPU and records thread switches, which slows the host.',
      'The corrected command has -s none. Give --sample to keep CPU samples.',
    );
  for (const { name, words } of options) {
    const rule = needs.find(([option]) => option.test(name));
    if (rule && !rule[1]({ asked, value }))
      say(
        'warning',
        'option-without-effect',
        `${words.join(' ')} has no effect without ${rule[2]}.`,
        `Add ${rule[2]}, or remove it.`,
      );
  }
  if (asked.gpuMetrics !== true)
    say(
      'note',
      'no-counters',
      'GPU counters are not recorded: thresholds for SM, tensor core and memory utilization cannot be checked.',
      'Add --gpu-metrics.',
    );
  if (/,[^,=]*(,|$)/.test(value('env-var') ?? ''))
    say(
      'warning',
      'env-split',
      'nsys splits -e at commas and rejects a value that contains one.',
      'The corrected command sets the variables in front of nsys.',
    );
  if (outside)
    say(
      'warning',
      'outside-launcher',
      'nsys stands in front of the launcher: it records only the ranks on this machine, mixed in one report.',
      'The corrected command starts one nsys per rank.',
    );
  return found;
}
