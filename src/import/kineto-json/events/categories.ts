/**
 * What an event's category says it is. Kineto renamed them in 2022 (Kernel became kernel, Operator cpu_op); other
 * backends put their own name in front of _runtime and _driver.
 */
import { type PackedStrings, StringTable } from '../../../base/string-table.js';
import type { TextMark } from './event-reader.js';
import { KnownByShape } from './known-by-shape.js';

export const Kind = {
  other: 0,
  kernel: 1,
  copy: 2,
  memset: 3,
  runtimeCall: 4,
  driverCall: 5,
  op: 6,
  python: 7,
  annotation: 8,
  gpuAnnotation: 9,
  sync: 10,
  overhead: 11,
  /** Kineto's own bar over the whole recording. */
  recording: 12,
  /** What Stepscope derived and wrote into a trace of its own (timeline/export): it is derived again. */
  derived: 13,
} as const;

const kinds: Record<string, number> = {
  kernel: Kind.kernel,
  gpu_memcpy: Kind.copy,
  memcpy: Kind.copy,
  gpu_memset: Kind.memset,
  memset: Kind.memset,
  runtime: Kind.runtimeCall,
  driver: Kind.driverCall,
  cpu_op: Kind.op,
  operator: Kind.op,
  python_function: Kind.python,
  user_annotation: Kind.annotation,
  gpu_user_annotation: Kind.gpuAnnotation,
  cuda_sync: Kind.sync,
  overhead: Kind.overhead,
  trace: Kind.recording,
};

/** Real files have about twenty; the rest of a hostile one is counted together. */
const MAX_CATEGORIES = 1000;
const PHASES = 128;

export interface GivenCategories {
  readonly names: PackedStrings;
  /** By category and phase. */
  readonly counts: Float64Array;
}

export class Categories {
  private readonly names = new StringTable();
  private readonly known = new KnownByShape();
  private readonly kinds: number[] = [];
  private counts = new Float64Array(32 * PHASES);
  private readonly none = this.idOf(new Uint8Array(0), 0, 0);

  /** Counts the event under its category and phase, and says which category that is. */
  count(bytes: Uint8Array, mark: TextMark, phase: number): number {
    let id = this.known.find(mark.key);
    if (id < 0) {
      id = mark.to === 0 ? this.none : this.idOf(bytes, mark.from, mark.to);
      this.known.keep(mark.key, id);
    }
    const cell = id * PHASES + (phase & (PHASES - 1));
    if (cell >= this.counts.length) this.growTo(id);
    this.counts[cell]++;
    return id;
  }

  kindOf(id: number): number {
    return this.kinds[id];
  }

  name(id: number): string {
    return this.names.text(id);
  }

  /** `kernel`, `flow:ac2g`, `ph:i` … for CaptureInfo.sourceCounts. */
  sourceCounts(): Record<string, number> {
    const result: Record<string, number> = {};
    for (let id = 0; id < this.kinds.length; id++) {
      for (let phase = 0; phase < PHASES; phase++) {
        const count = this.counts[id * PHASES + phase];
        if (count === 0) continue;
        const key = sourceKey(this.name(id), phase === 0 ? '?' : String.fromCharCode(phase));
        result[key] = (result[key] ?? 0) + count;
      }
    }
    return result;
  }

  get size(): number {
    return this.names.size;
  }

  /** More categories than are told apart. */
  get full(): boolean {
    return this.names.size > MAX_CATEGORIES;
  }

  give(): GivenCategories {
    return { names: this.names.pack(), counts: this.counts };
  }

  /** Makes room for a category another reader found, and adds up its counts when that reader is done. */
  add(bytes: Uint8Array, from: number, to: number): number {
    return this.idOf(bytes, from, to);
  }

  addCounts(id: number, from: GivenCategories, theirs: number): void {
    this.growTo(id);
    for (let phase = 0; phase < PHASES; phase++)
      this.counts[id * PHASES + phase] += from.counts[theirs * PHASES + phase] ?? 0;
  }

  private growTo(id: number): void {
    while ((id + 1) * PHASES > this.counts.length) {
      const larger = new Float64Array(this.counts.length * 2);
      larger.set(this.counts);
      this.counts = larger;
    }
  }

  private idOf(bytes: Uint8Array, from: number, to: number): number {
    const id = this.names.internBytes(bytes, from, Math.min(to, from + 200));
    if (id >= MAX_CATEGORIES) return this.none;
    if (id === this.kinds.length) this.kinds.push(kindOfName(this.names.text(id).toLowerCase()));
    return id;
  }
}

function kindOfName(name: string): number {
  if (Object.hasOwn(kinds, name)) return kinds[name];
  if (name.endsWith('_runtime')) return Kind.runtimeCall;
  if (name.endsWith('_driver')) return Kind.driverCall;
  if (name.startsWith('stepscope_')) return Kind.derived;
  return Kind.other;
}

function sourceKey(category: string, phase: string): string {
  if (phase === 's' || phase === 't' || phase === 'f') return `flow:${category}`;
  if (category === '') return `ph:${phase}`;
  return phase === 'X' || phase === 'B' || phase === 'E' ? category : `${category}:${phase}`;
}
