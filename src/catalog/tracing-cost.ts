/**
 * What recording costs the thread on which it happens. Neither NVIDIA nor PyTorch publishes a figure, so these are
 * fitted: a step under the profiler minus the step of the same process before the window, on a real engine. See
 * docs/evidence/undisturbed for the runs, which of them fit and which only judge.
 *
 * Costs are multiples of a typical kernel launch call in the same file: a slow host, or one whose clock changes, is slow
 * at both. On one machine the same eager step took 15 and 32 ms within a minute, and its launch calls 6 and 11 µs.
 */
import type { ProfilerKind } from '../model/profile.js';

/**
 * What a profiler can be told not to record, each kind on its own. Ranges are of three kinds: `stepMarker`, which every
 * capture needs, `libraryCall` of cuBLAS and cuDNN, and all others.
 */
export type EventKind = 'apiCall' | 'graphNode' | 'range' | 'stepMarker' | 'libraryCall' | 'op' | 'frame';

export interface TracingCost {
  /** A CUDA call. */
  readonly apiCall: number;
  /** A kernel or copy of a graph that is recorded node by node, at the launch of the graph. */
  readonly graphNode: number;
  /**
   * What a launch of a graph keeps for each of its nodes: the driver works on them without a profiler too. Recorded as
   * a block it takes 0.04, and recording a block costs something as well.
   */
  readonly graphNodeLeast: number;
  /** An NVTX range or annotation. */
  readonly range: number;
  /** A framework op. */
  readonly op: number;
  /** A Python call, where stacks are recorded. */
  readonly frame: number;
  /** Calls in a tight loop cost less than this figure: of a stretch of code, recording its calls is at most this share. */
  readonly mostOfCode: number;
  /**
   * Of the host's time between two waits, recording calls and ranges is at most this share. In the runs that were fitted
   * it is 35%, of Python code that launches every 50 to 70 µs. Programs that launch from a tight loop in C++, every 7 to
   * 10 µs, lose no more than that, although they make as many calls for each kernel.
   */
  readonly mostOfHost: number;
  /**
   * The runs that were fitted are off by up to this share of the cost (twice what they showed: they are few). Of programs
   * and engines captured later a third cost more than that, few more than twice the estimate …
   */
  readonly spread: { readonly less: number; readonly more: number };
  /** … and they are off by this share of the step, where little of it is recording. */
  readonly stepError: number;
  /** Where the figures come from, for the reader. */
  readonly source: string;
}

export const tracingCosts: Partial<Readonly<Record<ProfilerKind, TracingCost>>> = {
  nsys: {
    ...{ apiCall: 0.5, graphNode: 0.16, graphNodeLeast: 0.02, range: 0.1, op: 0, frame: 0, mostOfCode: 0 },
    ...{ mostOfHost: 0.35, spread: { less: 0.5, more: 1 }, stepError: 0.05 },
    source: 'fitted on nsys 2025.3, vLLM and SGLang, H200',
  },
  kineto: {
    ...{
      apiCall: 0.18,
      graphNode: 0.16,
      graphNodeLeast: 0.02,
      range: 0.18,
      op: 0.18,
      frame: 0.13,
      mostOfCode: 0.75,
    },
    ...{ mostOfHost: 0.75, spread: { less: 0.5, more: 1 }, stepError: 0.05 },
    source: 'fitted on PyTorch 2.11, vLLM and SGLang, H200',
  },
};

/** Of what the profiler adds: runs that only judged, on hosts whose speed held while they ran. */
export const tracingError = { share: 0.5, pairs: 49 };

/** Where a file has no launch call to measure its host by. */
export const USUAL_LAUNCH_NS = 8000;

/**
 * What writing down one host event (API call, range, framework op) may cost the thread it happens on, in the order of
 * magnitude. Neither NVIDIA nor PyTorch promises a figure. Between the bundled captures of the same workloads by both
 * (eager, moe-learned, moe-perfect), a step took 0.8, 3.5 and 1.0 µs longer per event that the PyTorch profiler wrote
 * down more than nsys, noise between runs included. The figure was chosen with those captures in view. Six workloads
 * captured later (agent-*: three models, eager and from graphs) come out alike by it too.
 */
export const TRACED_EVENT_NS = 2000;

/** Framework ops a PyTorch trace holds for every API call: 19,485 for 5,332 in the eager capture. */
export const TRACED_OPS_PER_CALL = 3.7;
