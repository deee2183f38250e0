/** How to record what no table of a capture stands for, and how to tell that it was: phrases for hints. */

import { engines } from './engines.js';

export const howToRecord = {
  gil: 'nsys -t python-gil',
  garbageCollections: (engine: string) =>
    engine === engines.trtllm.label
      ? 'TLLM_PROFILE_RECORD_GC=1'
      : 'capture with --agent, or mark them as "Python GC" from gc.callbacks',
  gpuLimits: 'name it with --gpu NAME, or capture with nsys, which records name and memory bandwidth',
  promptTokens:
    'capture with markers that name them (TensorRT-LLM 1.2, vLLM and SGLang do), or give marker: with a group contextTokens',
  graphCapture:
    'Give a PyTorch trace recorded while the engine captured its graphs: vLLM writes one with profiler_config.capture_torch_profiler (0.26 and newer), SGLang with --enable-profile-cuda-graph.',
} as const;

/** A switch that had no effect gives two equal runs too. */
export const routerTookEffect =
  'Check that the switch took effect: TensorRT-LLM prints "Precomputing perfect router logits", and not all routing methods are supported.';

/** A server that does not know the address that starts a profile. */
export const cannotStartProfile =
  'This server does not offer that endpoint: vLLM needs a profiler configured at start-up, TensorRT-LLM a version from May 2026 or later. Start it under stepscope capture instead.';
