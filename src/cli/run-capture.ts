/** After the plan: run it, here or far away, keep a recipe, open what came out, judge it, print the page. */
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import type { CaptureOptions, CapturePlan, PlanFacts, PlanStep } from '../capture/capture-plan.js';
import { planCapture } from '../capture/plan-capture.js';
import { commandText } from '../capture/plan-text.js';
import { agentThere } from '../capture/run/find-agent.js';
import { type RunOptions, type RunResult, runFailure, runPlan } from '../capture/run/run-plan.js';
import { fetchRemote, runRemote } from '../capture/run/run-remote.js';
import { attachServer, attachSteps, runServer } from '../capture/run/run-server.js';
import { kubectlTransport, sshTransport, type Transport } from '../capture/run/transport.js';
import { writeRecipe } from '../capture/run/write-recipe.js';
import { parseVersion } from '../capture/versions.js';
import { openProfile } from '../import/open.js';
import { type CaptureLines, captureLines } from './capture-lines.js';
import { loadFor } from './capture-load.js';
import type { Output } from './command.js';
import { analyze } from './commands/analyze.js';
import { type Asked, judgeCapture } from './judge-capture.js';
import { version } from './version.js';

interface RunValues {
  readonly timeout?: string;
  readonly pod?: string;
  readonly namespace?: string;
  readonly container?: string;
  readonly ssh?: string;
  readonly fetch?: string;
  readonly 'nsys-deb'?: string;
  readonly 'nsys-tree'?: string;
  readonly server?: string;
  readonly attach?: boolean;
  readonly 'keep-server'?: boolean;
  readonly 'health-timeout'?: string;
  readonly requests?: string;
  readonly levels?: string;
}

export const runOptions = {
  timeout: { type: 'string' },
  pod: { type: 'string' },
  namespace: { type: 'string', short: 'n' },
  container: { type: 'string', short: 'c' },
  ssh: { type: 'string' },
  fetch: { type: 'string' },
  'nsys-deb': { type: 'string' },
  'nsys-tree': { type: 'string' },
  server: { type: 'string' },
  attach: { type: 'boolean' },
  'keep-server': { type: 'boolean' },
  'health-timeout': { type: 'string' },
  requests: { type: 'string' },
  levels: { type: 'string' },
} as const;

export const runHelp = [
  { flags: '--timeout S', meaning: 'stop after so long and keep what there is' },
  { flags: '--server URL', meaning: 'the command serves there: wait for it, send requests, stop it' },
  { flags: '--keep-server', meaning: 'let the server run on after its report is written' },
  { flags: '--attach', meaning: 'with --server: one that runs already, by its own start and stop addresses' },
  {
    flags: '--levels LEVEL,…',
    meaning: 'press it as stepscope load does: single,concurrent:16,sustained:4/s',
  },
  { flags: '--requests N', meaning: 'how many to send (16), or per level' },
  { flags: '--health-timeout S', meaning: 'how long the server may take to come up' },
  {
    flags: '--pod NAME [-n NS] [-c NAME]',
    meaning: 'run it in a pod, through your kubectl, and copy the report back',
  },
  { flags: '--fetch FOLDER', meaning: 'with --pod or --ssh: get the reports of a run whose copy broke off' },
  { flags: '--ssh HOST', meaning: 'run it there, through your ssh' },
  { flags: '--nsys-deb FILE, --nsys-tree DIR', meaning: 'the nsys to bring along where there is none' },
] as const;

/** Status for scripts: the capture is there but cannot answer. */
const NOT_RECORDED = 8;

interface CaptureJob {
  readonly asked: CaptureOptions;
  readonly plan: CapturePlan;
  readonly values: RunValues;
  readonly facts: PlanFacts;
}

export async function runCapture(job: CaptureJob, output: Output): Promise<number> {
  const window = windowOf(job.asked);
  const lines = captureLines(output, window);
  const { result, plan, where, nsysVersion } = await runSomewhere(job, lines, output);
  lines.end();
  const failure = runFailure(result);
  if (failure) throw failure;
  const versions = { stepscope: version(), ...(nsysVersion ? { nsys: nsysVersion } : {}) };
  const recipe = await writeRecipe(plan, result, { versions, where, ...(window ? { window } : {}) });
  const files = result.files.filter(({ bytes }) => bytes > 0).map(({ path: file }) => file);
  for (const file of files) output.err(`wrote ${file}\n`);
  if (recipe) output.err(`wrote ${recipe}\n`);
  if (result.status !== 0 && result.status !== null && !result.stoppedBy)
    output.err(
      `stepscope: the command ended with status ${result.status}; the profile was written all the same.\n`,
    );
  return judgeAndShow(
    files,
    {
      ...plan,
      window,
      windows: job.asked.iterations,
      ranks: ranksOf(plan),
      estimateBytes: plan.estimate.reportBytes,
    },
    output,
  );
}

interface Ran {
  readonly result: RunResult;
  readonly plan: CapturePlan;
  readonly where: string;
  readonly nsysVersion?: string;
}

async function runSomewhere(job: CaptureJob, lines: CaptureLines, output: Output): Promise<Ran> {
  const { asked, plan, values, facts } = job;
  const far = transportOf(values);
  const common = {
    force: asked.force,
    ...(values.timeout === undefined ? {} : { timeoutMs: seconds('--timeout', values.timeout) }),
    onLine: lines.onLine,
    onIteration: lines.onIteration,
    onNotice: lines.onNotice,
  };
  if (far) return runFar(far, job, common);
  const serving = plan.server || values.server !== undefined;
  const steps = plan.server ? plan.steps : servingSteps(values.server ?? '');
  const result = serving
    ? await runServer({ ...plan, steps }, { ...common, ...serverOptions(job, steps, output) })
    : await runPlan(plan, common);
  const nsysVersion = facts.nsysVersion?.numbers.join('.');
  return { result, plan, where: 'here', ...(nsysVersion ? { nsysVersion } : {}) };
}

async function runFar(
  far: Transport,
  { asked, values, facts }: CaptureJob,
  common: Pick<RunOptions, 'onNotice'>,
): Promise<Ran> {
  const local = (asked.output ?? 'trace').replace(/\.nsys-rep$/, '');
  let plan: CapturePlan | undefined;
  const result = await runRemote(far, {
    ...common,
    inPod: values.pod !== undefined,
    source: { deb: values['nsys-deb'], tree: values['nsys-tree'] },
    output: `${path.resolve(local)}.nsys-rep`,
    plan: async (machine, folder) => {
      const ours =
        facts.agent && asked.agent ? { folder: asked.agent, version: facts.agent.ours } : undefined;
      const brought = `${path.posix.dirname(folder)}/agent`;
      const agent = ours && (await agentThere(far, asked.command, ours, brought));
      plan = planCapture(
        { ...asked, output: `${folder}/${path.basename(local)}`, ...(agent ? { agent: brought } : {}) },
        {
          nsys: machine.nsys,
          nsysVersion: parseVersion(machine.nsysVersion ?? ''),
          root: machine.root,
          ...(agent ? { agent } : {}),
        },
      );
      for (const { code, text } of plan.warnings) if (code === 'other-agent') common.onNotice?.(text);
      return plan;
    },
  });
  return { result, plan: plan!, where: far.name, nsysVersion: result.machine.nsysVersion };
}

function transportOf({ pod, ssh, namespace, container }: RunValues): Transport | undefined {
  if (pod !== undefined && ssh !== undefined)
    throw new UserError('usage', '--pod and --ssh are two places.', 'Give one of them.');
  if (pod !== undefined) return kubectlTransport({ pod, namespace, container });
  if (namespace !== undefined || container !== undefined)
    throw new UserError('usage', '-n and -c belong to a pod.', 'Name it: --pod NAME');
  return ssh === undefined ? undefined : sshTransport(ssh);
}

/** Of a program we know nothing about: its report is written when it is stopped. */
const servingSteps = (url: string): PlanStep[] => [
  { do: 'start' },
  { do: 'wait-http', url, timeoutS: 1800 },
  { do: 'load', why: 'requests to be profiled' },
  { do: 'stop', signal: 'SIGINT', why: 'the report is written when the profiler stops' },
];

function serverOptions(
  { values, asked, plan }: Pick<CaptureJob, 'values' | 'asked' | 'plan'>,
  steps: readonly PlanStep[],
  output: Output,
) {
  const waiting = steps.find(step => step.do === 'wait-http');
  const url = values.server ?? asked.serverUrl ?? (waiting ? new URL(waiting.url).origin : '');
  const healthTimeoutMs =
    values['health-timeout'] === undefined
      ? undefined
      : seconds('--health-timeout', values['health-timeout']);
  const keepServer = values['keep-server'] === true;
  const report = plan.outputs[0]?.pattern ?? 'server';
  return {
    url: addressed(url),
    load: loadOf(values, output),
    keepServer,
    ...(keepServer ? { logFile: `${report.replace(/\.nsys-rep$/, '').replace(/[%*{}]/g, '_')}.log` } : {}),
    ...(healthTimeoutMs === undefined ? {} : { healthTimeoutMs }),
  };
}

/** What an earlier run in a pod or over ssh left there. */
export async function runFetch(values: RunValues, asked: CaptureOptions, output: Output): Promise<number> {
  const far = transportOf(values);
  if (!far)
    throw new UserError('usage', '--fetch needs to know from where.', 'Add --pod NAME or --ssh HOST.');
  const local = path.resolve((asked.output ?? 'trace').replace(/\.nsys-rep$/, ''));
  const lines = captureLines(output, undefined);
  const files = await fetchRemote(far, values.fetch ?? '', {
    output: `${local}.nsys-rep`,
    force: asked.force,
    onNotice: lines.onNotice,
    copy: { onProgress: done => output.progress('copying', done) },
  });
  output.clearProgress();
  if (files.length === 0)
    throw new UserError(
      'not-found',
      `No report is in ${values.fetch} there.`,
      'Check the folder the run named.',
    );
  for (const { path: file } of files) output.err(`wrote ${file}\n`);
  return judgeAndShow(
    files.map(({ path: file }) => file),
    { command: [], nsysAt: -1, env: {}, window: windowOf(asked), windows: asked.iterations },
    output,
  );
}

/** A server that runs already: its traces lie in the folder it was told of, or was started with. */
export async function runAttached(
  values: RunValues,
  folder: string | undefined,
  output: Output,
): Promise<number> {
  if (values.server === undefined)
    throw new UserError(
      'usage',
      '--attach needs the address of the server.',
      'For example: --attach --server http://localhost:8000',
    );
  const lines = captureLines(output, undefined);
  const url = addressed(values.server);
  const outputs = folder === undefined ? [] : [{ kind: 'torch-trace' as const, pattern: folder }];
  const written = await attachServer(attachSteps(url, folder), outputs, {
    url,
    load: loadOf(values, output),
    onNotice: lines.onNotice,
    ...(values['health-timeout'] === undefined
      ? {}
      : { healthTimeoutMs: seconds('--health-timeout', values['health-timeout']) }),
  });
  const files = written.filter(({ bytes }) => bytes > 0).map(({ path: file }) => file);
  if (files.length > 0) return judgeAndShow(files, { command: [], nsysAt: -1, env: {} }, output);
  output.err(
    'stepscope: the traces lie where the server writes them; open them with stepscope analyze FOLDER\n',
  );
  return 0;
}

async function judgeAndShow(files: readonly string[], asked: Asked, output: Output): Promise<number> {
  const profile = await openProfile(files, {
    onProgress: (file, done) => output.progress(`reading ${file}`, done),
  });
  output.clearProgress();
  const { checks, corrected } = judgeCapture(profile, asked);
  const signs = { good: 'ok  ', poor: 'poor', bad: 'BAD ' };
  for (const { state, text, fix } of checks)
    output.err(`  ${signs[state]}  ${text}${fix ? `\n        → ${fix}` : ''}\n`);
  if (corrected)
    output.err(
      `\nto put it right:\n  ${commandText(corrected as Parameters<typeof commandText>[0]).replaceAll('\n', '\n  ')}\n`,
    );
  output.err('\n');
  await analyze.run([...files], output);
  return checks.some(({ state }) => state === 'bad') ? NOT_RECORDED : 0;
}

function windowOf({ iterations }: CaptureOptions): { first: number; last: number } | undefined {
  if (!iterations?.length) return undefined;
  return { first: iterations[0].first, last: iterations[iterations.length - 1].last };
}

/** Files of ranks; several ranges of one rank are several files too. */
const ranksOf = (plan: CapturePlan): number | undefined =>
  plan.outputs.find(({ kind, pattern }) => kind === 'nsys-report' && !pattern.includes('*'))?.count;

function seconds(option: string, text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value * 1000;
  throw new UserError(
    'usage',
    `${option} ${JSON.stringify(text)} is no number of seconds.`,
    `For example: ${option} 600`,
  );
}

const loadOf = ({ levels, requests }: RunValues, output: Output) =>
  loadFor({ levels, requests: requests === undefined ? undefined : count('--requests', requests) }, output);

function count(option: string, text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UserError('usage', `${option} ${JSON.stringify(text)} is no count.`, `For example: ${option} 16`);
}

function addressed(text: string): string {
  try {
    const url = new URL(/^https?:\/\//.test(text) ? text : `http://${text}`);
    return url.href;
  } catch {
    throw new UserError(
      'usage',
      `${JSON.stringify(text)} is no address.`,
      'For example: --server http://localhost:8000',
    );
  }
}
