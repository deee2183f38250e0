/**
 * The packets of a trace, front to end, each as bytes that are good until the next is asked for. Packets inside packets
 * (compressed_packets) come in their place. What a length claims is checked against what is there.
 */
import { inflateSync } from 'node:zlib';
import type { ByteSource } from '../../base/byte-source.js';
import type { NoteCounter } from '../../base/notes.js';
import { MessageReader } from '../../base/protobuf/message-reader.js';
import { PacketField, TRACE_PACKET } from '../../catalog/perfetto-fields.js';

const WINDOW_BYTES = 4 * 1024 * 1024;
/** Perfetto writes packets of at most 512 kB; PyTorch puts all names of a trace into one. */
const LARGEST_PACKET = 256 * 1024 * 1024;
/** Perfetto packs at most 512 kB at a time. */
const LARGEST_UNPACKED = 64 * 1024 * 1024;
const TAG = TRACE_PACKET * 8 + 2;

/** A tag of two bytes: seven bits in the first. */
const tagOf = (field: number) => ((field * 8 + 2) & 0x7f) | 0x80 | (((field * 8 + 2) >> 7) << 8);
const COMPRESSED_TAG = tagOf(PacketField.compressed);
const ZSTD_TAG = tagOf(PacketField.zstdCompressed);

export interface PacketBytes {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

export class PacketStream {
  /** The file ends inside a packet, or what follows is no packet. */
  cut = false;
  private position = 0;
  private window = new Uint8Array(WINDOW_BYTES);
  private start = 0;
  private end = 0;
  private unpackedBytes = 0;
  /** Of the length that was read last. */
  private lengthBytes = 0;

  /** Notes are counted by whoever reads a file for good, not by who looks it through first. */
  constructor(
    private readonly source: ByteSource,
    private readonly mostUnpacked: number,
    private readonly notes?: NoteCounter,
  ) {}

  /** How much of the file has been handed out, 0 to 1. */
  get done(): number {
    return this.source.size === 0 ? 1 : (this.position - (this.end - this.start)) / this.source.size;
  }

  *packets(): Iterable<PacketBytes> {
    while (true) {
      this.need(11);
      if (this.end === this.start) return;
      const tag = this.window[this.start];
      const length = this.lengthAt(this.start + 1);
      const from = this.start + 1 + this.lengthBytes;
      if (tag !== TAG || length < 0) {
        this.stop('what follows is not a packet');
        return;
      }
      const left = this.source.size - this.position + (this.end - from);
      if (length > left) {
        this.stop('the file ends inside a packet');
        return;
      }
      this.start = from;
      if (length > LARGEST_PACKET) {
        this.notes?.add(
          'oversized-packet',
          'loss',
          'Packets larger than 256 MiB were left out',
          `${length} bytes`,
        );
        this.skip(length);
        continue;
      }
      this.need(length);
      const packet = { bytes: this.window, from: this.start, to: this.start + length };
      this.start += length;
      yield* this.unpacked(packet, 0);
    }
  }

  private lengthAt(at: number): number {
    let length = 0;
    let scale = 1;
    for (let i = 0; i < 5 && at + i < this.end; i++) {
      length += (this.window[at + i] & 0x7f) * scale;
      scale *= 128;
      if (this.window[at + i] < 0x80) {
        this.lengthBytes = i + 1;
        return length;
      }
    }
    return -1;
  }

  private stop(why: string): void {
    this.cut = true;
    const at = this.position - (this.end - this.start);
    this.notes?.add('damaged-packet', 'loss', 'The rest of the file could not be read', `byte ${at}: ${why}`);
  }

  private *unpacked(packet: PacketBytes, depth: number): Iterable<PacketBytes> {
    const inner = this.compressedIn(packet);
    if (!inner) {
      yield packet;
      return;
    }
    const reader = new MessageReader().of(inner);
    while (reader.next())
      if (reader.field === TRACE_PACKET && reader.isBytes && depth === 0)
        yield* this.unpacked({ bytes: inner, from: reader.from, to: reader.to }, depth + 1);
    if (reader.damaged)
      this.notes?.add('damaged-packet', 'loss', 'Compressed packets are damaged', 'after decompression');
  }

  /** What is packed inside this packet; undefined where nothing is. */
  private compressedIn({ bytes, from, to }: PacketBytes): Uint8Array | undefined {
    // Such packets hold nothing else, so the first field tells.
    const first = bytes[from] | (bytes[from + 1] << 8);
    if (to - from < 2 || (first !== COMPRESSED_TAG && first !== ZSTD_TAG)) return undefined;
    const reader = new MessageReader().of(bytes, from, to);
    while (reader.next()) {
      if (!reader.isBytes) continue;
      if (reader.field === PacketField.zstdCompressed) {
        this.notes?.add('zstd-packets', 'loss', 'Packets compressed with Zstandard were left out', '');
        return new Uint8Array(0);
      }
      if (reader.field !== PacketField.compressed) continue;
      try {
        const most = Math.min(LARGEST_UNPACKED, this.mostUnpacked - this.unpackedBytes);
        const inner = inflateSync(bytes.subarray(reader.from, reader.to), {
          maxOutputLength: Math.max(1, most),
        });
        this.unpackedBytes += inner.length;
        return inner;
      } catch (error) {
        const text = 'Compressed packets could not be decompressed and were left out';
        this.notes?.add('damaged-packet', 'loss', text, (error as Error).message);
        return new Uint8Array(0);
      }
    }
    return undefined;
  }

  /** Has so many bytes in the window, or all that are left. */
  private need(bytes: number): void {
    if (this.end - this.start >= bytes) return;
    const kept = this.end - this.start;
    const size = Math.max(WINDOW_BYTES, bytes);
    const next = size > this.window.length ? new Uint8Array(size) : this.window;
    if (next === this.window) next.copyWithin(0, this.start, this.end);
    else next.set(this.window.subarray(this.start, this.end));
    this.window = next;
    this.start = 0;
    this.end = kept;
    const got = this.source.read(this.window.subarray(kept), this.position);
    this.end += got;
    this.position += got;
  }

  private skip(bytes: number): void {
    const here = Math.min(bytes, this.end - this.start);
    this.start += here;
    this.position += bytes - here;
  }
}
