/** The words after `nsys profile`, each with its reason. */
import type { CaptureOptions, PlanReason } from './capture-plan.js';
import type { EnginePart } from './engine-part.js';
import type { NsysFeatures } from './nsys-versions.js';

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
  const add = (words: readonly string[], reason: string) => {
    args.push(...words);
    why.push({ what: words.join(' '), why: reason });
  };

  add(['-o', output], output.includes('%q{') ? 'the report, one per rank' : 'the report, as .nsys-rep');
  if (options.force) add(['-f', 'true'], 'overwrites an older one');
  add(['-t', traces(question)], 'what to record, and nothing else');
  if (part.opensRange) {
    add(['-c', 'cudaProfilerApi'], 'waits until the engine opens the range');
    const end = (part.ranges ?? 1) > 1 ? `repeat:${part.ranges}` : 'stop';
    if (!features.rangeEnd) add(['--stop-on-range-end=true'], 'ends with the range');
    else if (end === 'stop')
      add(
        ['--capture-range-end=stop'],
        'the program runs on; without it nsys ends the program with the range',
      );
    else add([`--capture-range-end=${end}`], 'a report per range, and the program runs on');
  }
  if (options.delayS !== undefined)
    add(['-y', String(options.delayS)], 'seconds to let pass first: loading and warm-up');
  if (options.durationS !== undefined) {
    // With --kill=none nsys returns at once and leaves the program running behind, without its terminal.
    add(['-d', String(options.durationS)], 'seconds to record; nsys then ends the program');
  }
  if (features.graphTrace)
    add(
      [`--cuda-graph-trace=${question.graphTrace}`],
      question.graphTrace === 'node'
        ? 'kernels inside CUDA graphs one by one; the default hides them'
        : 'CUDA graphs as blocks, at least cost',
    );
  add(
    [`--trace-fork-before-exec=${traceFork}`],
    traceFork ? 'follows workers that are forked' : 'forked workers are left alone',
  );
  if (cpuSampling) add(['-s', 'process-tree'], 'samples the CPU; backtraces need it');
  else {
    add(['-s', 'none'], 'no CPU samples: they slow the host and swell the report');
    add(['--cpuctxsw=none'], 'no thread switches: they alone bring 2 GB of symbols along');
  }
  if (options.backtrace) {
    add(['--cudabacktrace=kernel:0'], 'who launched each kernel, short calls too');
    if (features.pythonBacktrace) add(['--python-backtrace=cuda'], 'with Python frames');
  }
  if (options.cudaMemory) add(['--cuda-memory-usage=true'], 'GPU memory over time');
  if (options.gpuMetrics)
    add([metrics(question)], 'SM, tensor core and DRAM counters, ten thousand times a second');
  return { args, why };
}

function traces({ options, features }: NsysQuestion): string {
  return [
    'cuda',
    ...(options.nvtx === false ? [] : ['nvtx']),
    ...(options.gil && features.gil ? ['python-gil'] : []),
    ...(options.osrt ? ['osrt'] : []),
    ...(options.cublas ? ['cublas', 'cudnn'] : []),
  ].join(',');
}

/** Under a launcher each rank samples the GPUs it sees: with one GPU per rank that is its own. */
function metrics({ features, perRank }: NsysQuestion): string {
  if (!features.gpuMetricsDevices) return `--gpu-metrics-device=${perRank ? 'all' : '0'}`;
  return `--gpu-metrics-devices=${perRank ? 'cuda-visible' : 'all'}`;
}
