/**
 * Interned strings: every distinct text once, addressed by a small id.
 *
 * Importers intern raw UTF-8 bytes, so a name that occurs a million times is hashed a million times but decoded
 * once. Bytes and strings share one id space.
 */
import type { Brand } from './column.js';

export type StringId = Brand<number, 'string'>;

export interface PackedStrings {
  readonly bytes: Uint8Array;
  readonly ends: Float64Array;
}

const decoder = new TextDecoder('utf-8');
const encoder = new TextEncoder();

export class StringTable {
  /** Distinct texts as bytes, one after the other; text i is arena[ends[i-1] .. ends[i]]. */
  private arena = new Uint8Array(1 << 14);
  private arenaView = new DataView(this.arena.buffer);
  private arenaUsed = 0;
  private source: Uint8Array = this.arena;
  private sourceView: DataView = this.arenaView;
  private ends = new Float64Array(1 << 10);
  private hashes = new Int32Array(1 << 10);
  private decoded: (string | undefined)[] = [];
  /** Open addressing: id + 1 by hash, 0 is free. */
  private slots = new Int32Array(1 << 11);
  private count = 0;

  get size(): number {
    return this.count;
  }

  text(id: StringId | number): string {
    const known = this.decoded[id];
    if (known !== undefined) return known;
    if (id < 0 || id >= this.count) return '';
    const text = decoder.decode(this.bytes(id));
    this.decoded[id] = text;
    return text;
  }

  bytes(id: number): Uint8Array {
    return this.arena.subarray(id === 0 ? 0 : this.ends[id - 1], this.ends[id]);
  }

  intern(text: string): StringId {
    const bytes = encoder.encode(text);
    return this.internBytes(bytes, 0, bytes.length);
  }

  internBytes(source: Uint8Array, from: number, to: number): StringId {
    if (source !== this.source) this.look(source);
    const hash = hashOf(this.sourceView, source, from, to);
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.slots[slot];
      if (entry === 0) return this.add(source, from, to, hash, slot);
      if (this.hashes[entry - 1] === hash && this.equals(entry - 1, source, from, to))
        return (entry - 1) as StringId;
    }
  }

  /** Importers intern from one buffer again and again, so its view is kept. */
  private look(source: Uint8Array): void {
    this.source = source;
    this.sourceView = new DataView(source.buffer, source.byteOffset, source.byteLength);
  }

  /** Id of a text that is already here, or -1. */
  find(text: string): StringId {
    const before = this.count;
    const id = this.intern(text);
    if (this.count === before) return id;
    this.removeLast();
    return -1 as StringId;
  }

  private equals(id: number, source: Uint8Array, from: number, to: number): boolean {
    let j = id === 0 ? 0 : this.ends[id - 1];
    if (this.ends[id] - j !== to - from) return false;
    let i = from;
    for (; i + 4 <= to; i += 4, j += 4) {
      if (this.sourceView.getInt32(i, true) !== this.arenaView.getInt32(j, true)) return false;
    }
    for (; i < to; i++, j++) if (source[i] !== this.arena[j]) return false;
    return true;
  }

  private add(source: Uint8Array, from: number, to: number, hash: number, slot: number): StringId {
    const length = to - from;
    if (this.arenaUsed + length > this.arena.length) {
      const larger = new Uint8Array(Math.max(this.arena.length * 2, this.arenaUsed + length));
      larger.set(this.arena.subarray(0, this.arenaUsed));
      this.arena = larger;
      this.arenaView = new DataView(larger.buffer);
    }
    this.arena.set(source.subarray(from, to), this.arenaUsed);
    this.arenaUsed += length;
    if (this.count === this.ends.length) {
      const ends = new Float64Array(this.count * 2);
      ends.set(this.ends);
      this.ends = ends;
      const hashes = new Int32Array(this.count * 2);
      hashes.set(this.hashes);
      this.hashes = hashes;
    }
    const id = this.count++;
    this.ends[id] = this.arenaUsed;
    this.hashes[id] = hash;
    this.slots[slot] = id + 1;
    if (this.count * 2 > this.slots.length) this.rehash();
    return id as StringId;
  }

  private removeLast(): void {
    this.count--;
    this.arenaUsed = this.count === 0 ? 0 : this.ends[this.count - 1];
    this.decoded.length = Math.min(this.decoded.length, this.count);
    this.rehash();
  }

  private rehash(): void {
    let size = this.slots.length;
    while (this.count * 2 > size) size *= 2;
    this.slots = new Int32Array(size);
    const mask = size - 1;
    for (let id = 0; id < this.count; id++) {
      let slot = this.hashes[id] & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = id + 1;
    }
  }

  /** All texts as one block of bytes and where each ends, for serializing. */
  pack(): PackedStrings {
    return { bytes: this.arena.slice(0, this.arenaUsed), ends: this.ends.slice(0, this.count) };
  }

  static unpack(bytes: Uint8Array, ends: Float64Array): StringTable {
    const table = new StringTable();
    let start = 0;
    for (let id = 0; id < ends.length; id++) {
      table.internBytes(bytes, start, ends[id]);
      start = ends[id];
    }
    return table;
  }
}

/** Every byte counts, because long names differ in their middles; four at a time, because most of them repeat. */
function hashOf(view: DataView, source: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5 | 0;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    hash = Math.imul(hash ^ view.getInt32(i, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; i < to; i++) hash = Math.imul(hash ^ source[i], 0x01000193);
  return hash ^ (hash >>> 15);
}
