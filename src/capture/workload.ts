/**
 * What keeps a pod alive, and how its command is changed and changed back. Pure: objects of the Kubernetes API are handed
 * in. Only the command, its arguments and its variables of one container are touched, as JSON Patch (RFC 6902), and the
 * way back is made from what was there before.
 */
import type { CapturePlan } from './capture-plan.js';

interface EnvVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}

interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVariable[];
}

export interface KubernetesObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly name: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec?: {
    readonly replicas?: number;
    readonly containers?: readonly Container[];
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } };
  };
  readonly status?: { readonly phase?: string };
}

/** Kinds whose pods are replaced when their template changes. */
export const restartable = ['Deployment', 'StatefulSet'];

export interface PatchOperation {
  readonly op: 'add' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

export interface CommandChange {
  readonly there: readonly PatchOperation[];
  readonly back: readonly PatchOperation[];
}

/** The container that is named, or the only one; undefined where the choice is the user's. */
export function containerAt(containers: readonly Container[], named: string | undefined): number | undefined {
  const at =
    named === undefined
      ? containers.length === 1
        ? 0
        : -1
      : containers.findIndex(({ name }) => name === named);
  return at < 0 ? undefined : at;
}

/** `before`: the container in the template of the workload. */
export function changeCommand(
  at: number,
  before: Container,
  { command, env }: Pick<CapturePlan, 'command' | 'env'>,
): CommandChange {
  const place = (field: string) => `/spec/template/spec/containers/${at}/${field}`;
  const set = (field: string, value: unknown): PatchOperation => ({ op: 'add', path: place(field), value });
  const own = (before.env ?? []).filter(({ name }) => !(name in env));
  const added = Object.entries(env).map(([name, value]) => ({ name, value }));
  // `add` replaces what is there. Without arguments of its own the image's would be appended, so they are emptied.
  const there = [
    set('command', command),
    set('args', []),
    ...(added.length > 0 ? [set('env', [...own, ...added])] : []),
  ];
  const back = there.map(({ path }): PatchOperation => {
    const field = path.slice(path.lastIndexOf('/') + 1) as 'command' | 'args' | 'env';
    return before[field] === undefined ? { op: 'remove', path } : set(field, before[field]);
  });
  return { there, back };
}

/** Pods that run with the changed command. */
export const isChanged = (
  pod: KubernetesObject,
  at: number,
  { command }: Pick<CapturePlan, 'command'>,
): boolean =>
  JSON.stringify(pod.spec?.containers?.[at]?.command) === JSON.stringify(command) &&
  pod.status?.phase === 'Running' &&
  pod.metadata?.deletionTimestamp === undefined;

/** A plan whose report is written while the server runs on: the end of a container takes its files along. */
export const writesWhileServing = ({
  profiler,
  command,
}: Pick<CapturePlan, 'profiler' | 'command'>): boolean =>
  profiler === 'torch' || command.includes('--capture-range-end=stop');
