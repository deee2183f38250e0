/** The words after `nsys profile`, each with its reason. */
import type { CaptureOptions, PlanReason } from './capture-plan.js';
import type { EnginePart } from './engine-part.js';
import type { NsysFeatures } from './nsys-versions.js';
import { readNsysWords } from './nsys-words.js';

interface NsysQuestion {
  readonly options: CaptureOptions;
  readonly features: NsysFeatures;
  readonly part: EnginePart;
  readonly output: string;
  readonly graphTrace: 'node' | 'graph';
  readonly traceFork: boolean;
  readonly cpuSampling: boolean;
  /** Each rank has its own nsys. */
  readonly perRank: boolean;
}

export function nsysArguments(question: NsysQuestion): { args: string[]; why: PlanReason[] } {
  const { options, features, part, output, traceFork, cpuSampling } = question;
  const why: PlanReason[] = [];
  const args: string[] = [];
  const given = new Set(options.nsysArgs?.map(({ name }) => name));
  const add = (words: readonly string[], reason: string) => {
    if (given.has(readNsysWords(words).options[0].name)) return;
    args.push(...words);
    why.push({ what: words.join(' '), why: reason });
  };

  add(['-o', output], output.includes('%q{') ? 'the report, one per rank' : 'the report, as .nsys-rep');
  if (options.force) add(['-f', 'true'], 'overwrites an existing report');
  add(['-t', traces(question)], 'only these event types');
  const range = part.opensRange ? 'cudaProfilerApi' : options.range;
  if (range !== undefined) {
    add(
      ['-c', range],
      part.opensRange
        ? 'starts recording when the engine opens the range'
        : 'starts recording when the program opens the range',
    );
    const asked = part.opensRange ? 'stop' : (options.rangeEnd ?? 'stop');
    const end = (part.ranges ?? 1) > 1 ? `repeat:${part.ranges}` : asked;
    if (!features.rangeEnd) add(['--stop-on-range-end=true'], 'stops recording at the end of the range');
    else if (end === 'stop')
      add(
        ['--capture-range-end=stop'],
        'the program continues; by default nsys stops it when the range ends',
      );
    else
      add(
        [`--capture-range-end=${end}`],
        end === 'none'
          ? 'recording continues after the range'
          : 'one report per range, and the program continues',
      );
  }
  if (options.delayS !== undefined)
    add(['-y', String(options.delayS)], 'seconds to wait first: loading and warm-up');
  if (options.durationS !== undefined) {
    // With --kill=none nsys returns at once and leaves the program running behind, without its terminal.
    add(['-d', String(options.durationS)], 'seconds to record; nsys then stops the program');
  }
  if (features.graphTrace)
    add(
      [`--cuda-graph-trace=${question.graphTrace}`],
      question.graphTrace === 'node'
        ? 'records each kernel in CUDA graphs; the default hides them'
        : 'records CUDA graphs as single blocks, with the lowest overhead',
    );
  add(
    [`--trace-fork-before-exec=${traceFork}`],
    traceFork ? 'follows forked workers' : 'does not follow forked workers',
  );
  if (cpuSampling) add(['-s', 'process-tree'], 'samples the CPU; backtraces need it');
  else {
    add(['-s', 'none'], 'no CPU samples: they slow the host and enlarge the report');
    add(['--cpuctxsw=none'], 'no thread switches: they alone add 2 GB of symbols');
  }
  if (options.sample && features.pythonSampling)
    add(['--python-sampling=true'], 'samples Python stacks: they name host code');
  if (options.backtrace) {
    add(['--cudabacktrace=kernel:0'], 'the call stack of each kernel launch, including short calls');
    if (features.pythonBacktrace) add(['--python-backtrace=cuda'], 'with Python frames');
  }
  if (options.cudaMemory) add(['--cuda-memory-usage=true'], 'GPU memory over time');
  if (options.gpuMetrics) add([metrics(question)], 'SM, tensor core and DRAM metrics at 10 kHz');
  for (const { words } of options.nsysArgs ?? []) {
    args.push(...words);
    why.push({ what: words.join(' '), why: 'as given for nsys' });
  }
  return { args, why };
}

function traces({ options, features }: NsysQuestion): string {
  return [
    'cuda',
    ...(options.nvtx === false ? [] : ['nvtx']),
    ...(options.gil && features.gil ? ['python-gil'] : []),
    ...(options.osrt ? ['osrt'] : []),
    ...(options.cublas ? ['cublas', 'cudnn'] : []),
    ...(options.traces ?? []),
  ].join(',');
}

/** Under a launcher each rank samples the GPUs it sees: with one GPU per rank that is its own. */
function metrics({ options, features, perRank }: NsysQuestion): string {
  const devices = options.gpuMetricsDevices;
  if (devices !== undefined) return `--gpu-metrics-device${features.gpuMetricsDevices ? 's' : ''}=${devices}`;
  if (!features.gpuMetricsDevices) return `--gpu-metrics-device=${perRank ? 'all' : '0'}`;
  return `--gpu-metrics-devices=${perRank ? 'cuda-visible' : 'all'}`;
}
