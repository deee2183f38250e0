/** TGI, NIM and programs of one's own: no switch opens a capture range there, but a program may do so itself. */
import { DYNAMO_RANGES } from '../catalog/engine-switches.js';
import { planAgent } from './engine-agent.js';
import { type EnginePart, type EngineQuestion, PartBuilder } from './engine-part.js';
import { startStopValue } from './iterations.js';

/** Hugging Face's text-generation-launcher starts Python shards; none of them calls the CUDA profiler. */
export function planTgi({ options }: EngineQuestion): EnginePart {
  const part = new PartBuilder();
  if (options.iterations)
    part.warn(
      'error',
      'never-opens-range',
      'TGI never calls cudaProfilerStart and does not count iterations: the capture range would never open and the report would be empty.',
      'Give --delay and --duration instead of --iterations.',
    );
  if (options.torchTrace !== undefined)
    part.warn('error', 'no-torch-trace', 'TGI has no option for a PyTorch trace.', 'Remove --torch-trace.');
  return part.done();
}

/** A NIM runs TensorRT-LLM, vLLM or SGLang inside; which one is the container's choice. */
export function planNim({ options }: EngineQuestion): EnginePart {
  const part = new PartBuilder();
  if (options.iterations)
    part.warn(
      'error',
      'never-opens-range',
      'NIM selects its engine itself, so the trigger for the capture range is unknown.',
      'Give --delay and --duration, or name the engine inside: --preset trtllm-serve, vllm or sglang.',
    );
  if (options.torchTrace !== undefined)
    part.warn(
      'error',
      'no-torch-trace',
      'NIM has no option for a PyTorch trace.',
      'Name the engine inside with --preset, or remove --torch-trace.',
    );
  return part.done();
}

export function planPython(question: EngineQuestion): EnginePart {
  const { options } = question;
  if (options.agent !== undefined) return planAgent(question, options.agent);
  const part = new PartBuilder();
  if (options.nvtx !== false && options.command.some(word => /^dynamo\.\w+$/.test(word)))
    for (const [name, value] of Object.entries(DYNAMO_RANGES))
      part.variable(name, value, 'ranges of Dynamo around requests, on the same timeline');
  if (options.iterations && options.command.some(word => /visual_gen/.test(word))) {
    part.variable(
      'TLLM_PROFILE_VISUAL_GEN_START_STOP',
      options.iterations.map(({ first, last }) => `${first}-${last}`).join(','),
      'opens the capture range at these denoise steps of every request; both ends are included',
    );
    part.opensRange = true;
  } else if (options.iterations) {
    part.variable(
      'TLLM_PROFILE_START_STOP',
      startStopValue(options.iterations, 'unknown'),
      'read by the TensorRT-LLM LLM API, and optionally by your program',
    );
    part.opensRange = true;
    part.ranges = options.iterations.length;
    part.warn(
      'warning',
      'must-open-range',
      'Nothing is recorded unless the program calls cudaProfilerStart and cudaProfilerStop (the TensorRT-LLM LLM API does).',
      'Add --agent, which detects the steps and makes these calls, make the calls in the program, or give --delay and --duration.',
    );
  }
  if (options.gc)
    part.variable(
      'TLLM_PROFILE_RECORD_GC',
      '1',
      'read by TensorRT-LLM; in other programs, mark collections as "Python GC" from gc.callbacks',
    );
  if (options.torchTrace !== undefined)
    part.warn(
      'error',
      'no-torch-trace',
      'A PyTorch trace of your own program must be recorded in the program itself.',
      'Use torch.profiler.profile and export_chrome_trace there, without nsys.',
    );
  return part.done();
}
