/** Options of `capture` and `doctor`. */
import { readIterations } from '../capture/iterations.js';
import { readCondition } from '../capture/window-condition.js';
import { presetNames } from '../catalog/engine-programs.js';
import { repeated, toggle, value } from './option.js';
import { duration, lengths, oneOf, spans, anyText as text, whole } from './option-kinds.js';

export const optionsOfCapture = {
  window: value(
    '--iterations A-B',
    { read: readIterations },
    'only these steps, inclusive; also several: 100-150,300-320',
  ),
  when: value(
    '--when CONDITION',
    { read: readCondition },
    "open the window when the engine's counters fulfill this: 'batch>=32 and waiting==0'; batch, running, waiting, tokens, kv, iteration",
  ),
  recordPhase: value(
    '--phase PHASE',
    oneOf(['decode', 'prefill']),
    'record steps of one phase: the load is shaped so that there are no others',
  ),
  windowSteps: value(
    '--steps N',
    whole(),
    'how many steps to record with --when or --phase (default 50); alone: once the batch is full',
  ),
  delay: value('--delay TIME', duration, 'wait before recording, for engines that do not count steps'),
  recordFor: value('--duration TIME', duration, 'record for this long: 10s'),
  trace: value(
    '-o, --output NAME',
    text,
    'report name (default trace); under a launcher, each rank writes its own',
  ),
  nvtx: toggle('--nvtx', 'record the NVTX ranges of the engine (default)'),
  noNvtx: toggle('--no-nvtx', 'do not record NVTX ranges'),
  nvtxDebug: toggle('--nvtx-debug', 'also record the debug ranges of the engine'),
  agent: toggle('--agent', 'for Python programs: detect and mark steps from inside the process'),
  agentFolder: value('--agent-folder DIR', text, 'path of agent/ on the machine that runs the program'),
  gc: toggle('--gc', 'record Python garbage collections'),
  gil: toggle('--gil', 'record GIL holders and waiters'),
  gpuMetrics: toggle('--gpu-metrics', 'record SM, tensor core and DRAM metrics'),
  cudaMemory: toggle('--cuda-memory', 'record GPU memory usage'),
  osrt: toggle('--osrt', 'record OS runtime calls'),
  cublas: toggle('--cublas', 'record cuBLAS and cuDNN calls'),
  sample: toggle('--sample', 'record CPU samples'),
  backtrace: toggle('--backtrace', 'record the call stack of each kernel launch'),
  graphTrace: value(
    '--graph-trace KIND',
    oneOf(['node', 'graph']),
    'record each kernel in a CUDA graph (node, default) or the graph as one block (graph)',
  ),
  traceFork: toggle('--trace-fork', 'follow forked workers (default)'),
  noTraceFork: toggle('--no-trace-fork', 'do not follow forked workers'),
  torchTrace: value(
    '--torch-trace FILE',
    text,
    'record a PyTorch trace: together with nsys for TensorRT-LLM, instead of nsys for other engines',
  ),
  torchShapes: toggle('--torch-shapes', 'record tensor shapes in the PyTorch trace (vLLM, SGLang)'),
  torchStack: toggle('--torch-stack', 'record Python stacks in the PyTorch trace'),
  torchMemory: toggle('--torch-memory', 'record memory allocations in the PyTorch trace'),
  balancedRouting: toggle('--perfect-router', 'balance expert routing (TensorRT-LLM); model output is wrong'),
  preset: value('--preset NAME', oneOf(presetNames), 'engine (default: detected from the command)'),
  engineVersion: value(
    '--engine-version V',
    text,
    'version of the engine to run (default: the version installed here)',
  ),
  nsysVersion: value(
    '--nsys-version V',
    text,
    'version of nsys to run (default: the version installed here)',
  ),
  ranks: value('--ranks N', whole(), 'number of ranks, if the launcher does not specify it'),
  onlyRanks: value(
    '--only-ranks LIST',
    spans,
    'under srun, mpirun or torchrun: record only these ranks, for example 0,8-15',
  ),
  fleetLake: value(
    '--fleet LAKE',
    text,
    'with --script: map the reports into a lake afterwards, in a Slurm job as a dependent job',
  ),
  modelPreset: value('--model NAME', text, 'model preset, for the report size estimate'),
  layers: value('--layers N', whole(), 'number of layers, for the report size estimate'),
  kernelsPerLayer: value('--kernels-per-layer N', whole(), 'kernels per layer, for the report size estimate'),
  url: value('--url URL', text, 'address of the server'),
  timeout: value('--timeout TIME', duration, 'stop after this time and keep what was recorded'),
  server: value(
    '--server URL',
    text,
    'address the command serves at: wait for it, send requests, stop the server',
  ),
  keepServer: toggle('--keep-server', 'keep the server running after its report is written'),
  attach: toggle(
    '--attach',
    'profile a running server, at --server URL or in the pod: through its endpoints, or by the agent inside it',
  ),
  restart: toggle(
    '--restart',
    'with --pod: restart the deployment of the pod with its own command under the profiler, record, and change it back',
  ),
  pressure: value(
    '--levels LEVEL,…',
    text,
    'generate load as stepscope load does: single,concurrent:16,sustained:4/s',
  ),
  sent: value(
    '--requests N',
    whole(0, 999_999),
    'requests to send, or per level (default: as many as the window needs, otherwise 16)',
  ),
  sentInput: value('--input-tokens LENGTH', lengths, 'length of their prompts: 512, normal:512:64'),
  sentOutput: value('--output-tokens LENGTH', lengths, 'length of their outputs, in the same form'),
  sentDataset: value(
    '--dataset FILE',
    text,
    'send these prompts instead: trtllm-bench format, one JSON object per line',
  ),
  healthTimeout: value('--health-timeout TIME', duration, 'how long to wait for the server to start'),
  pod: value('--pod NAME', text, 'run in a pod, with your kubectl, and copy the report back'),
  selector: value('--selector LABELS', text, 'run in every running pod with these labels: app=llm'),
  namespace: value('-n, --namespace NAME', text, 'namespace of the pod'),
  container: value('-c, --container NAME', text, 'container in the pod'),
  fetch: value(
    '--fetch FOLDER',
    text,
    'with --pod or --ssh: fetch the reports of a run whose copy was interrupted',
  ),
  ssh: value('--ssh HOST', text, 'run on HOST, with your ssh'),
  store: value(
    '--store PLACE',
    text,
    'also put the results into s3://BUCKET/FOLDER (keys from AWS_… variables) or a folder, such as a mounted volume',
  ),
  nsysDeb: value('--nsys-deb FILE', text, 'Nsight Systems package to copy to a machine without nsys'),
  nsysTree: value('--nsys-tree DIR', text, 'the same, as an unpacked folder'),
  calibrate: toggle(
    '--calibrate',
    'with --agent: run the same steps a second time without a profiler, and report what they take undisturbed',
  ),
  anyway: toggle('--anyway', 'run even if the plan reports that the result will be empty or wrong'),
  explain: value(
    '--explain COMMAND',
    text,
    'judge an nsys command given as one quoted text and print the corrected one; runs nothing',
  ),
  nsysArgs: repeated('--nsys-args OPTIONS', text, 'further options for nsys profile, as one quoted text'),
  dryRun: toggle('--dry-run', 'print the commands without running them'),
  script: value('--script FILE', text, 'write a bash script that needs only nsys'),
  reportsFolder: value(
    '-o, --output FOLDER',
    text,
    'folder for reports, to check its disk space (default: the current folder)',
  ),
} as const;
