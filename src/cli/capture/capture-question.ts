/** What the options of `capture` ask for, and what is known about this machine and the engine. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../../base/user-error.js';
import type { AgentFacts, CaptureOptions, PlanFacts } from '../../capture/capture-plan.js';
import { readLaunch } from '../../capture/launchers.js';
import type { PastedCommand } from '../../capture/pasted-command.js';
import { readProgram } from '../../capture/read-command.js';
import { canImport } from '../../capture/run/ask-python.js';
import { findAgent } from '../../capture/run/find-agent.js';
import { freeBytesOf } from '../../capture/run/free-space.js';
import { nsysCommand, readRights } from '../../capture/run/look-around.js';
import { localTransport } from '../../capture/run/transport.js';
import { probeWith, pythonVersions } from '../../capture/run-probe.js';
import { parseVersion, type VersionNumbers } from '../../capture/versions.js';
import { demandOf } from '../../capture/window-goal.js';
import { presets } from '../../catalog/engine-programs.js';
import { findModel, modelPresets } from '../../catalog/models.js';
import { findNsys } from '../../import/nsys-rep/find-nsys.js';
import { readLevels } from '../../load/level.js';
import type { Lengths } from '../../stats/lengths.js';
import type { Values } from '../options.js';
import { version } from '../version.js';

export const captureOptions = [
  ...([
    'window',
    'when',
    'recordPhase',
    'windowSteps',
    'delay',
    'recordFor',
    'trace',
    'force',
    'nvtx',
    'noNvtx',
    'nvtxDebug',
  ] as const),
  ...(['agent', 'agentFolder', 'gc', 'gil', 'gpuMetrics', 'cudaMemory', 'osrt', 'cublas'] as const),
  ...(['sample', 'backtrace', 'graphTrace', 'traceFork', 'noTraceFork', 'torchTrace'] as const),
  ...(['torchShapes', 'torchStack', 'torchMemory', 'balancedRouting', 'preset'] as const),
  ...(['engineVersion', 'nsysVersion', 'ranks', 'modelPreset', 'layers', 'kernelsPerLayer', 'url'] as const),
  ...(['timeout', 'server', 'keepServer', 'attach', 'restart', 'pressure', 'sent', 'healthTimeout'] as const),
  ...(['sentInput', 'sentOutput', 'sentDataset'] as const),
  ...(['pod', 'selector', 'namespace', 'container', 'fetch', 'ssh', 'store', 'nsysDeb', 'nsysTree'] as const),
  ...(['calibrate', 'anyway', 'explain', 'nsysArgs', 'dryRun', 'script', 'onlyRanks', 'fleetLake'] as const),
] as const;
export type CaptureValues = Values<(typeof captureOptions)[number]>;

/** `pasted`: what the command after -- asks for by itself. Options of ours go first. */
export function askedFor(values: CaptureValues, { command, options: pasted }: PastedCommand): CaptureOptions {
  const own = ownOptions(values, command);
  const given = Object.entries(own).filter(([, value]) => value !== undefined && value !== false);
  return {
    ...own,
    ...pasted,
    ...Object.fromEntries(given),
    // Both are the default of ours: only a wish to the contrary counts.
    nvtx: own.nvtx,
    traceFork: own.traceFork === false ? false : (pasted.traceFork ?? true),
  };
}

function ownOptions(values: CaptureValues, command: readonly string[]): CaptureOptions {
  const { force, nvtxDebug, gc, gil, osrt, cublas, cudaMemory, backtrace, sample, gpuMetrics } = values;
  const { graphTrace, torchTrace, torchShapes, torchStack, torchMemory, ranks, kernelsPerLayer } = values;
  return {
    ...{ command, force, nvtxDebug, gc, gil, osrt, cublas, cudaMemory, backtrace, sample, gpuMetrics },
    ...{ graphTrace, torchTrace, torchShapes, torchStack, torchMemory, ranks, kernelsPerLayer },
    // Whoever asks for the agent runs Python, whatever the command is called.
    preset: values.preset ?? (values.agent || values.agentFolder ? 'python' : undefined),
    onlyRanks: values.onlyRanks,
    output: values.trace,
    iterations: values.window,
    when: values.when,
    phase: values.recordPhase,
    steps: values.windowSteps,
    load: loadAsked(values),
    durationS: secondsOf(values.recordFor),
    delayS: secondsOf(values.delay),
    nvtx: !values.noNvtx,
    traceFork: !values.noTraceFork,
    perfectRouter: values.balancedRouting,
    calibrate: values.calibrate,
    agent: values.agentFolder ?? (values.agent ? agentFolder() : undefined),
    layers: values.layers ?? layersOf(values.modelPreset),
    serverUrl: (values.url ?? values.server)?.replace(/\/+$/, ''),
  };
}

/** Of a driven load: how many at a time, and how long in the mean. */
function loadAsked({ pressure, sentInput, sentOutput }: CaptureValues): CaptureOptions['load'] {
  const level = pressure === undefined ? undefined : readLevels([pressure]).at(-1);
  const users = level?.kind === 'concurrent' ? level.users : undefined;
  const inputTokens = sentInput && meanLength(sentInput);
  const outputTokens = sentOutput && meanLength(sentOutput);
  if (users === undefined && inputTokens === undefined && outputTokens === undefined) return undefined;
  return {
    ...(users === undefined ? {} : { users }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

function meanLength(lengths: Lengths): number {
  if (lengths.kind === 'fixed') return lengths.tokens;
  return Math.ceil(lengths.kind === 'normal' ? lengths.mean : (lengths.least + lengths.most) / 2);
}

/** A window that opens by itself needs a server that requests are sent to from here, and requests that do not end before it does. */
export function refuseDemand(values: CaptureValues, asked: CaptureOptions): void {
  const demand = demandOf(asked);
  if (!demand) return;
  const why = asked.iterations
    ? '--iterations already says which steps are recorded'
    : values.recordFor !== undefined || values.delay !== undefined
      ? '--delay and --duration already say when it is recorded'
      : isFar(values) && !values.attach && !values.restart
        ? `with --${values.ssh !== undefined ? 'ssh' : values.pod !== undefined ? 'pod' : 'selector'} and a command, requests are not sent from here`
        : values.sent !== undefined && !(values.attach && values.sent === 0)
          ? '--requests ends the load before the window may'
          : /^\s*sustained:/.test(values.pressure ?? '')
            ? 'it needs a fixed number of requests at a time: --levels concurrent:N'
            : undefined;
  if (why !== undefined)
    throw new UserError(
      'usage',
      `${demand.words} cannot be combined: ${why}.`,
      isFar(values)
        ? 'Remove one of them. Requests are sent to a server that runs there (--attach) or is restarted (--restart).'
        : 'Remove one of them.',
    );
}

/** A second run needs the command, here, and the address of the first server. */
export function refuseCalibration(values: CaptureValues): void {
  if (!values.calibrate) return;
  const why = values.attach
    ? '--attach profiles a server that somebody else started, which cannot be started again'
    : values.fetch !== undefined
      ? '--fetch only copies reports'
      : isFar(values)
        ? `--${values.ssh !== undefined ? 'ssh' : values.pod !== undefined ? 'pod' : 'selector'} runs the command on another machine`
        : values.keepServer
          ? '--keep-server keeps the first server running at the same address'
          : undefined;
  if (why !== undefined)
    throw new UserError(
      'usage',
      `--calibrate runs the command a second time on this machine; ${why}.`,
      'Remove one of them.',
    );
}

const secondsOf = (ns: number | undefined) => (ns === undefined ? undefined : ns / 1e9);

export const isFar = ({ pod, ssh, selector }: CaptureValues): boolean =>
  pod !== undefined || ssh !== undefined || selector !== undefined;

/** A folder that was named is taken as it is; else one that is installed will do. */
export const asksForAgent = ({ agent, agentFolder: named }: CaptureValues): boolean =>
  agent && named === undefined;

/** The agent as it lies in this package. */
export const agentFolder = (): string => fileURLToPath(new URL('../../../../agent', import.meta.url));

function layersOf(model: string | undefined): number | undefined {
  if (model === undefined) return undefined;
  const layers = findModel(model)?.config.num_hidden_layers;
  if (typeof layers === 'number') return layers;
  throw new UserError(
    'usage',
    `Unknown model preset ${JSON.stringify(model)}.`,
    `Give --layers N, or one of: ${modelPresets.map(({ id }) => id).join(', ')}`,
  );
}

export async function factsFor(values: CaptureValues, asked: CaptureOptions): Promise<PlanFacts> {
  // Of another machine nothing is known before it is reached; that of this one says nothing.
  if (isFar(values))
    return {
      nsysVersion: readVersion('--nsys-version', values.nsysVersion),
      engineVersion: readVersion('--engine-version', values.engineVersion),
      ...(asksForAgent(values) ? { agent: await agentFacts(values, asked) } : {}),
    };
  const nsys = values.nsysVersion === undefined ? (await findNsys(placesFor(asked)))[0] : undefined;
  return {
    ...(nsys ? { nsys: nsysCommand(nsys.path) } : {}),
    nsysVersion: readVersion('--nsys-version', values.nsysVersion ?? nsys?.version),
    nsysMissing: values.nsysVersion === undefined && nsys === undefined,
    engineVersion:
      values.engineVersion === undefined
        ? await installedEngine(asked)
        : readVersion('--engine-version', values.engineVersion),
    ...(asksForAgent(values) ? { agent: await agentFacts(values, asked) } : {}),
    nvtxModule: isElsewhere(values, asked)
      ? undefined
      : await canImport(localTransport, asked.command, 'nvtx'),
    runsHere: !isElsewhere(values, asked),
    freeBytes: freeBytesOf(path.dirname(path.resolve(asked.output ?? 'trace'))),
    temporaryFreeBytes: freeBytesOf(os.tmpdir()),
    root: process.getuid?.() === 0,
    ...readRights(),
  };
}

/** A path that names an nsys which is here is the one to ask. */
const placesFor = ({ nsys }: CaptureOptions) =>
  nsys !== undefined && fs.existsSync(nsys)
    ? { env: { ...process.env, NSYS: nsys }, platform: process.platform, root: '' }
    : undefined;

/** A script will look for itself; a pod or another machine is asked once it is reached. */
const isElsewhere = (values: CaptureValues, { command }: CaptureOptions): boolean =>
  isFar(values) || values.script !== undefined || command.length === 0;

async function agentFacts(values: CaptureValues, asked: CaptureOptions): Promise<AgentFacts> {
  const installed = isElsewhere(values, asked) ? undefined : await findAgent(localTransport, asked.command);
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
  const found = parseVersion(text);
  if (found) return found;
  throw new UserError(
    'usage',
    `${option} ${JSON.stringify(text)} is not a version.`,
    `For example: ${option} 1.2.0`,
  );
}
