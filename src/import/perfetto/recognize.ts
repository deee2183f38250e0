/** Tells a Perfetto trace by its first packets: messages with the fields of a TracePacket, each of its kind. */
import { MessageReader } from '../../base/protobuf/message-reader.js';
import { PacketField, TRACE_PACKET } from '../../catalog/perfetto-fields.js';

/** Fields that are messages; the others we know are numbers. */
const messages = new Set<number>([
  PacketField.clockSnapshot,
  PacketField.trackEvent,
  PacketField.internedData,
  PacketField.compressed,
  PacketField.gpuCounter,
  PacketField.gpuStage,
  PacketField.defaults,
  PacketField.trackDescriptor,
  PacketField.zstdCompressed,
]);
const known = new Set<number>(Object.values(PacketField));
const LARGEST_FIELD = 2000;
const ENOUGH_PACKETS = 4;
const TAG = TRACE_PACKET * 8 + 2;

export function looksLikePerfetto(head: Uint8Array): boolean {
  let at = 0;
  let sound = 0;
  let ours = 0;
  while (at < head.length && sound < ENOUGH_PACKETS) {
    if (head[at] !== TAG) return false;
    let length = 0;
    let scale = 1;
    let from = at + 1;
    while (from < head.length && from < at + 6) {
      const byte = head[from++];
      length += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte < 0x80) break;
    }
    // The last packet of the head may be cut.
    if (from + length > head.length) return ours > 0 || (sound === 0 && isBegun(head, from));
    const found = judge(head, from, from + length);
    if (found < 0) return false;
    ours += found;
    sound++;
    at = from + length;
  }
  return ours > 0;
}

/** How many fields of ours a packet has; -1: it is not a packet. */
function judge(head: Uint8Array, from: number, to: number): number {
  const reader = new MessageReader().of(head, from, to);
  let found = 0;
  while (reader.next()) {
    if (reader.field > LARGEST_FIELD) return -1;
    if (!known.has(reader.field)) continue;
    if (reader.isBytes !== messages.has(reader.field)) return -1;
    found++;
  }
  return reader.damaged ? -1 : found;
}

/** A first packet longer than the head: it begins with a message of ours, which holds messages. */
function isBegun(head: Uint8Array, from: number): boolean {
  const [first, second] = [head[from], head[from + 1]];
  const isInterned = first === PacketField.internedData * 8 + 2;
  const isTimed = first === PacketField.timestamp * 8 || first === PacketField.sequence * 8;
  return (isInterned || isTimed) && second !== undefined;
}
