/**
 * How the beginnings and ends of slices belong together. Three ways of writing are known, and a first look at the file
 * tells which one a track has:
 *
 *   nested   packets are in order of time: an end closes the slice that began last (Perfetto, Stepscope)
 *   runs     all beginnings of a group, then all ends in the same order (PyTorch): the first end is that of the first
 *   sorted   neither: packets are put in order of time first, as Perfetto's trace processor does
 */
import { MessageReader } from '../../base/protobuf/message-reader.js';
import { EventField, EventType } from '../../catalog/perfetto-fields.js';
import type { BytePart } from './packet-reader.js';

type SliceOrder = 'nested' | 'runs' | 'sorted';

interface SliceEvent {
  type: number;
  track: number | string;
}

const reader = new MessageReader();

/** Type and track of an event; undefined where it is damaged. */
export function eventKind(
  bytes: Uint8Array,
  { from, to }: BytePart,
  defaultTrack: number | string,
): SliceEvent | undefined {
  const kind: SliceEvent = { type: 0, track: defaultTrack };
  reader.of(bytes, from, to);
  while (reader.next()) {
    if (reader.isBytes) continue;
    if (reader.field === EventField.type) kind.type = reader.whole;
    else if (reader.field === EventField.track) kind.track = reader.key;
  }
  return reader.damaged ? undefined : kind;
}

interface Seen {
  last: number;
  isOrdered: boolean;
  /** Of the run that is being read: beginnings, and ends after them. */
  begun: number;
  ended: number;
  isBalanced: boolean;
}

export class SliceOrders {
  private readonly tracks = new Map<number | string, Seen>();
  /** A track that is not in order of time was written in runs: then so were all others. */
  private inRuns = false;

  see({ type, track }: SliceEvent, ns: number): void {
    if (type !== EventType.begin && type !== EventType.end) return;
    let seen = this.tracks.get(track);
    if (!seen) {
      seen = { last: -Infinity, isOrdered: true, begun: 0, ended: 0, isBalanced: true };
      this.tracks.set(track, seen);
    }
    if (ns < seen.last) seen.isOrdered = false;
    seen.last = ns;
    if (type === EventType.end) {
      seen.ended++;
      if (seen.ended > seen.begun) seen.isBalanced = false;
      return;
    }
    if (seen.ended > 0) {
      if (seen.ended !== seen.begun) seen.isBalanced = false;
      seen.begun = 0;
      seen.ended = 0;
    }
    seen.begun++;
  }

  /** All packets were seen. */
  finish(): void {
    for (const seen of this.tracks.values()) {
      if (seen.begun !== seen.ended) seen.isBalanced = false;
      if (!seen.isOrdered && seen.isBalanced) this.inRuns = true;
    }
  }

  of(track: number | string): SliceOrder {
    const seen = this.tracks.get(track);
    if (!seen) return 'nested';
    if (this.inRuns && seen.isBalanced) return 'runs';
    return seen.isOrdered ? 'nested' : 'sorted';
  }
}
