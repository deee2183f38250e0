/**
 * Takes iterations as they are read and keeps a summary: sums in stretches that are merged two by two when they become
 * too many, an even draw of whole iterations, and three numbers per iteration and layer, thinned when they become many.
 * What is kept has the same size after a thousand iterations as after a million.
 */
import { NoteCounter } from '../../base/notes.js';
import { UserError } from '../../base/user-error.js';
import type { ExpertLoads, LoadPhase, LoadStep } from '../../model/expert-load.js';
import type { LoadSample, LoadSegment, LoadSummary, PhaseLoad } from './load-summary.js';
import { SeriesKeeper } from './series-keeper.js';

const MOST_SEGMENTS = 60;
const MOST_SAMPLES = 256;
/** Numbers held in segments, and as many in samples. */
const ROOM = 6_000_000;

interface CollectOptions {
  /** Iterations with at least as many tokens count as prefill, those with fewer as decode. */
  readonly prefillFrom?: number;
  /** Only iterations of this phase. */
  readonly phase?: LoadPhase;
  readonly onProgress?: (done: number) => void;
}

export async function collectLoads(loads: ExpertLoads, options: CollectOptions = {}): Promise<LoadSummary> {
  const collector = new LoadCollector(loads, options);
  const { iterations } = loads.shape;
  let seen = 0;
  for await (const step of loads.steps()) {
    collector.add(step);
    if ((++seen & 255) === 0 && iterations) options.onProgress?.(seen / iterations);
  }
  return collector.finish();
}

interface Open {
  from: number;
  to: number;
  totals: Float64Array;
}

export class LoadCollector {
  private readonly cells: number;
  private readonly layers: number;
  private readonly experts: number;
  private readonly mostSegments: number;
  private readonly mostSamples: number;
  private readonly series: SeriesKeeper;
  private segments: Open[] = [];
  private segmentLength = 1;
  private readonly samples: LoadSample[] = [];
  private readonly phases = new Map<
    LoadPhase,
    { iterations: number; totals: Float64Array; sum: number; cells: number }
  >();
  private readonly notes = new NoteCounter();
  private position = 0;
  private first = Number.NaN;
  private last = Number.NaN;
  private random = 1;

  constructor(
    private readonly loads: Pick<ExpertLoads, 'source' | 'shape' | 'notes'>,
    private readonly options: CollectOptions = {},
  ) {
    this.layers = loads.shape.layers.length;
    this.experts = loads.shape.experts;
    this.cells = this.layers * this.experts;
    const fits = Math.floor(ROOM / this.cells);
    this.mostSegments = Math.max(6, Math.min(MOST_SEGMENTS, fits - (fits % 2)));
    this.mostSamples = Math.max(4, Math.min(MOST_SAMPLES, fits));
    this.series = new SeriesKeeper(this.layers);
  }

  add(step: LoadStep): void {
    const wanted = this.options.phase;
    if (wanted !== undefined && (step.phase ?? this.phaseOf(sumOf(step.counts))) !== wanted) return;
    if (this.position === 0) this.first = step.iteration;
    this.last = step.iteration;
    const { totals } = this.openSegment();
    const keeps = this.series.wants(this.position);
    const pairs = this.addRows(step.counts, totals, keeps);
    if (keeps) this.series.close(step.iteration, pairs);
    const phase = step.phase ?? this.phaseOf(pairs);
    if (phase) this.addPhase(phase, step.counts);
    this.draw(step, phase);
    this.position++;
  }

  finish(): LoadSummary {
    if (this.position === 0 && this.options.phase !== undefined)
      throw new UserError(
        'usage',
        `${this.loads.source.file} has no ${this.options.phase} iterations.`,
        'Define the phases with --prefill-from TOKENS, or omit --phase.',
      );
    if (this.position === 0)
      throw new UserError(
        'damaged',
        `${this.loads.source.file} has no iterations.`,
        'Record at least one iteration.',
      );
    const totals = new Float64Array(this.cells);
    for (const segment of this.segments) for (let i = 0; i < this.cells; i++) totals[i] += segment.totals[i];
    const kept = this.layersWithTokens(totals);
    const narrow = (matrix: Float64Array) => this.keepLayers(matrix, kept);
    const { shape, source } = this.loads;
    this.notes.addAll(this.loads.notes);
    return {
      source,
      layers: kept.map(layer => shape.layers[layer]),
      recordedLayers: shape.layers,
      experts: this.experts,
      ...(shape.topK === undefined ? {} : { topK: shape.topK }),
      ...(shape.ranks === undefined ? {} : { ranks: shape.ranks }),
      iterations: this.position,
      span: [this.first, this.last],
      totals: narrow(totals),
      segments: this.segments.map((segment): LoadSegment => ({ ...segment, totals: narrow(segment.totals) })),
      samples: this.samples
        .map(sample => ({ ...sample, counts: narrow(sample.counts) }))
        .sort((a, b) => a.position - b.position),
      series: this.series.finish(kept),
      phases: [...this.phases].map(
        ([phase, { iterations, totals: own, sum, cells }]): PhaseLoad => ({
          phase,
          iterations,
          totals: narrow(own),
          maxOverMean: sum / cells,
        }),
      ),
      notes: this.notes.list(),
    };
  }

  /** The loop everything waits for: sums, most, squares and idle experts of each layer in one go. */
  private addRows(counts: Float64Array, totals: Float64Array, keeps: boolean): number {
    const { experts, layers } = this;
    let all = 0;
    let at = 0;
    for (let layer = 0; layer < layers; layer++) {
      let sum = 0;
      let most = 0;
      let squares = 0;
      let idle = 0;
      for (const end = at + experts; at < end; at++) {
        const count = counts[at];
        totals[at] += count;
        sum += count;
        squares += count * count;
        if (count > most) most = count;
        if (count === 0) idle++;
      }
      all += sum;
      if (keeps) this.series.add(sum, most, squares, idle, experts);
    }
    return all;
  }

  private openSegment(): Open {
    const open = this.segments[this.segments.length - 1];
    if (open && this.position - open.from < this.segmentLength) {
      open.to = this.position + 1;
      return open;
    }
    if (this.segments.length === this.mostSegments) this.mergeSegments();
    const last = this.segments[this.segments.length - 1];
    if (last && this.position - last.from < this.segmentLength) {
      last.to = this.position + 1;
      return last;
    }
    const next = { from: this.position, to: this.position + 1, totals: new Float64Array(this.cells) };
    this.segments.push(next);
    return next;
  }

  private mergeSegments(): void {
    const merged: Open[] = [];
    for (let i = 0; i < this.segments.length; i += 2) {
      const [a, b] = [this.segments[i], this.segments[i + 1]];
      for (let j = 0; j < this.cells; j++) a.totals[j] += b.totals[j];
      merged.push({ from: a.from, to: b.to, totals: a.totals });
    }
    this.segments = merged;
    this.segmentLength *= 2;
  }

  private phaseOf(pairs: number): LoadPhase | undefined {
    const { prefillFrom } = this.options;
    if (prefillFrom === undefined) return undefined;
    const tokens = pairs / (this.loads.shape.topK ?? 1) / this.layers;
    return tokens >= prefillFrom ? 'prefill' : 'decode';
  }

  private addPhase(phase: LoadPhase, counts: Float64Array): void {
    const known = this.phases.get(phase) ?? {
      iterations: 0,
      totals: new Float64Array(this.cells),
      sum: 0,
      cells: 0,
    };
    this.phases.set(phase, known);
    known.iterations++;
    for (let layer = 0; layer < this.layers; layer++) {
      let sum = 0;
      let most = 0;
      for (let at = layer * this.experts; at < (layer + 1) * this.experts; at++) {
        known.totals[at] += counts[at];
        sum += counts[at];
        most = Math.max(most, counts[at]);
      }
      if (sum === 0) continue;
      known.sum += (most * this.experts) / sum;
      known.cells++;
    }
  }

  /** Every iteration has the same chance to be among those kept, and the same file always gives the same. */
  private draw(step: LoadStep, phase: LoadPhase | undefined): void {
    const { position } = this;
    let slot = position;
    if (position >= this.mostSamples) {
      this.random = (Math.imul(this.random, 1664525) + 1013904223) >>> 0;
      slot = Math.floor((this.random / 2 ** 32) * (position + 1));
      if (slot >= this.mostSamples) return;
    }
    const counts = this.samples[slot]?.counts ?? new Float64Array(this.cells);
    counts.set(step.counts);
    this.samples[slot] = { position, iteration: step.iteration, ...(phase ? { phase } : {}), counts };
  }

  private layersWithTokens(totals: Float64Array): number[] {
    const kept: number[] = [];
    for (let layer = 0; layer < this.layers; layer++) {
      const row = totals.subarray(layer * this.experts, (layer + 1) * this.experts);
      if (row.some(count => count > 0)) kept.push(layer);
      else
        this.notes.add(
          'empty-layer',
          'info',
          'layers got no tokens (dense layers, or not recorded) and were excluded',
          `layer ${this.loads.shape.layers[layer]}`,
        );
    }
    if (kept.length > 0) return kept;
    throw new UserError(
      'damaged',
      `${this.loads.source.file} has no token counts above 0.`,
      'Record while the engine serves requests, not during warm-up.',
    );
  }

  private keepLayers(matrix: Float64Array, kept: readonly number[]): Float64Array {
    if (kept.length === this.layers) return matrix;
    const narrow = new Float64Array(kept.length * this.experts);
    kept.forEach((layer, i) => {
      narrow.set(matrix.subarray(layer * this.experts, (layer + 1) * this.experts), i * this.experts);
    });
    return narrow;
  }
}

function sumOf(counts: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) sum += counts[i];
  return sum;
}
