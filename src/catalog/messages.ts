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
  /** The other rank of a send or receive. */
  readonly source?: number;
  readonly destination?: number;
}

export const messageText = (message: CollectiveMessage): string => JSON.stringify(message);

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

/** A collective as a profiler states it. */
export interface StatedMessage {
  readonly collective: string;
  /** Name of the process group, or id of the communicator. */
  readonly group: string;
  readonly ranks?: readonly number[];
  /** The rank in the group, of the one who joins it. */
  readonly rank?: number;
  readonly groupSize?: number;
  /** Of the whole message, or of the part that one rank holds. */
  readonly bytes?: number;
  readonly partBytes?: number;
  /** The other rank, of one that receives or sends. */
  readonly source?: number;
  readonly destination?: number;
}

/** Undefined where the text is not one of ours. Long lists of ranks are cut by the profiler: then they are unknown. */
export function parseMessage(text: string): StatedMessage | undefined {
  const message = parsedObject(text) as CollectiveMessage | undefined;
  if (!message) return undefined;
  const { collective, group, groupSize, elementType, ranks: listed, source, destination } = message;
  const list = /^\[[\d, ]*\]$/.test(listed) ? (JSON.parse(listed) as number[]) : [];
  const elements = Math.max(message.inElements || 0, message.outElements || 0);
  const each = typeBytes[elementType];
  return {
    collective,
    group,
    ...(list.length > 1 ? { ranks: list } : {}),
    ...(groupSize > 0 ? { groupSize } : {}),
    ...(elements > 0 && each !== undefined ? { bytes: elements * each } : {}),
    ...(collectiveKind(collective) === 'send-receive' ? { source, destination } : {}),
  };
}

/** Domain of the ranges in which NCCL's calls run, and the range in which a rank joins a communicator. */
export const NCCL_DOMAIN = 'NCCL';
export const NCCL_JOIN = /^ncclCommInitRank/;

/**
 * Payload of an NCCL range (src/include/nvtx_payload_schemas.h). The size is that of one rank's buffer: for a gather or
 * scatter, of its part. Ids have 64 bits and are compared as text.
 */
export function parseNcclRange(name: string, payload: string): StatedMessage | undefined {
  const id = /"NCCL communicator ID"\s*:\s*"?(-?\w+)/.exec(payload)?.[1];
  const values = parsedObject(payload) as Readonly<Record<string, unknown>> | undefined;
  if (!values || id === undefined) return undefined;
  const bytes = Number(values['Message size [bytes]'] ?? values.Bytes);
  const ranks = Number(values['No. of ranks'] ?? values['Number of ranks']);
  const collective = name.replace(/^nccl/, '');
  const rank = NCCL_JOIN.test(name) && typeof values.Rank === 'number' ? values.Rank : undefined;
  const isPart = /AllGather|ReduceScatter/.test(collective);
  return {
    collective,
    group: id,
    ...(rank === undefined ? {} : { rank }),
    ...(ranks > 1 ? { groupSize: ranks } : {}),
    ...(bytes > 0 ? { [isPart ? 'partBytes' : 'bytes']: bytes } : {}),
  };
}

function parsedObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Size of the message (the whole of it for a gather or scatter), and bytes on the bus; undefined: not stated. */
export function messageBytes(
  kind: CollectiveKind,
  { bytes, partBytes }: StatedMessage,
  ranks: number,
): { readonly bytes: number; readonly busBytes: number } | undefined {
  const factor = busFactor[kind];
  const whole = bytes ?? (partBytes === undefined ? undefined : partBytes * ranks);
  if (whole === undefined || !factor || !(ranks > 1)) return undefined;
  return { bytes: whole, busBytes: whole * factor(ranks) };
}
