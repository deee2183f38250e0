/** What writes profiles: what each profiler is called, and what is worth asking of it. */
import type { ProfilerKind } from '../model/profile.js';
import type { TableName } from '../model/schema.js';

interface Profiler {
  readonly label: string;
  /** Where there is little room. */
  readonly short: string;
  /** For a reader who wants to know what the file is. */
  readonly about: string;
  /** Tables it can record and mostly does not: worth a line when they are missing. */
  readonly mayRecord: readonly TableName[];
  /** What it needs to record worker processes too. */
  readonly workers?: string;
  /** Framework ops are traced with every call, and cost time. */
  readonly tracesOps?: true;
  /** Its clock is zero when it begins to record; events that were open then began earlier. */
  readonly startsAtZero?: true;
  /** Its ranges are those of NVTX, which other tools of NVIDIA see too. */
  readonly rangesAreNvtx?: true;
}

export const profilers: Readonly<Record<ProfilerKind, Profiler>> = {
  nsys: {
    label: 'Nsight Systems',
    short: 'nsys',
    about: 'Nsight Systems',
    mayRecord: ['osCalls', 'metricSamples'],
    workers: 'for worker processes, add --trace-fork-before-exec=true',
    startsAtZero: true,
    rangesAreNvtx: true,
  },
  kineto: {
    label: 'PyTorch profiler',
    short: 'PyTorch profiler',
    about: 'PyTorch profiler (Kineto)',
    mayRecord: ['ops'],
    tracesOps: true,
  },
  agent: {
    label: 'Stepscope agent',
    short: 'Stepscope agent',
    about: 'Stepscope agent: steps only, use it together with a capture',
    mayRecord: [],
  },
};
