/** Captures people plan, by engine, version and launcher: each has a golden text. */
import type { CaptureOptions, PlanFacts } from '../src/capture/capture-plan.js';
import { readIterations } from '../src/capture/iterations.js';
import { parseVersion } from '../src/capture/versions.js';
import { readCondition } from '../src/capture/window-condition.js';

export interface CaptureCase {
  readonly name: string;
  readonly options: CaptureOptions;
  readonly facts: PlanFacts;
}

const words = (text: string): string[] => text.split(/\s+/).filter(word => word !== '');

/** `nsys` and `engine` are versions; absent means not known. */
function capture(
  name: string,
  command: string,
  options: Omit<CaptureOptions, 'command' | 'iterations'> & { iterations?: string } = {},
  versions: { nsys?: string; engine?: string; nvtx?: boolean } = { nsys: '2025.3.1' },
): CaptureCase {
  const { iterations, ...rest } = options;
  return {
    name,
    options: {
      command: words(command),
      ...rest,
      ...(iterations ? { iterations: readIterations(iterations) } : {}),
    },
    facts: {
      ...(versions.nsys ? { nsysVersion: parseVersion(versions.nsys) } : {}),
      ...(versions.engine ? { engineVersion: parseVersion(versions.engine) } : {}),
      nvtxModule: versions.nvtx,
      ...(name.endsWith('-when') ? { runsHere: true } : {}),
    },
  };
}

const bench =
  'trtllm-bench --model deepseek-ai/DeepSeek-V3 --model_path /models/v3 throughput --dataset /tmp/dataset.txt --warmup 0 --backend pytorch --streaming';
const nsys = '2025.3.1';
const window = { iterations: '100-150' };

export const captureCases: readonly CaptureCase[] = [
  capture(
    'trtllm-bench-1.2',
    bench,
    { ...window, gc: true, nvtxDebug: true, gil: true, torchTrace: 'trace.json', force: true },
    { nsys, engine: '1.2.0' },
  ),
  capture('trtllm-bench-1.3', bench, window, { nsys, engine: '1.3.0' }),
  capture('trtllm-bench-unknown', bench, { iterations: '100-150,300' }),
  capture(
    'trtllm-bench-engine',
    'trtllm-bench --model TinyLlama/TinyLlama-1.1B-Chat-v1.0 throughput --dataset synthetic_128_128.txt --engine_dir tiny_llama_fp16_gemm_auto',
    { osrt: true, cudaMemory: true, output: 'profiling/nsys_trtllm' },
  ),
  capture('trtllm-serve', 'trtllm-serve meta-llama/Llama-3.1-8B --backend pytorch', window, {
    nsys,
    engine: '1.2.0rc7',
  }),
  capture('trtllm-router', bench, { ...window, perfectRouter: true, ranks: 8 }, { nsys, engine: '1.2.0' }),
  capture('vllm-0.10', 'vllm serve meta-llama/Llama-3.1-8B-Instruct', window, {
    nsys,
    engine: '0.10.2',
    nvtx: false,
  }),
  capture('vllm-0.12', 'vllm serve meta-llama/Llama-3.1-8B-Instruct', window, {
    nsys,
    engine: '0.12.0',
    nvtx: true,
  }),
  capture('vllm-0.16', 'vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8100', window, {
    nsys,
    engine: '0.16.0',
  }),
  capture(
    'vllm-torch',
    'python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-8B',
    { torchTrace: '/tmp/traces', torchShapes: true, torchStack: true, torchMemory: true },
    { engine: '0.16.0' },
  ),
  capture(
    'vllm-offline',
    'vllm bench latency --model meta-llama/Llama-3.1-8B-Instruct --batch-size 16',
    {},
    { nsys, engine: '0.16.0' },
  ),
  capture(
    'trtllm-serve-when',
    'trtllm-serve meta-llama/Llama-3.1-8B --port 8200',
    { when: readCondition('batch>=32'), steps: 40 },
    { nsys, engine: '1.3.0' },
  ),
  capture(
    'vllm-decode',
    'vllm serve meta-llama/Llama-3.1-8B-Instruct',
    { phase: 'decode', steps: 40 },
    { nsys, engine: '0.16.0', nvtx: true },
  ),
  capture('vllm-agent-steps', 'vllm serve Qwen/Qwen3-8B', { steps: 40, agent: 'agent', preset: 'python' }),
  capture('sglang', 'python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct', window),
  capture(
    'sglang-open',
    'python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --port 31000 --tp-size 2',
  ),
  capture('sglang-torch', 'sglang serve --model-path Qwen/Qwen3-8B', {
    iterations: '50-59',
    torchTrace: '/tmp/traces',
  }),
  capture('tgi', 'text-generation-launcher --model-id meta-llama/Llama-3.1-8B --port 8080', {
    delayS: 60,
    durationS: 10,
  }),
  capture('nim', '/opt/nim/start_server.sh', { durationS: 30 }),
  capture('python', 'python3 engine.py --graph', { iterations: '12-40', gpuMetrics: true }),
  capture(
    'nsys-2022',
    bench,
    { ...window, gil: true, gpuMetrics: true, backtrace: true },
    { nsys: '2022.4.2', engine: '1.1.0' },
  ),
  capture('nsys-2021', bench, window, { nsys: '2021.1', engine: '1.1.0' }),
  capture(
    'mpirun',
    'mpirun -n 8 --allow-run-as-root --map-by slot trtllm-llmapi-launch trtllm-serve meta-llama/Llama-3.3-70B-Instruct --tp_size 8',
    { iterations: '200-250', gc: true, gpuMetrics: true },
    { nsys, engine: '1.2.0' },
  ),
  capture('srun', `srun -l -N 2 --ntasks 16 --mpi=pmix trtllm-llmapi-launch ${bench}`, window, {
    nsys,
    engine: '1.2.0',
  }),
  capture(
    'srun-ranks',
    `srun -N 2 --ntasks 16 trtllm-llmapi-launch ${bench}`,
    {
      ...window,
      onlyRanks: [
        { first: 0, last: 0 },
        { first: 8, last: 9 },
      ],
    },
    { nsys, engine: '1.2.0' },
  ),
  capture('torchrun', 'torchrun --nproc-per-node 4 serve.py --model llama', { iterations: '20-60' }),
  capture('client', 'curl -s http://localhost:8000/v1/completions', {
    cublas: true,
    cudaMemory: true,
    durationS: 30,
    force: true,
  }),
  capture('python-agent', 'python3 serve.py', { iterations: '100-119', agent: 'agent', gc: true }, { nsys }),
  capture(
    'python-agent-calibrate',
    'python3 serve.py',
    { iterations: '100-119', agent: 'agent', calibrate: true },
    { nsys },
  ),
  capture(
    'python-agent-torch',
    'torchrun --nproc-per-node 8 serve.py',
    {
      iterations: '10-15,30-35',
      agent: '/opt/agent',
      torchTrace: 'run',
      perfectRouter: true,
      preset: 'python',
    },
    { nsys },
  ),
];
