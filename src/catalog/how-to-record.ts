/** How to record what no table of a capture stands for, and how to tell that it was: phrases for hints. */

import type { ProfilerKind } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
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

/** A server that nothing can be asked of: what to start it with, for the next time. */
export const restartToProfile = (engine: string): string =>
  (engine === engines.vllm.label
    ? `Restart it with --profiler-config '{"profiler":"torch","torch_profiler_dir":"/tmp/traces"}', or with the agent`
    : 'nsys does not attach to a running process: restart it with the agent') +
  ' (pip install stepscope-agent; STEPSCOPE_TRIGGER=/tmp/stepscope STEPSCOPE_TORCH_TRACE=/tmp/trace), or let Stepscope restart it under the profiler and change it back (--pod POD --restart)';

/** What names host code, the one that says most first, in the words of `stepscope capture`. */
const hostNames: Partial<Readonly<Record<ProfilerKind, readonly { table: TableName; how: string }[]>>> = {
  nsys: [
    {
      table: 'hostSamples',
      how: 'capture with --sample --backtrace, or take a PyTorch trace with --torch-trace FILE --torch-stack',
    },
    {
      table: 'frames',
      how: 'record symbols too (nsys --resolve-symbols=true); of PyTorch take a trace with --torch-trace FILE --torch-stack',
    },
  ],
  kineto: [
    { table: 'frames', how: 'record Python stacks: capture with --torch-stack (with_stack=True)' },
    { table: 'ranges', how: 'mark the code with torch.profiler.record_function' },
  ],
};

/** Python samples that the report has and an export left out. */
export const stacksLeftOut =
  'export the report again with nsys export --include-blobs=true: its Python samples have stacks';

/** The first that was not recorded; undefined where all were, or the profiler knows none. */
export const namesRecordedBy = (
  profiler: ProfilerKind,
  has: (table: TableName) => boolean,
): string | undefined => hostNames[profiler]?.find(({ table }) => !has(table))?.how;
