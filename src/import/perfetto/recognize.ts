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
    // The last packet of the head may be cut. Writers begin with small ones, or with a packed one.
    if (from + length > head.length) return ours > 0 || (sound === 0 && isPacked(head, from, length));
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

/** The packet is one field: packets that zlib packed. */
function isPacked(head: Uint8Array, from: number, length: number): boolean {
  const tag = PacketField.compressed * 8 + 2;
  if (head[from] !== ((tag & 0x7f) | 0x80) || head[from + 1] !== tag >> 7) return false;
  let [at, inner, scale] = [from + 2, 0, 1];
  do {
    inner += (head[at] & 0x7f) * scale;
    scale *= 128;
  } while (head[at++] >= 0x80 && at < from + 8);
  const isWhole = at + inner === from + length;
  return isWhole && head[at] === 0x78 && (head[at] * 256 + head[at + 1]) % 31 === 0;
}
