/** After the plan: run it, here or far away, keep a recipe, open what came out, judge it, print the page. */
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { CaptureOptions, CapturePlan, PlanFacts, PlanStep } from '../../capture/capture-plan.js';
import { type Asked, judgeCapture } from '../../capture/judge-capture.js';
import { planCapture } from '../../capture/plan-capture.js';
import { commandText } from '../../capture/plan-text.js';
import { canImport } from '../../capture/run/ask-python.js';
import { EngineClock } from '../../capture/run/engine-clock.js';
import { agentThere } from '../../capture/run/find-agent.js';
import { type RunOptions, type RunResult, runFailure, runPlan } from '../../capture/run/run-plan.js';
import { runRemote } from '../../capture/run/run-remote.js';
import { runServer } from '../../capture/run/run-server.js';
import { openStore } from '../../capture/run/store-results.js';
import { kubectlTransport, sshTransport, type Transport } from '../../capture/run/transport.js';
import { writeRecipe } from '../../capture/run/write-recipe.js';
import { OutputWatch, type WrittenFile } from '../../capture/run/written-files.js';
import { servingSteps } from '../../capture/serving-steps.js';
import { parseVersion } from '../../capture/versions.js';
import { demandOf } from '../../capture/window-goal.js';
import { showPage } from '../analyzed-result.js';
import type { Output } from '../output.js';
import { profileOf } from '../profile-of.js';
import { version } from '../version.js';
import { type CaptureLines, captureLines } from './capture-lines.js';
import { loadFor } from './capture-load.js';
import type { CaptureValues } from './capture-question.js';
import { runCalibration } from './run-calibration.js';

/** Status for scripts: the capture is there but cannot answer. */
const NOT_RECORDED = 8;

interface CaptureJob {
  readonly asked: CaptureOptions;
  readonly plan: CapturePlan;
  readonly values: CaptureValues;
  readonly facts: PlanFacts;
}

export async function runCapture(job: CaptureJob, output: Output): Promise<number> {
  const window = windowOf(job.asked);
  const store = job.values.store === undefined ? undefined : openStore(job.values.store);
  // A name that is taken is better known before the first run than after it.
  OutputWatch.begin(job.plan.calibration?.outputs ?? [], job.asked.force === true);
  const lines = captureLines(output, window);
  const clock = new EngineClock();
  const { result: ran, plan, where, nsysVersion } = await runSomewhere(job, lines, clock, output);
  lines.end();
  const failure = runFailure(ran);
  if (failure) throw failure;
  const heard = clock.write(ran.files, job.asked.force === true);
  const calibrated = await calibrate(job, ran, output);
  const result = { ...ran, files: [...ran.files, ...heard, ...calibrated] };
  const versions = { stepscope: version(), ...(nsysVersion ? { nsys: nsysVersion } : {}) };
  const recipe = await writeRecipe(plan, result, { versions, where, ...(window ? { window } : {}) });
  const files = result.files.filter(({ bytes }) => bytes > 0).map(({ path: file }) => file);
  for (const file of files) output.err(`wrote ${file}\n`);
  if (recipe) output.err(`wrote ${recipe}\n`);
  await store?.put([...files, ...(recipe ? [recipe] : [])], (_, where) => output.err(`stored ${where}\n`));
  if (result.status !== 0 && result.status !== null && !result.stoppedBy)
    output.err(`stepscope: the command ended with status ${result.status}; the profile was still written.\n`);
  if (result.incomplete)
    output.err(
      `stepscope: the window is incomplete: ${result.incomplete.message}\n  → ${result.incomplete.hint}\n`,
    );
  const status = await judgeAndShow(
    files,
    {
      ...plan,
      window,
      windows: job.asked.iterations,
      ...demandedSteps(job.asked),
      ranks: ranksOf(plan),
      estimateBytes: plan.estimate.reportBytes,
    },
    output,
  );
  return result.incomplete ? NOT_RECORDED : status;
}

async function calibrate(job: CaptureJob, ran: RunResult, output: Output): Promise<readonly WrittenFile[]> {
  const { plan, values } = job;
  // Whoever stopped the first run does not want a second one.
  if (!plan.calibration || ran.stoppedBy) return [];
  const lines = captureLines(output, undefined);
  const steps = servingSteps(values.server ?? '', job.asked, plan.calibration.env);
  const files = await runCalibration(
    plan.calibration,
    runOptions(job, lines, lines.onLine),
    values.server !== undefined
      ? { steps, options: serverOptions(job, steps, new EngineClock(), output) }
      : undefined,
    output,
  );
  lines.end();
  return files;
}

function runOptions({ asked, values }: CaptureJob, lines: CaptureLines, onLine: (line: string) => void) {
  return {
    force: asked.force,
    ...(values.timeout === undefined ? {} : { timeoutMs: values.timeout / 1e6 }),
    onLine,
    onIteration: lines.onIteration,
    onNotice: lines.onNotice,
    onProgress: lines.onProgress,
  };
}

interface Ran {
  readonly result: RunResult;
  readonly plan: CapturePlan;
  readonly where: string;
  readonly nsysVersion?: string;
}

async function runSomewhere(
  job: CaptureJob,
  lines: CaptureLines,
  clock: EngineClock,
  output: Output,
): Promise<Ran> {
  const { plan, values, facts } = job;
  const far = transportOf(values);
  const common = runOptions(job, lines, line => {
    clock.hear(line);
    lines.onLine(line);
  });
  if (far) return runFar(far, job, common);
  const serving = plan.server || values.server !== undefined;
  const steps = plan.server ? plan.steps : servingSteps(values.server ?? '', job.asked, plan.env);
  const result = serving
    ? await runServer({ ...plan, steps }, { ...common, ...serverOptions(job, steps, clock, output) })
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
    source: { deb: values.nsysDeb, tree: values.nsysTree },
    output: `${path.resolve(local)}.nsys-rep`,
    plan: async (machine, folder) => {
      const ours =
        facts.agent && asked.agent ? { folder: asked.agent, version: facts.agent.ours } : undefined;
      const brought = `${path.posix.dirname(folder)}/agent`;
      const agent = ours && (await agentThere(far, asked.command, ours, brought));
      plan = planCapture(
        {
          ...asked,
          // The nsys that was found there counts, not a path of this machine.
          nsys: undefined,
          output: `${folder}/${path.basename(local)}`,
          ...(agent ? { agent: brought } : {}),
        },
        {
          nsys: machine.nsys,
          nsysVersion: parseVersion(machine.nsysVersion ?? ''),
          root: machine.root,
          nvtxModule: await canImport(far, asked.command, 'nvtx'),
          ...(agent ? { agent } : {}),
        },
      );
      for (const { code, text } of plan.warnings) if (code === 'other-agent') common.onNotice?.(text);
      return plan;
    },
  });
  return { result, plan: plan!, where: far.name, nsysVersion: result.machine.nsysVersion };
}

export function transportOf({ pod, ssh, namespace, container }: CaptureValues): Transport | undefined {
  if (pod !== undefined && ssh !== undefined)
    throw new UserError('usage', '--pod and --ssh cannot be combined.', 'Give one of them.');
  if (pod !== undefined) return kubectlTransport({ pod, namespace, container });
  if (namespace !== undefined || container !== undefined)
    throw new UserError('usage', '-n and -c need --pod.', 'Name it: --pod NAME');
  return ssh === undefined ? undefined : sshTransport(ssh);
}

function serverOptions(
  { values, asked, plan }: Pick<CaptureJob, 'values' | 'asked' | 'plan'>,
  steps: readonly PlanStep[],
  clock: EngineClock,
  output: Output,
) {
  const waiting = steps.find(step => step.do === 'wait-http');
  const url = values.server ?? asked.serverUrl ?? (waiting ? new URL(waiting.url).origin : '');
  const { keepServer } = values;
  const report = plan.outputs[0]?.pattern ?? 'server';
  return {
    url: addressed(url),
    load: loadOf(values, output, document => clock.hearLoad(document)),
    keepServer,
    ...(keepServer ? { logFile: `${report.replace(/\.nsys-rep$/, '').replace(/[%*{}]/g, '_')}.log` } : {}),
    ...healthTimeout(values),
  };
}

export async function judgeAndShow(files: readonly string[], asked: Asked, output: Output): Promise<number> {
  const profile = await profileOf(files, output);
  const { checks, corrected } = judgeCapture(profile, asked);
  const signs = { good: 'ok  ', poor: 'poor', bad: 'BAD ' };
  for (const { state, text, fix, otherFixes = [] } of checks) {
    const lines = [text, ...(fix === undefined ? [] : [fix, ...otherFixes])];
    output.err(`  ${signs[state]}  ${lines.join('\n        → ')}\n`);
  }
  if (corrected)
    output.err(
      `\nto fix it:\n  ${commandText(corrected as Parameters<typeof commandText>[0]).replaceAll('\n', '\n  ')}\n`,
    );
  output.err('\n');
  await showPage(profile, files, output);
  return checks.some(({ state }) => state === 'bad') ? NOT_RECORDED : 0;
}

export function windowOf({ iterations }: CaptureOptions): { first: number; last: number } | undefined {
  if (!iterations?.length) return undefined;
  return { first: iterations[0].first, last: iterations[iterations.length - 1].last };
}

/** What was asked for where the window has no numbers. */
export function demandedSteps(asked: CaptureOptions): Pick<Asked, 'stepCount' | 'phase'> {
  const demand = demandOf(asked);
  return demand ? { stepCount: demand.steps, ...(asked.phase ? { phase: asked.phase } : {}) } : {};
}

/** Files of ranks; several ranges of one rank are several files too. */
const ranksOf = (plan: CapturePlan): number | undefined =>
  plan.outputs.find(({ kind, pattern }) => kind === 'nsys-report' && !pattern.includes('*'))?.count;

export const healthTimeout = ({ healthTimeout: ns }: CaptureValues) =>
  ns === undefined ? {} : { healthTimeoutMs: ns / 1e6 };

export const loadOf = (
  { pressure, sent, sentInput, sentOutput, sentDataset }: CaptureValues,
  output: Output,
  keep?: (document: object) => void,
) =>
  loadFor(
    {
      ...{ levels: pressure, requests: sent, inputTokens: sentInput, outputTokens: sentOutput },
      dataset: sentDataset,
    },
    output,
    keep,
  );

export function addressed(text: string): string {
  try {
    const url = new URL(/^https?:\/\//.test(text) ? text : `http://${text}`);
    return url.href;
  } catch {
    throw new UserError(
      'usage',
      `${JSON.stringify(text)} is not a URL.`,
      'For example: --server http://localhost:8000',
    );
  }
}
