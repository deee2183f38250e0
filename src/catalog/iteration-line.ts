/**
 * The number in the line TensorRT-LLM prints per pass with `print_iter_log`. All four shapes of the line begin alike
 * (tensorrt_llm/_torch/pyexecutor/py_executor.py, `_profiler`), whatever stands in front of it: the logger's prefix,
 * the rank of `srun -l`, colour codes. The importer of benchmark logs reads the rest of it.
 */
const ITERATION = /\biter = (\d{1,15}), global_rank = (\d{1,9}), rank = \d{1,9},/;

interface SeenIteration {
  readonly iteration: number;
  readonly globalRank: number;
}

/** What came before it are requests of the benchmark's warm-up. */
export const isWarmUpEnd = (line: string): boolean => line.includes('Warmup done.');

export function iterationInLine(line: string): SeenIteration | undefined {
  const match = ITERATION.exec(line);
  return match ? { iteration: Number(match[1]), globalRank: Number(match[2]) } : undefined;
}
