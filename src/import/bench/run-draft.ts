/** A BenchRun while it is being read: figures by name, each set once. What is not set does not exist afterwards. */
import { shiftDecimal } from '../../base/decimal-shift.js';
import { NoteCounter } from '../../base/notes.js';
import type {
  BenchCounts,
  BenchEnergy,
  BenchIteration,
  BenchLoad,
  BenchRequest,
  BenchRun,
  BenchThroughput,
  Distribution,
  EngineLatency,
  EngineState,
  LatencyName,
} from '../../model/bench-run.js';
import { latencyNames } from '../../model/bench-run.js';

export type LatencyStat = 'mean' | 'stddev' | 'min' | 'max' | `p${number}`;
export type NumberName =
  | `load.${Exclude<keyof BenchLoad, 'dataset' | 'requestRate'>}`
  | `throughput.${keyof BenchThroughput}`
  | `counts.${keyof BenchCounts}`
  | `energy.${keyof BenchEnergy}`
  | `latency.${LatencyName}.${LatencyStat}`
  | 'durationNs';
export type TextName =
  | 'label'
  | 'framework'
  | 'frameworkVersion'
  | 'model'
  | 'dtype'
  | 'kvCacheDtype'
  | 'quantization'
  | 'gpu'
  | 'load.dataset';

/** Times are set with the power of ten from the printed unit to nanoseconds. */
export const MS = 6;
export const SECONDS = 9;

/** Texts come from strangers' files and end up in tables. */
const MOST_CHARACTERS = 300;

export class RunDraft {
  readonly notes = new NoteCounter();
  readonly iterations: BenchIteration[] = [];
  readonly requests: BenchRequest[] = [];
  readonly engineStates: EngineState[] = [];
  requestRate?: number | 'unlimited';
  line?: number;
  engineLatency?: EngineLatency;
  /** Of the requests' times. */
  clock?: NonNullable<BenchRun['clock']>;
  private readonly printed = new Set<NumberName>();
  private isMixed = false;
  private readonly numbers = new Map<NumberName, number>();
  private readonly texts = new Map<TextName, string>();

  constructor(public tool: string) {}

  /**
   * Takes anything; only finite numbers that can be true are kept. Negative or non-finite ones are counted. A power
   * of NaN stands for a unit nobody knows.
   */
  number(name: NumberName, value: unknown, power = 0): this {
    if (typeof value !== 'number' || Number.isNaN(power)) return this;
    if (!Number.isFinite(value) || value < 0) {
      this.notes.add(
        'impossible-figure',
        'warning',
        'invalid values (not finite, or negative) were left out',
        name,
      );
      return this;
    }
    this.numbers.set(name, power === 0 ? value : shiftDecimal(value, power));
    return this;
  }

  /**
   * Sets a figure a text may print once only; undefined: it was printed, but cannot be read. A second, different one
   * may be another rank's report printed into this one, or a piece of another report, and nobody can tell which is
   * whose: neither is kept, and nothing that follows.
   */
  once(name: NumberName, value: number | undefined, power: number, line: string): void {
    const isNew = !this.printed.has(name);
    const before = this.numbers.get(name);
    this.printed.add(name);
    if (isNew && !this.isMixed) {
      this.number(name, value, power);
      return;
    }
    if (!isNew && value !== undefined && before === shiftDecimal(value, power)) return;
    this.isMixed = true;
    this.numbers.delete(name);
    const meaning = 'values that may belong to another report mixed into this one were left out';
    this.notes.add('mixed-reports', 'warning', meaning, line.trim());
  }

  wasPrinted(name: NumberName): boolean {
    return this.printed.has(name);
  }

  text(name: TextName, value: unknown): this {
    if (typeof value !== 'string') return this;
    const trimmed = value.trim();
    if (trimmed !== '' && trimmed !== 'None') this.texts.set(name, trimmed.slice(0, MOST_CHARACTERS));
    return this;
  }

  /** `inf`, in any spelling, is no limit; `trace` is none we could compare. */
  rate(value: unknown): this {
    if (value === Infinity || value === 'inf' || value === 'Infinity') this.requestRate = 'unlimited';
    else if (typeof value === 'number' && value > 0) this.requestRate = value;
    return this;
  }

  get(name: NumberName | TextName): number | string | undefined {
    return this.numbers.get(name as NumberName) ?? this.texts.get(name as TextName);
  }

  get figureCount(): number {
    return this.numbers.size;
  }

  /** Prints the same figures, as far as both go. */
  agreesWith(other: RunDraft): boolean {
    const shared = [...this.numbers].filter(([name]) => other.numbers.has(name));
    return shared.length > 0 && shared.every(([name, value]) => other.numbers.get(name) === value);
  }

  /** Takes over the iterations of a draft of the same run. */
  withRows(other: RunDraft): this {
    for (const row of other.iterations) this.iterations.push(row);
    this.notes.addAll(other.notes);
    return this;
  }

  /** Holds at least one figure that is a result, or rows. */
  get hasResult(): boolean {
    if (this.iterations.length > 0 || this.requests.length > 0) return true;
    return [...this.numbers.keys()].some(name => /^(throughput|latency)\.|^durationNs$/.test(name));
  }

  build(file: string, format: string): BenchRun {
    const of = (prefix: string) =>
      Object.fromEntries(
        [...this.numbers, ...this.texts]
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, value]) => [name.slice(prefix.length), value]),
      );
    const plain = Object.fromEntries([...this.texts].filter(([name]) => !name.includes('.')));
    const latency = this.latencies();
    const energy: BenchEnergy = of('energy.');
    return {
      source: { file, format, ...(this.line === undefined ? {} : { line: this.line }) },
      tool: this.tool,
      ...plain,
      load: {
        ...(of('load.') as BenchLoad),
        ...(this.requestRate === undefined ? {} : { requestRate: this.requestRate }),
      },
      throughput: of('throughput.') as BenchThroughput,
      latency,
      ...(this.engineLatency && Object.keys(this.engineLatency).length > 0
        ? { engineLatency: this.engineLatency }
        : {}),
      counts: of('counts.') as BenchCounts,
      ...(Object.keys(energy).length > 0 ? { energy } : {}),
      ...(this.numbers.has('durationNs') ? { durationNs: this.numbers.get('durationNs')! } : {}),
      ...(this.iterations.length > 0 ? { iterations: this.iterations } : {}),
      ...(this.requests.length > 0 ? { requests: this.requests } : {}),
      ...(this.engineStates.length > 0 ? { engineStates: this.engineStates } : {}),
      ...(this.clock && Object.keys(this.clock).length > 0 ? { clock: this.clock } : {}),
      notes: this.notes.list(),
    };
  }

  private latencies(): Partial<Record<LatencyName, Distribution>> {
    const result: Partial<Record<LatencyName, Distribution>> = {};
    for (const name of latencyNames) {
      const stats = [...this.numbers].filter(([key]) => key.startsWith(`latency.${name}.`));
      if (stats.length === 0) continue;
      if (stats.every(([, value]) => value === 0)) {
        // Clients that do not stream fill in zeros.
        this.notes.add('not-measured', 'info', 'latencies are 0 throughout and count as not measured', name);
        continue;
      }
      const percentiles = stats
        .map(([key, value]) => [/\.p([\d.]+)$/.exec(key)?.[1], value] as const)
        .filter((entry): entry is [string, number] => entry[0] !== undefined)
        .sort((a, b) => Number(a[0]) - Number(b[0]));
      const stat = (which: string, field: string) => {
        const value = this.numbers.get(`latency.${name}.${which}` as NumberName);
        return value === undefined ? {} : { [field]: value };
      };
      result[name] = {
        ...stat('mean', 'meanNs'),
        ...stat('stddev', 'stddevNs'),
        ...stat('min', 'minNs'),
        ...stat('max', 'maxNs'),
        percentilesNs: Object.fromEntries(percentiles),
      };
    }
    return result;
  }
}
