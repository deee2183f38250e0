import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../../base/user-error.js';
import type { AgentFacts, CaptureOptions, CapturePlan, PlanFacts } from '../../capture/capture-plan.js';
import { readIterations } from '../../capture/iterations.js';
import { readLaunch } from '../../capture/launchers.js';
import { planCapture } from '../../capture/plan-capture.js';
import { planDocument } from '../../capture/plan-json.js';
import { planScript } from '../../capture/plan-script.js';
import { planText } from '../../capture/plan-text.js';
import { readProgram } from '../../capture/read-command.js';
import { findAgent } from '../../capture/run/find-agent.js';
import { localTransport } from '../../capture/run/transport.js';
import { probeWith, pythonVersions } from '../../capture/run-probe.js';
import { parseVersion, type VersionNumbers } from '../../capture/versions.js';
import { type PresetName, presetNames, presets } from '../../catalog/engine-programs.js';
import { findModel, modelPresets } from '../../catalog/models.js';
import { findNsys } from '../../import/nsys-rep/find-nsys.js';
import { readArguments } from '../arguments.js';
import type { Command, Output } from '../command.js';
import { freeBytes, nsysCommand, readRights } from '../machine-facts.js';
import { runAttached, runCapture, runFetch, runHelp, runOptions } from '../run-capture.js';
import { version } from '../version.js';
import { writeResult } from '../write-result.js';

const options = {
  preset: { type: 'string' },
  iterations: { type: 'string' },
  duration: { type: 'string' },
  delay: { type: 'string' },
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
  nvtx: { type: 'boolean' },
  'no-nvtx': { type: 'boolean' },
  'nvtx-debug': { type: 'boolean' },
  gc: { type: 'boolean' },
  gil: { type: 'boolean' },
  agent: { type: 'boolean' },
  'agent-folder': { type: 'string' },
  osrt: { type: 'boolean' },
  cublas: { type: 'boolean' },
  'cuda-memory': { type: 'boolean' },
  backtrace: { type: 'boolean' },
  sample: { type: 'boolean' },
  'gpu-metrics': { type: 'boolean' },
  'graph-trace': { type: 'string' },
  'trace-fork': { type: 'boolean' },
  'no-trace-fork': { type: 'boolean' },
  'torch-trace': { type: 'string' },
  'torch-shapes': { type: 'boolean' },
  'torch-stack': { type: 'boolean' },
  'torch-memory': { type: 'boolean' },
  'perfect-router': { type: 'boolean' },
  ranks: { type: 'string' },
  model: { type: 'string' },
  layers: { type: 'string' },
  'kernels-per-layer': { type: 'string' },
  'engine-version': { type: 'string' },
  'nsys-version': { type: 'string' },
  url: { type: 'string' },
  ...runOptions,
  anyway: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  script: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments<typeof options>>['values'];

export const capture: Command = {
  name: 'capture',
  summary:
    'Profile an engine: the right nsys command for it, run here, in a pod or over ssh, its result judged and analyzed.',
  usage: 'stepscope capture [options] -- COMMAND…',
  options: [
    { flags: '--iterations A-B', meaning: 'only these steps, both included; several: 100-150,300-320' },
    { flags: '--delay S, --duration S', meaning: 'a window in seconds, where an engine counts no steps' },
    { flags: '-o, --output NAME', meaning: 'the report (trace); under a launcher each rank gets its own' },
    { flags: '--force', meaning: 'overwrite an older one' },
    {
      flags: '--no-nvtx, --nvtx-debug',
      meaning: 'no ranges, or the engine’s further ones (--nvtx is the default)',
    },
    {
      flags: '--agent, --agent-folder DIR',
      meaning: 'for Python programs: find and mark steps from inside (DIR: where agent/ is over there)',
    },
    { flags: '--gc, --gil', meaning: 'garbage collections; who holds and who waits for the GIL' },
    { flags: '--gpu-metrics', meaning: 'SM, tensor core and DRAM counters' },
    { flags: '--cuda-memory, --osrt, --cublas', meaning: 'GPU memory, OS calls, cuBLAS and cuDNN calls' },
    { flags: '--sample, --backtrace', meaning: 'CPU samples; who launched each kernel' },
    {
      flags: '--graph-trace node|graph',
      meaning: 'kernels inside CUDA graphs (node, the default), or blocks',
    },
    { flags: '--no-trace-fork', meaning: 'do not follow forked workers (--trace-fork is the default)' },
    {
      flags: '--torch-trace FILE',
      meaning: 'a PyTorch trace: beside nsys with TensorRT-LLM, instead of it elsewhere',
    },
    { flags: '--torch-shapes, -stack, -memory', meaning: 'what that trace holds (vLLM, SGLang)' },
    { flags: '--perfect-router', meaning: 'balanced expert routing (TensorRT-LLM); answers are wrong' },
    { flags: '--preset NAME', meaning: `${presetNames.join(', ')}; told from the command otherwise` },
    { flags: '--engine-version V', meaning: 'of the engine that will run; looked up here otherwise' },
    { flags: '--nsys-version V', meaning: 'of the nsys that will run; looked up here otherwise' },
    { flags: '--ranks N', meaning: 'where the launcher does not tell' },
    { flags: '--model NAME, --layers N', meaning: 'for the estimate of size' },
    { flags: '--kernels-per-layer N', meaning: 'for the estimate of size' },
    { flags: '--url URL', meaning: 'where the server is reached' },
    ...runHelp,
    { flags: '--anyway', meaning: 'run it although the plan says it will be empty or wrong' },
    { flags: '--dry-run', meaning: 'only print the plan: command, reasons, warnings, size' },
    { flags: '--script FILE', meaning: 'write it as a bash script that needs nothing but nsys' },
    { flags: '--json', meaning: 'the plan by docs/schemas/capture-plan.schema.json' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    [
      'stepscope capture --iterations 100-150 --gc --gil -- trtllm-bench --model M throughput --dataset d.txt --warmup 0',
      'the command of TensorRT-LLM’s guide, with the range closed properly',
    ],
    [
      'stepscope capture --iterations 0-49 -- vllm serve M',
      'a server: opened by /start_profile, steps listed',
    ],
    [
      'stepscope capture --iterations 200-250 -- srun -n 8 trtllm-llmapi-launch trtllm-serve M',
      'a report per rank',
    ],
    [
      'stepscope capture --delay 60 --duration 10 -- text-generation-launcher --model-id M',
      'a window in seconds',
    ],
    [
      'stepscope capture --pod llama-0 -n serving --iterations 100-150 -o trace -- trtllm-bench …',
      'in a pod: the report is copied back',
    ],
    [
      'stepscope capture --iterations 100-150 --script capture.sh -- trtllm-serve M',
      'for a machine without Stepscope',
    ],
  ],
  async run(args, output) {
    const split = args.indexOf('--');
    const own = split < 0 ? args : args.slice(0, split);
    const command = split < 0 ? [] : args.slice(split + 1);
    const { values, positionals } = readArguments('capture', own, options);
    if (positionals.length > 0)
      throw new UserError(
        'usage',
        `${JSON.stringify(positionals[0])} stands before --.`,
        'Options first, then --, then the command: stepscope capture --iterations 100-150 -- trtllm-bench …',
      );
    const asked = readOptions(values, command);
    if (values.fetch !== undefined) return runFetch(values, asked, output);
    if (values.attach) return runAttached(values, values['torch-trace'], output);
    const facts = await gatherFacts(values, asked);
    const plan = planCapture(asked, facts);
    if (values.script !== undefined)
      writeResult(
        values.script,
        planScript(plan, {
          force: asked.force ?? false,
          ...(asksForAgent(values) ? { agentVersion: version() } : {}),
        }),
        asked.force ?? false,
        output,
      );
    if (values.json) output.out(`${JSON.stringify(planDocument(plan), null, 2)}\n`);
    else if (values.script === undefined && values['dry-run']) output.out(planText(plan));
    if (values.json || values.script !== undefined || values['dry-run']) return 0;
    const far = isFar(values);
    // What is wrong with this machine does not matter when another one runs it.
    if (!far) warnBefore(plan, values.anyway === true, output);
    return runCapture({ asked, plan, values, facts }, output);
  },
};

/** What would be empty or wrong is not begun: it takes minutes to find out. */
function warnBefore(plan: CapturePlan, anyway: boolean, output: Output): void {
  const wrong = plan.warnings.find(({ severity }) => severity === 'error');
  if (wrong && !anyway) throw new UserError('usage', wrong.text, `${wrong.fix} (--anyway runs it as it is.)`);
  for (const { severity, text, fix } of plan.warnings)
    if (severity !== 'note') output.err(`stepscope: ${text}\n  → ${fix}\n`);
}

function readOptions(values: Values, command: readonly string[]): CaptureOptions {
  const preset = values.preset;
  if (preset !== undefined && !presetNames.includes(preset as PresetName))
    throw new UserError(
      'usage',
      `There is no preset ${JSON.stringify(preset)}.`,
      `Use one of: ${presetNames.join(', ')}`,
    );
  const graphTrace = values['graph-trace'];
  if (graphTrace !== undefined && graphTrace !== 'node' && graphTrace !== 'graph')
    throw new UserError('usage', `--graph-trace ${graphTrace} is not known.`, 'Use node or graph.');
  return {
    command,
    // Whoever asks for the agent runs Python, whatever the command is called.
    preset: (preset ?? (values.agent || values['agent-folder'] ? 'python' : undefined)) as
      | PresetName
      | undefined,
    output: values.output,
    force: values.force,
    iterations: values.iterations === undefined ? undefined : readIterations(values.iterations),
    durationS: readNumber('--duration', values.duration),
    delayS: readNumber('--delay', values.delay),
    nvtx: !values['no-nvtx'],
    nvtxDebug: values['nvtx-debug'],
    gc: values.gc,
    gil: values.gil,
    osrt: values.osrt,
    cublas: values.cublas,
    cudaMemory: values['cuda-memory'],
    backtrace: values.backtrace,
    sample: values.sample,
    gpuMetrics: values['gpu-metrics'],
    graphTrace,
    traceFork: !values['no-trace-fork'],
    torchTrace: values['torch-trace'],
    torchShapes: values['torch-shapes'],
    torchStack: values['torch-stack'],
    torchMemory: values['torch-memory'],
    perfectRouter: values['perfect-router'],
    agent: values['agent-folder'] ?? (values.agent ? agentFolder() : undefined),
    ranks: readNumber('--ranks', values.ranks, true),
    layers: readNumber('--layers', values.layers, true) ?? layersOf(values.model),
    kernelsPerLayer: readNumber('--kernels-per-layer', values['kernels-per-layer'], true),
    serverUrl: (values.url ?? values.server)?.replace(/\/+$/, ''),
  };
}

function readNumber(option: string, text: string | undefined, whole = false): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number > 0 && (!whole || Number.isInteger(number))) return number;
  throw new UserError(
    'usage',
    `${option} ${JSON.stringify(text)} is no ${whole ? 'count' : 'number of seconds'}.`,
    `For example: ${option} ${whole ? 8 : 30}`,
  );
}

const isFar = ({ pod, ssh }: Values): boolean => pod !== undefined || ssh !== undefined;

/** A folder that was named is taken as it is; else one that is installed will do. */
const asksForAgent = (values: Values): boolean =>
  values.agent === true && values['agent-folder'] === undefined;

/** The agent as it lies in this package. */
const agentFolder = () => fileURLToPath(new URL('../../../../agent', import.meta.url));

function layersOf(model: string | undefined): number | undefined {
  if (model === undefined) return undefined;
  const layers = findModel(model)?.config.num_hidden_layers;
  if (typeof layers === 'number') return layers;
  throw new UserError(
    'usage',
    `There is no model preset ${JSON.stringify(model)}.`,
    `Give --layers N, or one of: ${modelPresets.map(({ id }) => id).join(', ')}`,
  );
}

async function gatherFacts(values: Values, asked: CaptureOptions): Promise<PlanFacts> {
  const nsys = values['nsys-version'] === undefined ? (await findNsys())[0] : undefined;
  const folder = path.dirname(path.resolve(asked.output ?? 'trace'));
  return {
    ...(nsys ? { nsys: nsysCommand(nsys) } : {}),
    nsysVersion: readVersion('--nsys-version', values['nsys-version'] ?? nsys?.version),
    nsysMissing: values['nsys-version'] === undefined && nsys === undefined,
    engineVersion:
      values['engine-version'] === undefined
        ? await installedEngine(asked)
        : readVersion('--engine-version', values['engine-version']),
    ...(asksForAgent(values) ? { agent: await agentFacts(values, asked) } : {}),
    freeBytes: freeBytes(folder),
    temporaryFreeBytes: freeBytes(os.tmpdir()),
    root: process.getuid?.() === 0,
    ...readRights(),
  };
}

/** A script will look for itself; a pod or another machine is asked once it is reached. */
async function agentFacts(values: Values, { command }: CaptureOptions): Promise<AgentFacts> {
  const installed =
    isFar(values) || values.script !== undefined || command.length === 0
      ? undefined
      : await findAgent(localTransport, command);
  return { ours: version(), ...(installed === undefined ? {} : { installed }) };
}

async function installedEngine({ command, preset }: CaptureOptions): Promise<VersionNumbers | undefined> {
  if (command.length === 0) return undefined;
  const engine = preset ? presets[preset].engine : readProgram(readLaunch(command).program).engine;
  const name = engine.package;
  const found = name === undefined ? undefined : (await pythonVersions(probeWith(process.env)))?.[name];
  return found === undefined ? undefined : parseVersion(found);
}

function readVersion(option: string, text: string | undefined): VersionNumbers | undefined {
  if (text === undefined) return undefined;
  const version = parseVersion(text);
  if (version) return version;
  throw new UserError(
    'usage',
    `${option} ${JSON.stringify(text)} is no version.`,
    `For example: ${option} 1.2.0`,
  );
}
