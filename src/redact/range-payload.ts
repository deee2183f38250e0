/** What a range carries beside its name: NCCL's sizes and ranks stay, which are numbers under names of its own. */
import { isNumbers, isPlain } from './known-values.js';

const NCCL_FIELD =
  /^(?:NCCL communicator ID|No\. of ranks|Rank|Peer rank|Root|CUDA device|Message size \[bytes\]|Bytes|Reduction operation|Datatype|Number of ranks|Group ID|Sequence number)$/;
const REDUCTION = /^(?:Sum|Product|Min|Max|Average|PreMulSum|SumPostDiv)$/;

export function knownPayload(text: string, note: () => void): string {
  if (text === '') return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    note();
    return '';
  }
  let removed = false;
  const kept = JSON.stringify(value, (key, inner: unknown) => {
    const isFine =
      (key === '' || /^\d+$/.test(key) || NCCL_FIELD.test(key)) &&
      (typeof inner !== 'string' || isPlain(inner) || isNumbers(inner) || REDUCTION.test(inner));
    removed ||= !isFine;
    return isFine ? inner : undefined;
  });
  if (!removed) return text;
  note();
  return kept ?? '';
}
