/**
 * Pairs of runs that were measured before and after the same change, and what the model of that change predicts from
 * the first of the two: what intervals of predictions rest on. docs/gains.md has the models, and what they miss.
 */
export interface PredictionPair {
  /** Id of the change. */
  readonly change: string;
  readonly pair: string;
  /** `fit`: chosen beforehand as one that may give constants; it tests nothing. */
  readonly half: 'fit' | 'judge';
  /** Mean decode step under the profiler, before and after. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly predictedMs: number;
  /** Captures in the project that test/whatif.test.ts predicts again; absent: measured on an H200, docs/gains.md. */
  readonly captures?: readonly [before: string, after: string];
}

const pair = (
  change: string,
  name: string,
  half: PredictionPair['half'],
  [fromMs, toMs, predictedMs]: readonly [number, number, number],
  captures?: PredictionPair['captures'],
): PredictionPair => ({
  ...{ change, pair: name, half, fromMs, toMs, predictedMs },
  ...(captures ? { captures } : {}),
});

export const predictionPairs: readonly PredictionPair[] = [
  pair('graphs', 'vLLM, Llama-8B, batch 8, nsys', 'fit', [39.006, 7.97, 7.659]),
  pair('graphs', 'vLLM, Llama-8B, batch 1, nsys', 'judge', [42.716, 8.176, 7.535]),
  pair('graphs', 'vLLM, Llama-8B, batch 64, nsys', 'judge', [25.411, 9.891, 8.83]),
  pair('graphs', 'vLLM, Qwen3-30B-A3B, batch 16, nsys', 'judge', [104.267, 16.409, 16.124]),
  pair('graphs', 'vLLM, Qwen3-30B-A3B, batch 64, nsys', 'judge', [86.602, 23.792, 22.37]),
  pair('graphs', 'vLLM, Llama-8B, batch 8, PyTorch profiler', 'fit', [36.317, 8.56, 7.741]),
  pair('graphs', 'vLLM, Llama-8B, batch 1, PyTorch profiler', 'judge', [29.344, 8.139, 7.211]),
  pair('graphs', 'vLLM, Llama-8B, batch 64, PyTorch profiler', 'judge', [37.832, 10.466, 9.829]),
  pair('graphs', 'vLLM, Qwen3-30B-A3B, batch 16, PyTorch profiler', 'judge', [96.567, 16.828, 15.844]),
  pair('graphs', 'vLLM, Qwen3-30B-A3B, batch 64, PyTorch profiler', 'judge', [104.778, 21.779, 22.451]),
  pair('graphs', 'SGLang, Llama-8B, batch 8, nsys', 'judge', [17.864, 5.021, 6.768]),
  pair('graphs', 'SGLang, Llama-8B, batch 64, nsys', 'judge', [20.003, 5.944, 8.131]),
  pair(
    'graphs',
    'vLLM, Llama-8B, batch 8, nsys, an earlier run',
    'judge',
    [31.788, 7.848, 7.459],
    ['vllm-eager/profile.sqlite.gz', 'vllm-graphs/profile.sqlite.gz'],
  ),
  pair(
    'graphs',
    '22-layer decoder, batch 8, nsys',
    'judge',
    [23.693, 3.738, 4.238],
    ['eager/profile.sqlite.gz', 'graph/profile.sqlite.gz'],
  ),
  pair(
    'graphs',
    '22-layer decoder, batch 8, PyTorch profiler',
    'judge',
    [25.945, 4.004, 4.65],
    ['eager/kineto.json.gz', 'graph/kineto.json.gz'],
  ),
  pair('async', 'vLLM, Llama-8B, batch 8, nsys', 'fit', [7.97, 4.911, 4.997]),
  pair('async', 'vLLM, Llama-8B, batch 1, nsys', 'judge', [8.176, 4.872, 5.365]),
  pair('async', 'vLLM, Llama-8B, batch 64, nsys', 'judge', [9.891, 5.887, 6.071]),
  pair('async', 'vLLM, Llama-8B, batch 8, PyTorch profiler', 'fit', [8.56, 4.892, 5.66]),
  pair('async', 'vLLM, Llama-8B, batch 1, PyTorch profiler', 'judge', [8.139, 4.883, 5.108]),
  pair('async', 'vLLM, Llama-8B, batch 64, PyTorch profiler', 'judge', [10.466, 5.921, 6.412]),
  pair('async', 'SGLang, Llama-8B, batch 8, nsys', 'judge', [6.657, 5.021, 4.849]),
  pair('async', 'SGLang, Llama-8B, batch 1, nsys', 'judge', [6.334, 4.836, 4.683]),
  pair('async', 'SGLang, Llama-8B, batch 64, nsys', 'judge', [8.72, 5.944, 5.762]),
  pair('fp8', 'vLLM, Llama-8B, batch 8, nsys', 'fit', [7.97, 5.83, 6.65]),
  pair('fp8', 'vLLM, Llama-8B, batch 1, nsys', 'judge', [8.176, 5.585, 6.886]),
  pair('fp8', 'vLLM, Llama-8B, batch 64, nsys', 'judge', [9.891, 7.916, 8.532]),
  pair('fp8', 'vLLM, Llama-8B, batch 8, PyTorch profiler', 'fit', [8.56, 5.628, 7.284]),
  pair('fp8', 'vLLM, Llama-8B, batch 1, PyTorch profiler', 'judge', [8.139, 6.022, 6.804]),
  pair('fp8', 'vLLM, Llama-8B, batch 64, PyTorch profiler', 'judge', [10.466, 7.902, 9.112]),
  pair('batch', 'vLLM, Llama-8B, batch 8 to 64, nsys', 'fit', [7.97, 9.891, 9.703]),
  pair('batch', 'vLLM, Llama-8B, batch 1 to 8, nsys', 'judge', [8.176, 7.97, 8.418]),
  pair('batch', 'vLLM, Llama-8B, asynchronous, batch 8 to 64, nsys', 'judge', [4.911, 5.887, 5.918]),
  pair('batch', 'vLLM, Llama-8B, asynchronous, batch 1 to 8, nsys', 'judge', [4.872, 4.911, 4.976]),
  pair('batch', 'vLLM, Qwen3-30B-A3B, batch 16 to 64, nsys', 'judge', [16.409, 23.792, 22.273]),
  pair('batch', 'vLLM, Qwen3-30B-A3B, batch 1 to 16, nsys', 'judge', [6.511, 16.409, 14.731]),
  pair('batch', 'vLLM, Llama-8B, batch 8 to 64, PyTorch profiler', 'fit', [8.56, 10.466, 10.46]),
  pair('batch', 'vLLM, Llama-8B, batch 1 to 8, PyTorch profiler', 'judge', [8.139, 8.56, 8.339]),
  pair(
    'batch',
    'vLLM, Llama-8B, asynchronous, batch 8 to 64, PyTorch profiler',
    'judge',
    [4.892, 5.921, 5.974],
  ),
  pair(
    'batch',
    'vLLM, Llama-8B, asynchronous, batch 1 to 8, PyTorch profiler',
    'judge',
    [4.883, 4.892, 4.938],
  ),
  pair('batch', 'vLLM, Qwen3-30B-A3B, batch 16 to 64, PyTorch profiler', 'judge', [16.828, 21.779, 22.681]),
  pair('batch', 'vLLM, Qwen3-30B-A3B, batch 1 to 16, PyTorch profiler', 'judge', [7.323, 16.828, 15.522]),
  pair('fp8', 'vLLM, Llama-8B, asynchronous, batch 8, nsys', 'judge', [4.898, 3.426, 3.582]),
  pair('fp8', 'vLLM, Llama-8B, asynchronous, batch 1, nsys', 'judge', [4.779, 3.769, 3.852]),
  pair('fp8', 'vLLM, Llama-8B, asynchronous, batch 64, nsys', 'judge', [5.935, 5.125, 5.204]),
  pair('no-gc', 'vLLM, Llama-8B, batch 8, collections in every step, nsys', 'judge', [17.81, 7.775, 8.092]),
  pair(
    'no-gc',
    'vLLM, Llama-8B, batch 8, collections in every step, again, nsys',
    'judge',
    [16.521, 7.695, 7.684],
  ),
  pair(
    'fewer-syncs',
    'vLLM, Llama-8B, batch 8, .item() per request, nsys',
    'judge',
    [13.286, 13.586, 11.736],
  ),
  pair(
    'fewer-syncs',
    'vLLM, Llama-8B, batch 8, .item() per request, again, nsys',
    'judge',
    [13.431, 12.784, 11.882],
  ),
  pair('pinned', 'vLLM, Llama-8B, batch 8, 12 MiB uploaded per step, nsys', 'judge', [9.255, 7.627, 8.464]),
  pair(
    'pinned',
    'vLLM, Llama-8B, batch 8, 12 MiB uploaded per step, again, nsys',
    'judge',
    [8.279, 7.352, 7.46],
  ),
];
