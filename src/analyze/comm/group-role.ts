/**
 * What a group of ranks shares: by the name the program gave it, else by what it does. Names of collectives do not say
 * it for certain, so a role that was not named is an inference and is marked as one.
 */
import type { CollectiveKind } from '../../catalog/messages.js';
import type { ProcessGroup } from '../../model/profile.js';

type Role = 'tensor' | 'expert' | 'data' | 'pipeline' | 'context';

interface GroupRole {
  readonly role: Role;
  readonly inferred: boolean;
}

const named: readonly (readonly [role: Role, pattern: RegExp])[] = [
  ['tensor', /(?:^|[^a-z])(?:attn_?)?tp(?:[^a-z]|$)|tensor|model_parallel/i],
  ['expert', /(?:^|[^a-z])(?:moe_?)?ep(?:[^a-z]|$)|expert/i],
  ['data', /(?:^|[^a-z])dp(?:[^a-z]|$)|data/i],
  ['pipeline', /(?:^|[^a-z])pp(?:[^a-z]|$)|pipeline/i],
  ['context', /(?:^|[^a-z])d?cp(?:[^a-z]|$)|context/i],
];

/** `ranks`: by their numbers, in order. Undefined: neither its name nor its collectives say it. */
export function roleOfGroup(
  name: string,
  ranks: readonly number[],
  kinds: ReadonlySet<CollectiveKind>,
  stated: readonly ProcessGroup[],
): GroupRole | undefined {
  const words = `${name} ${stated.find(group => group.name === name)?.description ?? ''}`;
  const known = named.find(([, pattern]) => pattern.test(words));
  if (known) return { role: known[0], inferred: false };
  if (kinds.has('dispatch') || kinds.has('combine') || kinds.has('all-to-all'))
    return { role: 'expert', inferred: true };
  if (ranks.length < 2 || ![...kinds].every(kind => kind.startsWith('all-') || kind === 'reduce-scatter'))
    return undefined;
  // Launchers number the ranks of a model's replica in a row, and replicas after each other.
  const strides = new Set(ranks.slice(1).map((rank, i) => rank - ranks[i]));
  if (strides.size !== 1) return undefined;
  return { role: strides.has(1) ? 'tensor' : 'data', inferred: true };
}
