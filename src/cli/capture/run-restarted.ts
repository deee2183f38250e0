/** `capture --pod NAME --restart`: the server of a pod, restarted under the profiler with its own command, and changed back. */
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { CaptureOptions, CapturePlan, PlanStep } from '../../capture/capture-plan.js';
import { planCapture } from '../../capture/plan-capture.js';
import { canImport } from '../../capture/run/ask-python.js';
import { fetchWhatAppears, processesIn } from '../../capture/run/attach-far.js';
import { lookAt } from '../../capture/run/remote-machine.js';
import { refuseWithoutRight, whileChanged, workloadOf } from '../../capture/run/restart-pod.js';
import { terminalInterrupts } from '../../capture/run/run-plan.js';
import { followSteps } from '../../capture/run/run-server.js';
import { openStore } from '../../capture/run/store-results.js';
import { kubectlTransport, type Transport } from '../../capture/run/transport.js';
import { openTunnel } from '../../capture/run/tunnel.js';
import { findServer, programWords } from '../../capture/running-server.js';
import { parseVersion } from '../../capture/versions.js';
import { demandOf, requestShape } from '../../capture/window-goal.js';
import {
  changeCommand,
  containerAt,
  isChanged,
  type KubernetesObject,
  writesWhileServing,
} from '../../capture/workload.js';
import { presets } from '../../catalog/engine-programs.js';
import { readLengths } from '../../stats/lengths.js';
import type { Output } from '../output.js';
import { captureLines } from './capture-lines.js';
import type { CaptureValues } from './capture-question.js';
import { demandedSteps, healthTimeout, judgeAndShow, loadOf, windowOf } from './run-capture.js';

/** Exists in every container; what we write there ends with it. */
const FOLDER = '/tmp';
const SHELLS = /^(ba|da|z|k)?sh$/;

export async function runRestarted(
  asked: CaptureOptions,
  values: CaptureValues,
  output: Output,
  check: (plan: CapturePlan) => void,
): Promise<number> {
  const { pod, namespace, container } = values;
  if (pod === undefined || asked.command.length > 0)
    throw new UserError(
      'usage',
      pod === undefined
        ? '--restart needs the pod of the server.'
        : '--restart uses the command of the server.',
      pod === undefined
        ? 'Name it: --pod NAME'
        : 'Remove the command, or remove --restart to start a second server.',
    );
  const store = values.store === undefined ? undefined : openStore(values.store);
  const lines = captureLines(output, undefined);
  const workload = await workloadOf({ pod, namespace });
  await refuseWithoutRight(workload, namespace);
  const containers = workload.object.spec?.template?.spec?.containers ?? [];
  const at = containerAt(containers, container);
  if (at === undefined)
    throw new UserError(
      'usage',
      `${workload.name} has ${containers.length} containers: ${containers.map(({ name }) => name).join(', ')}.`,
      'Name one with -c.',
    );
  const old = kubectlTransport({ pod, namespace, container: containers[at].name });
  const own = await ownCommand(old, containers[at], values);
  const local = path.resolve((asked.output ?? 'trace').replace(/\.nsys-rep$/, ''));
  const planFor = await planner(old, own, asked, `${FOLDER}/stepscope-${path.basename(local)}`);
  const plan = planFor();
  refuse(plan, workload.name);
  check(plan);
  const port = Number(new URL(waitingFor(plan.steps)).port) || presets[plan.preset].port;
  const aborted = new AbortController();
  const unlisten = terminalInterrupts.listen(() => aborted.abort());
  try {
    const isNew = (one: KubernetesObject) => isChanged(one, at, plan);
    const files = await whileChanged(
      workload,
      changeCommand(at, containers[at], plan),
      { namespace, onNotice: lines.onNotice, isNew, signal: aborted.signal },
      async name => {
        const there = kubectlTransport({ pod: name, namespace, container: containers[at].name });
        const tunnel = await openTunnel(there, port, { isUp: false });
        try {
          const place = {
            folder: values.torchTrace ?? FOLDER,
            begins: values.torchTrace ? '' : `stepscope-${path.basename(local)}`,
          };
          const fetching = {
            output: `${local}.nsys-rep`,
            force: asked.force,
            onNotice: lines.onNotice,
            signal: aborted.signal,
            ...(values.timeout === undefined ? {} : { filesTimeoutMs: values.timeout / 1e6 }),
          };
          return await fetchWhatAppears(
            there,
            () => place,
            fetching,
            () =>
              followSteps(planFor(tunnel.url).steps, {
                // Without numbers the engine is watched, and requests are sent as long as the window needs them.
                load: loadOf(demandOf(asked) ? values : enoughRequests(values, asked), output),
                url: tunnel.url,
                signal: aborted.signal,
                onNotice: lines.onNotice,
                onProgress: lines.onProgress,
                ...healthTimeout(values),
              }),
          );
        } finally {
          tunnel.close();
        }
      },
    );
    for (const { path: file } of files) output.err(`wrote ${file}\n`);
    await store?.put(
      files.map(({ path: file }) => file),
      (_, where) => output.err(`stored ${where}\n`),
    );
    const window = windowOf(asked);
    return await judgeAndShow(
      files.map(({ path: file }) => file),
      { ...plan, ...demandedSteps(asked), ...(window ? { window, windows: asked.iterations } : {}) },
      output,
    );
  } finally {
    unlisten();
  }
}

/** Without a counter to watch: a request of N tokens takes N steps or more, and one more round is kept in reserve. */
function enoughRequests(values: CaptureValues, asked: CaptureOptions): CaptureValues {
  if (values.sent !== undefined || values.pressure !== undefined) return values;
  const { users, outputTokens } = requestShape(asked);
  const rounds = Math.ceil(((asked.iterations?.at(-1)?.last ?? 0) + 1) / outputTokens) + 1;
  return {
    ...values,
    pressure: `concurrent:${users}`,
    sent: users * rounds,
    sentOutput: values.sentOutput ?? readLengths('--output-tokens', String(outputTokens)),
  };
}

/** As the template says it; as the process shows it where the image or a shell decides. */
async function ownCommand(
  old: Transport,
  { command, args = [] }: { readonly command?: readonly string[]; readonly args?: readonly string[] },
  values: CaptureValues,
): Promise<readonly string[]> {
  const [program = ''] = command ?? [];
  if (command && !SHELLS.test(path.posix.basename(program))) return [...command, ...args];
  const server = findServer(await processesIn(old), values.preset);
  if (server) return programWords(server.words);
  throw new UserError(
    'capture-failed',
    `No server of a known engine runs in ${old.name}, so its command is not known.`,
    'Write it after --: stepscope capture --pod POD -- COMMAND',
  );
}

async function planner(old: Transport, command: readonly string[], asked: CaptureOptions, output: string) {
  const machine = await lookAt(old);
  const nvtxModule = await canImport(old, command, 'nvtx');
  if (machine.nsys === undefined && asked.torchTrace === undefined)
    throw new UserError(
      'needs-nsys',
      `nsys is not installed in ${old.name}, and a restarted container does not keep a copy.`,
      'Add it to the image or mount it, or record with the PyTorch profiler: --torch-trace /tmp/traces',
    );
  return (serverUrl?: string) =>
    planCapture(
      { ...asked, command, nsys: undefined, output, ...(serverUrl === undefined ? {} : { serverUrl }) },
      {
        nsys: machine.nsys,
        nsysVersion: parseVersion(machine.nsysVersion ?? ''),
        root: machine.root,
        nvtxModule,
      },
    );
}

function refuse(plan: CapturePlan, name: string): void {
  if (plan.server && writesWhileServing(plan)) return;
  throw new UserError(
    'capture-failed',
    plan.server
      ? `${plan.engine} does not open a capture range: its report is written when the server ends, and the container of ${name} with it.`
      : `The command of ${name} is not a server of a known engine.`,
    plan.server
      ? 'Use --agent in the image, or start a second server: stepscope capture --pod POD -- COMMAND'
      : 'Name the engine with --preset.',
  );
}

const waitingFor = (steps: readonly PlanStep[]): string =>
  steps.flatMap(step => (step.do === 'wait-http' ? [step.url] : []))[0] ?? 'http://localhost:8000';
