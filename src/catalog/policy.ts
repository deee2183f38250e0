/**
 * Thresholds of the findings, in one place, each with where it comes from. A user's file may override any of them:
 * `{"launchShare": 0.2}`.
 */
import { UserError } from '../base/user-error.js';

interface Threshold {
  readonly value: number;
  readonly about: string;
}

const guide = 'profiling guides of NVIDIA and TensorRT-LLM';
const skill = "TensorRT-LLM's host-performance analysis";

export const thresholds = {
  lowUtilisation: { value: 0.5, about: `GPU busy share below which utilization is low (${guide})` },
  saturatedBandwidth: { value: 90, about: `% of DRAM peak that counts as saturated (${guide})` },
  saturatedSm: { value: 90, about: `% of SM issue or tensor peak that counts as saturated (${guide})` },
  bandwidthTarget: { value: 70, about: `% of DRAM peak a memory-bound step should reach (${guide})` },
  smTarget: { value: 80, about: `% of SM issue or tensor peak a compute-bound step should reach (${guide})` },
  tensorInUse: {
    value: 1,
    about: `% of tensor peak during GEMMs below which tensor cores are not in use (${guide})`,
  },
  limiterLead: {
    value: 20,
    about: 'percentage points by which the busiest resource must lead to be the limiter (ours)',
  },
  launchShare: {
    value: 0.1,
    about: `share of a step in launch-bound idle that is a finding (${skill}: launch share above 10%)`,
  },
  manyLaunches: {
    value: 10,
    about: 'kernels per step from which launch overhead can limit a step (ours)',
  },
  hostShareOfWall: {
    value: 0.05,
    about: `share of a step in exposed host work that is a finding (${skill})`,
  },
  hostShareOfIdle: {
    value: 0.5,
    about: `share of idle time in exposed host work that is also required (${skill})`,
  },
  graphGap: {
    value: 0.05,
    about:
      'share of decode steps, or of the kernels of their layers, outside graphs that is a finding (ours)',
  },
  stallShare: {
    value: 0.05,
    about: 'share of a step idle in stalled launch calls that is a finding (ours)',
  },
  graphNodeGapNs: { value: 550, about: 'gap between nodes of a replayed graph (capture run-ahead)' },
  graphLaunchPerNodeNs: {
    value: 960,
    about:
      'cost of launching a graph per node, profiler attached (capture run-ahead; 0.8 to 1.9 µs elsewhere)',
  },
  copyShare: {
    value: 0.1,
    about: 'share of a step in exposed copies between host and GPU that is a finding (ours)',
  },
  syncShare: { value: 0.01, about: 'share of a step idle in synchronization that is a finding (ours)' },
  blockingPerStep: {
    value: 8,
    about: 'blocking calls per step from which they fragment a step (ours)',
  },
  gcShare: { value: 0.005, about: 'share of a step idle in garbage collection that is a finding (ours)' },
  gilShare: { value: 0.02, about: 'share of a step idle in waiting for the GIL that is a finding (ours)' },
  pageFaultShare: {
    value: 0.05,
    about: 'share of a step in page faults of the launching thread that is a finding (ours)',
  },
  preemptionsPerStep: {
    value: 0.5,
    about: 'times per step that the launching thread is preempted from which it is looked at (ours)',
  },
  contentionShare: {
    value: 0.02,
    about:
      'share of a step idle while other threads have the CPU of the launching thread that is a finding (ours)',
  },
  migrationShare: {
    value: 0.01,
    about: 'share of a step idle while the launching thread changes its CPU that is a finding (ours)',
  },
  allocationShare: { value: 0.002, about: 'share of a step in allocation calls that is a finding (ours)' },
  tinyCopyBytes: {
    value: 65_536,
    about: 'size below which a host copy is bound by latency, not bandwidth (CUDA: the 64 kB limit)',
  },
  tinyCopiesPerStep: { value: 8, about: 'tiny copies per step worth batching (ours)' },
  exposedCommunication: {
    value: 0.1,
    about: `share of a step in exposed communication that is a finding (${skill}: 20% is a caveat)`,
  },
  rankSkew: {
    value: 0.05,
    about: 'waiting for the last rank, or spread of starts, as a share of the step that is a finding (ours)',
  },
  prefillBlocks: {
    value: 3,
    about: 'ratio of prefill to decode step time that blocks decoding requests (ours)',
  },
  jitter: { value: 1.5, about: 'step time relative to the median from which a step is jitter (ours)' },
  clockDrop: {
    value: 0.9,
    about: 'clock while busy, relative to the GPU’s maximum, below which the GPU is throttled (ours)',
  },
  elementwiseShare: {
    value: 0.15,
    about: 'share of GPU time in chains of elementwise kernels that is a finding (ours)',
  },
  sharedGpu: {
    value: 0.1,
    about: 'share of the time in which kernels of two processes run on one GPU that is a finding (ours)',
  },
  unfusedAttentionShare: {
    value: 0.1,
    about: 'share of GPU time between the GEMMs of attention in parts that is a finding (ours)',
  },
  attentionShare: {
    value: 0.5,
    about: 'share of GPU time that attention of decode takes that is a finding (ours)',
  },
  samplingShare: {
    value: 0.1,
    about: 'share of the step that sampling takes on the GPU that is a finding (ours)',
  },
  concatenationShare: {
    value: 0.1,
    about: 'share of GPU time in concatenation that is a finding (ours)',
  },
  farFromLight: {
    value: 0.5,
    about: 'share of the speed of light below which a family is a finding (ours)',
  },
  familyShare: { value: 0.2, about: 'share of GPU time from which a family is worth a finding (ours)' },
  fp32Share: {
    value: 0.1,
    about: 'share of GPU time in FP32 GEMMs on CUDA cores that is a finding (ours)',
  },
  growingSteps: { value: 7, about: 'step-to-step changes needed to report memory growth (ours)' },
  firstStep: {
    value: 1.25,
    about: 'first step time relative to the median of the others from which it is an outlier (ours)',
  },
  profilerShare: { value: 0.02, about: 'share of a step idle in profiler overhead that distorts it (ours)' },
  profilerCost: {
    value: 0.1,
    about: 'share of a step that the profiler adds, above which less should be recorded (ours)',
  },
  smallestShare: { value: 0.002, about: 'share of a step below which nothing is a finding (ours)' },
  fewSteps: { value: 10, about: 'steps below which means and percentiles are unreliable (ours)' },
  stepsOfSpan: {
    value: 0.5,
    about: 'share of captured time in steps below which the capture is too long (ours)',
  },
} as const satisfies Record<string, Threshold>;

export type Policy = { readonly [Name in keyof typeof thresholds]: number };

export const defaultPolicy: Policy = Object.fromEntries(
  Object.entries(thresholds).map(([name, { value }]) => [name, value]),
) as Policy;

/** The defaults with what a user's file changes. */
export function parsePolicy(json: unknown): Policy {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw wrong('A policy must be a JSON object of numbers.');
  for (const [name, value] of Object.entries(json)) {
    if (!Object.hasOwn(thresholds, name)) throw wrong(`Unknown policy threshold ${JSON.stringify(name)}.`);
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw wrong(`${name} must be a number of 0 or more.`);
  }
  return { ...defaultPolicy, ...(json as Partial<Policy>) };
}

const wrong = (what: string) =>
  new UserError('usage', what, `Valid names: ${Object.keys(thresholds).join(', ')}`);
