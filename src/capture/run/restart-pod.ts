/**
 * Restarts the workload of a pod with another command, does something while it runs, and changes it back, whatever
 * happened. Everything goes through the user's kubectl and its rights.
 */
import { UserError } from '../../base/user-error.js';
import { shellCommand } from '../shell-quote.js';
import type { CommandChange, KubernetesObject, PatchOperation } from '../workload.js';
import { restartable } from '../workload.js';
import { sleep } from './marked-processes.js';
import { unreachable } from './remote-machine.js';
import { lastLine, localTransport, refuseName } from './transport.js';

interface PodName {
  readonly pod: string;
  readonly namespace?: string;
}

/** Loading a large model takes its time, and the old pod has to free its GPU first. */
const READY_MS = 30 * 60_000;
const POLL_MS = 2000;

const inNamespace = (namespace: string | undefined) =>
  namespace === undefined ? [] : [`--namespace=${namespace}`];

async function getObject(
  namespace: string | undefined,
  ...what: readonly string[]
): Promise<KubernetesObject & { items?: KubernetesObject[] }> {
  const result = await localTransport.exec([
    'kubectl',
    'get',
    ...inNamespace(namespace),
    ...what,
    '--output=json',
  ]);
  if (result.status !== 0) throw unreachable({ ...localTransport, name: what.join(' ') }, result);
  return JSON.parse(result.stdout) as KubernetesObject;
}

interface Workload {
  /** As kubectl names it: `deployment/llama`. */
  readonly name: string;
  readonly object: KubernetesObject;
  readonly pod: KubernetesObject;
}

/** What restarts this pod, or why nothing does. */
export async function workloadOf({ pod, namespace }: PodName): Promise<Workload> {
  refuseName('pod', pod);
  refuseName('namespace', namespace);
  const itself = await getObject(namespace, 'pod', pod);
  let at = itself;
  const chain = [`pod ${pod}`];
  // A pod belongs to a replica set, which belongs to a deployment.
  for (;;) {
    const owner = (at.metadata?.ownerReferences ?? []).find(({ controller }) => controller !== false);
    if (!owner) break;
    chain.push(`${owner.kind} ${owner.name}`);
    if (restartable.includes(owner.kind) || owner.kind === 'ReplicaSet')
      at = await getObject(namespace, owner.kind.toLowerCase(), owner.name);
    else break;
    if (restartable.includes(owner.kind))
      return { name: `${owner.kind.toLowerCase()}/${owner.name}`, object: at, pod: itself };
  }
  throw new UserError(
    'capture-failed',
    `${chain.join(' of ')} cannot be restarted with another command: only ${restartable.join('s and ')}s are.`,
    'Start a second server under the profiler: stepscope capture --pod POD -- COMMAND',
  );
}

export async function refuseWithoutRight({ name }: Workload, namespace: string | undefined): Promise<void> {
  const asked = ['kubectl', 'auth', 'can-i', 'patch', name, ...inNamespace(namespace)];
  const result = await localTransport.exec(asked);
  if (result.status === 0 && /^yes/.test(result.stdout)) return;
  throw new UserError(
    'capture-failed',
    `Your account may not restart ${name}: ${/^no/.test(result.stdout) ? 'it lacks the right to patch it' : lastLine(result)}.`,
    'Ask for that right, or start a second server: stepscope capture --pod POD -- COMMAND',
  );
}

async function patch(
  name: string,
  namespace: string | undefined,
  operations: readonly PatchOperation[],
): Promise<void> {
  const result = await localTransport.exec(patchCommand(name, namespace, operations));
  if (result.status !== 0) throw unreachable({ ...localTransport, name }, result);
}

const patchCommand = (name: string, namespace: string | undefined, operations: readonly PatchOperation[]) => [
  ...['kubectl', 'patch', name, ...inNamespace(namespace), '--type=json'],
  `--patch=${JSON.stringify(operations)}`,
];

interface RestartOptions {
  readonly namespace?: string;
  readonly onNotice?: (text: string) => void;
  readonly isNew: (pod: KubernetesObject) => boolean;
  readonly signal: AbortSignal;
  readonly readyMs?: number;
  readonly pollMs?: number;
}

/** `use` gets the name of a pod that runs the changed command. The way back is taken even if it fails. */
export async function whileChanged<T>(
  workload: Workload,
  change: CommandChange,
  options: RestartOptions,
  use: (pod: string) => Promise<T>,
): Promise<T> {
  const { namespace, onNotice } = options;
  onNotice?.(`restarting ${workload.name} under the profiler; it is changed back afterwards`);
  await patch(workload.name, namespace, change.there);
  try {
    return await use(await newPod(workload, options));
  } finally {
    onNotice?.(`changing ${workload.name} back`);
    await patch(workload.name, namespace, change.back).catch((error: unknown) => {
      throw new UserError(
        'unreachable',
        `${workload.name} still runs under the profiler: ${error instanceof Error ? error.message : String(error)}`,
        `Change it back: ${shellCommand(patchCommand(workload.name, namespace, change.back))}`,
      );
    });
  }
}

async function newPod(
  workload: Workload,
  { namespace, isNew, signal, readyMs = READY_MS, pollMs = POLL_MS }: RestartOptions,
): Promise<string> {
  const labels = Object.entries(workload.object.spec?.selector?.matchLabels ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  const until = Date.now() + readyMs;
  for (;;) {
    const { items = [] } = await getObject(namespace, 'pods', `--selector=${labels.join(',')}`);
    const name = items.find(isNew)?.metadata?.name;
    if (name !== undefined) return name;
    if (signal.aborted)
      throw new UserError(
        'capture-failed',
        'Stopped while waiting for the new pod.',
        'Nothing was recorded yet.',
      );
    if (Date.now() >= until)
      throw new UserError(
        'capture-failed',
        `No pod of ${workload.name} runs with the profiler after ${Math.round(readyMs / 60_000)} minutes.`,
        `See why: kubectl describe ${workload.name}. With one GPU, the old pod must end first (strategy: Recreate).`,
      );
    await sleep(pollMs);
  }
}
