/** Pods by their labels, with the user's own kubectl. */
import { UserError } from '../../base/user-error.js';
import { unreachable } from './remote-machine.js';
import { localTransport, refuseName } from './transport.js';

interface PodQuestion {
  /** As kubectl takes it: `app=llm,tier!=test`. */
  readonly selector: string;
  readonly namespace?: string;
}

interface PodList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string; readonly deletionTimestamp?: string };
    readonly status?: { readonly phase?: string };
  }[];
}

/** Names of the pods that run, in order; what waits, has ended or is being deleted is left out. */
export async function podsWith({ selector, namespace }: PodQuestion): Promise<string[]> {
  refuseName('namespace', namespace);
  const where = namespace === undefined ? [] : [`--namespace=${namespace}`];
  const asked = ['kubectl', 'get', 'pods', ...where, `--selector=${selector}`, '--output=json'];
  const result = await localTransport.exec(asked);
  if (result.status !== 0) throw unreachable({ ...localTransport, name: 'the cluster' }, result);
  const { items = [] } = JSON.parse(result.stdout) as PodList;
  const running = items.filter(
    ({ metadata, status }) => status?.phase === 'Running' && metadata?.deletionTimestamp === undefined,
  );
  if (running.length > 0)
    return running
      .flatMap(({ metadata }) => metadata?.name ?? [])
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  throw new UserError(
    'not-found',
    items.length === 0
      ? `No pod has the labels ${selector}${namespace === undefined ? '' : ` in ${namespace}`}.`
      : `None of the ${items.length} pods with the labels ${selector} is running.`,
    'Check the labels and -n NAMESPACE: kubectl get pods -A --show-labels',
  );
}
