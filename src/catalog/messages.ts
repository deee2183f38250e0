/**
 * What collectives are called and what they move. A profiler that knows writes it next to the kernel (Kineto, from
 * torch's ParamCommsUtils); otherwise the kernel's name says the kind and nothing says the size.
 */

/** `other`: a collective whose kind its name does not say. */
export type CollectiveKind =
  | 'all-reduce'
  | 'all-gather'
  | 'reduce-scatter'
  | 'all-to-all'
  | 'dispatch'
  | 'combine'
  | 'broadcast'
  | 'reduce'
  | 'send-receive'
  | 'barrier'
  | 'other';

/** Every rank needs something of every other, so no rank ends before the last one came. */
export const isSymmetric = (kind: CollectiveKind): boolean =>
  kind !== 'broadcast' && kind !== 'reduce' && kind !== 'send-receive' && kind !== 'other';

const kinds: readonly (readonly [kind: CollectiveKind, pattern: RegExp])[] = [
  ['dispatch', /dispatch/i],
  ['combine', /combine/i],
  ['reduce-scatter', /reduce_?scatter/i],
  [
    'all-reduce',
    /all_?reduce|cross_device_reduce|quick_?reduce|ar_fusion|lamport|multimem_one_shot|two_shot|userbuffers_fp16_sum|local_device_load_rmsnorm/i,
  ],
  ['all-gather', /all_?gather/i],
  ['all-to-all', /all_?to_?all|a2a/i],
  ['send-receive', /send_?recv|(?:^|[^a-z])(?:send|recv)(?:[^a-z]|$)|_put|_get/i],
  ['broadcast', /broadcast/i],
  ['barrier', /barrier/i],
  ['reduce', /reduce/i],
];

/** Of a kernel's or a collective's name. */
export const collectiveKind = (name: string): CollectiveKind =>
  kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';

/** Ranges in which a host executes a collective itself (torch.distributed with gloo), as PyTorch names them. */
export const HOST_COLLECTIVE = /^gloo:(?!wait)(\w+)$/;

interface CollectiveMessage {
  readonly collective: string;
  /** Of one rank's input and output. */
  readonly inElements: number;
  readonly outElements: number;
  readonly elementType: string;
  readonly groupSize: number;
  /** Name of the process group, and its ranks as a list. */
  readonly group: string;
  readonly ranks: string;
}

export const messageText = (message: CollectiveMessage): string => JSON.stringify(message);

/** Undefined where the text is not one of ours. Long lists of ranks are cut by the profiler: then they are unknown. */
export function parseMessage(
  text: string,
): (Omit<CollectiveMessage, 'ranks'> & { ranks?: number[] }) | undefined {
  try {
    const { ranks, ...message } = JSON.parse(text) as CollectiveMessage;
    const list = /^\[[\d, ]*\]$/.test(ranks) ? (JSON.parse(ranks) as number[]) : undefined;
    return { ...message, ...(list && list.length > 1 ? { ranks: list } : {}) };
  } catch {
    return undefined;
  }
}

/** As c10 names scalar types. */
const typeBytes: Readonly<Record<string, number>> = {
  ...{ Byte: 1, Char: 1, Bool: 1, Float8_e4m3fn: 1, Float8_e5m2: 1, Float8_e4m3fnuz: 1, Float8_e5m2fnuz: 1 },
  ...{ Short: 2, Half: 2, BFloat16: 2, Int: 4, Float: 4, Long: 8, Double: 8 },
};

/**
 * Bytes that a rank must send or receive at least, by bytes of the message, as nccl-tests counts its bus bandwidth
 * (doc/PERFORMANCE.md): an all-reduce of S bytes over n ranks moves 2(n−1)/n · S, a gather or scatter (n−1)/n of the whole.
 */
const busFactor: Partial<Record<CollectiveKind, (ranks: number) => number>> = {
  'all-reduce': n => (2 * (n - 1)) / n,
  'all-gather': n => (n - 1) / n,
  'reduce-scatter': n => (n - 1) / n,
  'all-to-all': n => (n - 1) / n,
  broadcast: () => 1,
  reduce: () => 1,
  'send-receive': () => 1,
};

/** Size of the message (the whole of it for a gather or scatter), and bytes on the bus; undefined: not stated. */
export function messageBytes(
  kind: CollectiveKind,
  { inElements, outElements, elementType, groupSize }: Omit<CollectiveMessage, 'ranks'>,
): { readonly bytes: number; readonly busBytes: number } | undefined {
  const elements = Math.max(inElements || 0, outElements || 0);
  const each = typeBytes[elementType];
  const factor = busFactor[kind];
  if (!(elements > 0) || each === undefined || !factor || !(groupSize > 1)) return undefined;
  return { bytes: elements * each, busBytes: elements * each * factor(groupSize) };
}
