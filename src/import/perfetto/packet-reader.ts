/** One packet after another: its time on the clock of the trace, the state of its sequence, and what it holds. */
import { MessageReader } from '../../base/protobuf/message-reader.js';
import {
  ClockId,
  ClocksField,
  DefaultsField,
  EntryField,
  FIRST_OWN_CLOCK,
  InternedField,
  PacketField,
  SequenceFlag,
} from '../../catalog/perfetto-fields.js';
import type { PacketBytes } from './packets.js';

const HALF = 2n ** 32n;

/** Texts by number, until the sequence begins anew. Slices that are open keep the texts they began with. */
export interface InternedTexts {
  readonly names: Map<number | string, string>;
  readonly categories: Map<number | string, string>;
  readonly annotationNames: Map<number | string, string>;
  readonly annotationTexts: Map<number | string, string>;
  readonly specifications: Map<number | string, string>;
  readonly kernels: Map<number | string, string>;
  readonly computeArguments: Map<number | string, string>;
}

const noTexts = (): InternedTexts => ({
  names: new Map(),
  categories: new Map(),
  annotationNames: new Map(),
  annotationTexts: new Map(),
  specifications: new Map(),
  kernels: new Map(),
  computeArguments: new Map(),
});

interface OwnClock {
  readonly unitNs: bigint;
  readonly incremental: boolean;
  /** To be added to its nanoseconds. */
  readonly offsetNs: bigint;
  last: bigint;
}

interface Sequence {
  texts: InternedTexts;
  defaultTrack: number | string;
  defaultClock: number;
  readonly clocks: Map<number, OwnClock>;
}

export interface BytePart {
  readonly from: number;
  readonly to: number;
}

export class PacketReader {
  bytes: Uint8Array = new Uint8Array(0);
  /** Nanoseconds from the first packet with a time; NaN where it has none. */
  ns = Number.NaN;
  texts: InternedTexts = noTexts();
  defaultTrack: number | string = 0;
  event: BytePart | undefined;
  stage: BytePart | undefined;
  descriptor: BytePart | undefined;
  /** Packets of its sequence before it were lost. */
  dropped = false;
  /** Time of the first packet, and what has to be added for the time of day; undefined where no packet says. */
  originNs: bigint | undefined;
  wallOffsetNs: bigint | undefined;
  private originHigh = 0;
  private originLow = 0;
  /** Times of a clock that nothing relates to the others. */
  unknownClocks = 0;
  private readonly sequences = new Map<number, Sequence>();
  private readonly offsets = new Map<number, bigint>();
  private readonly reader = new MessageReader();
  private readonly inner = new MessageReader();

  /** False where the packet is damaged. */
  read({ bytes, from, to }: PacketBytes): boolean {
    this.bytes = bytes;
    this.event = this.stage = this.descriptor = undefined;
    this.dropped = false;
    this.ns = Number.NaN;
    let high = 0;
    let low = 0;
    let hasTime = false;
    let clock = 0;
    let id = 0;
    let flags = 0;
    let snapshot: BytePart | undefined;
    let interned: BytePart | undefined;
    let defaults: BytePart | undefined;
    const reader = this.reader.of(bytes, from, to);
    while (reader.next()) {
      const part = reader.isBytes ? { from: reader.from, to: reader.to } : undefined;
      if (reader.field === PacketField.timestamp && !part) {
        high = reader.high;
        low = reader.low;
        hasTime = true;
      } else if (reader.field === PacketField.clock && !part) clock = reader.whole;
      else if (reader.field === PacketField.sequence && !part) id = reader.whole;
      else if (reader.field === PacketField.sequenceFlags && !part) flags |= reader.low;
      else if (reader.field === PacketField.stateCleared && reader.low === 1) flags |= SequenceFlag.cleared;
      else if (reader.field === PacketField.dropped && reader.low !== 0) this.dropped = true;
      else if (reader.field === PacketField.clockSnapshot) snapshot = part;
      else if (reader.field === PacketField.internedData) interned = part;
      else if (reader.field === PacketField.defaults) defaults = part;
      else if (reader.field === PacketField.trackEvent) this.event = part;
      else if (reader.field === PacketField.gpuStage) this.stage = part;
      else if (reader.field === PacketField.trackDescriptor) this.descriptor = part;
    }
    if (reader.damaged) return false;
    let sequence = this.sequences.get(id);
    // The first packets of a sequence are often marked as if some were lost before.
    if (!sequence) this.dropped = false;
    if (!sequence || flags & SequenceFlag.cleared) {
      sequence = {
        texts: noTexts(),
        defaultTrack: 0,
        defaultClock: 0,
        clocks: sequence?.clocks ?? new Map(),
      };
      this.sequences.set(id, sequence);
    }
    if (defaults && !this.readDefaults(defaults, sequence)) return false;
    if (snapshot && !this.readClocks(snapshot, sequence)) return false;
    if (interned && !this.readTexts(interned, sequence.texts)) return false;
    this.texts = sequence.texts;
    this.defaultTrack = sequence.defaultTrack;
    if (hasTime && (this.event || this.stage))
      this.ns = this.time(high, low, clock || sequence.defaultClock, sequence);
    return true;
  }

  private time(high: number, low: number, clock: number, sequence: Sequence): number {
    const own = sequence.clocks.get(clock);
    // The usual case, without a bigint for each packet.
    if (!own && this.originNs !== undefined && (clock === 0 || clock === ClockId.boottime))
      return (high - this.originHigh) * 2 ** 32 + (low - this.originLow);
    const raw = BigInt(high) * HALF + BigInt(low);
    let at = raw;
    if (own) {
      own.last = own.incremental ? own.last + raw : raw;
      at = own.last * own.unitNs + own.offsetNs;
    } else if (clock !== 0 && clock !== ClockId.boottime) {
      const offset = this.offsets.get(clock);
      if (offset === undefined) this.unknownClocks++;
      at = raw + (offset ?? 0n);
    }
    if (this.originNs === undefined) {
      this.originNs = at;
      this.originHigh = Number(at / HALF);
      this.originLow = Number(at % HALF);
    }
    return Number(at - this.originNs);
  }

  private readClocks({ from, to }: BytePart, sequence: Sequence): boolean {
    const found: { id: number; at: bigint; unitNs: bigint; incremental: boolean }[] = [];
    const outer = new MessageReader().of(this.bytes, from, to);
    while (outer.next()) {
      if (outer.field !== ClocksField.clock || !outer.isBytes) continue;
      const clock = { id: 0, at: 0n, unitNs: 1n, incremental: false };
      const reader = this.inner.of(this.bytes, outer.from, outer.to);
      while (reader.next()) {
        if (reader.field === ClocksField.id) clock.id = reader.whole;
        else if (reader.field === ClocksField.timestamp)
          clock.at = BigInt(reader.high) * HALF + BigInt(reader.low);
        else if (reader.field === ClocksField.incremental) clock.incremental = reader.low === 1;
        else if (reader.field === ClocksField.unitNs) clock.unitNs = BigInt(reader.whole) || 1n;
      }
      if (reader.damaged) return false;
      found.push(clock);
    }
    if (outer.damaged) return false;
    const trace = found.find(({ id }) => id === ClockId.boottime)?.at;
    if (trace === undefined) return true;
    for (const { id, at, unitNs, incremental } of found) {
      const offsetNs = trace - at * unitNs;
      if (id >= FIRST_OWN_CLOCK) sequence.clocks.set(id, { unitNs, incremental, offsetNs, last: at });
      else this.offsets.set(id, offsetNs);
      if (id === ClockId.realtime) this.wallOffsetNs ??= -offsetNs;
    }
    return true;
  }

  private readDefaults({ from, to }: BytePart, sequence: Sequence): boolean {
    const outer = new MessageReader().of(this.bytes, from, to);
    while (outer.next()) {
      if (outer.field === DefaultsField.clock && !outer.isBytes) sequence.defaultClock = outer.whole;
      if (outer.field !== DefaultsField.trackEvent || !outer.isBytes) continue;
      const reader = this.inner.of(this.bytes, outer.from, outer.to);
      while (reader.next())
        if (reader.field === DefaultsField.track && !reader.isBytes) sequence.defaultTrack = reader.key;
      if (reader.damaged) return false;
    }
    return !outer.damaged;
  }

  private readTexts({ from, to }: BytePart, texts: InternedTexts): boolean {
    const lists: Record<number, Map<number | string, string>> = {
      [InternedField.names]: texts.names,
      [InternedField.categories]: texts.categories,
      [InternedField.annotationNames]: texts.annotationNames,
      [InternedField.annotationTexts]: texts.annotationTexts,
      [InternedField.gpuSpecifications]: texts.specifications,
      [InternedField.computeKernels]: texts.kernels,
      [InternedField.computeArguments]: texts.computeArguments,
    };
    const outer = new MessageReader().of(this.bytes, from, to);
    while (outer.next()) {
      const list = lists[outer.field];
      if (!list || !outer.isBytes) continue;
      let [id, text]: [number | string, string] = [0, ''];
      const reader = this.inner.of(this.bytes, outer.from, outer.to);
      while (reader.next()) {
        if (reader.field === EntryField.id && !reader.isBytes) id = reader.key;
        else if (reader.field === EntryField.text && reader.isBytes) text ||= reader.text;
        else if (reader.field === EntryField.demangled && reader.isBytes && list === texts.kernels)
          text = reader.text;
      }
      if (reader.damaged) return false;
      list.set(id, text);
    }
    return !outer.damaged;
  }
}
