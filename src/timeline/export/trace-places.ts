/** What processes, threads, GPUs and streams of a profile are called in a trace. */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';

export class TracePlaces {
  /** Of each GPU, the rank whose work it runs; NONE where there is one rank, or several share the GPU. */
  private readonly rankOfGpu: readonly number[];
  private readonly severalRanks: boolean;

  constructor(readonly profile: Profile) {
    const { processes, streams, gpus } = profile;
    this.severalRanks = new Set(processes.flatMap(({ rank }) => rank ?? [])).size > 1;
    this.rankOfGpu = gpus.map((_, gpu) => {
      const ranks = new Set(
        streams.filter(stream => stream.gpu === gpu).map(({ process }) => processes[process].rank),
      );
      const [rank] = ranks;
      return this.severalRanks && ranks.size === 1 && rank !== undefined ? rank : NONE;
    });
  }

  /** Ranks number their processes and GPUs alike: where there are several, the rank is said too. */
  rankOfProcess(process: number): number {
    return this.severalRanks ? (this.profile.processes[process].rank ?? NONE) : NONE;
  }

  rank(gpu: number): number {
    return gpu === NONE ? NONE : this.rankOfGpu[gpu];
  }

  gpuLabel(gpu: number): string {
    const { deviceId, name } = this.profile.gpus[gpu];
    const rank = this.rank(gpu);
    return `GPU ${deviceId}${rank === NONE ? '' : ` · rank ${rank}`}${name ? ` · ${name}` : ''}`;
  }
}

/** What a trace says about its machine, in the words of the PyTorch profiler. */
export function traceHead({ gpus, clock, originNs, capture }: Profile): Readonly<Record<string, unknown>> {
  return {
    schemaVersion: 1,
    deviceProperties: gpus.map(({ deviceId, name, memoryBytes, smCount, computeCapability }) => {
      const [major, minor] = (computeCapability ?? '').split('.').map(Number);
      return {
        id: deviceId,
        name,
        ...(memoryBytes ? { totalGlobalMem: memoryBytes } : {}),
        ...(smCount ? { numSms: smCount } : {}),
        ...(major ? { computeMajor: major, computeMinor: minor || 0 } : {}),
      };
    }),
    ...(capture.distributed
      ? { distributedInfo: { rank: capture.distributed.rank, world_size: capture.distributed.worldSize } }
      : {}),
    // Who recorded it: what the recording cost, and what it could record, is the profiler's.
    stepscope: { profiler: capture.profiler, profilerVersion: capture.profilerVersion },
    displayTimeUnit: 'ms',
    // As digits: a number of JavaScript would round it. Only where the file knows the time of day.
    ...(clock === 'utc' ? { baseTimeNanoseconds: String(originNs) } : {}),
  };
}
