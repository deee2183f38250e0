/** Three numbers per iteration and layer; when they become too many, every second iteration is let go. */
import type { BalanceSeries } from './load-summary.js';

const MOST_NUMBERS = 2_000_000;

export class SeriesKeeper {
  private readonly most: number;
  private stride = 1;
  private length = 0;
  private readonly iterations: number[] = [];
  private readonly pairs: number[] = [];
  private maxOverMean: Float32Array;
  private variation: Float32Array;
  private idleShare: Float32Array;
  private at = 0;

  constructor(private readonly layers: number) {
    this.most = Math.max(16, Math.floor(MOST_NUMBERS / layers)) & ~1;
    const room = Math.min(this.most, 256) * layers;
    this.maxOverMean = new Float32Array(room);
    this.variation = new Float32Array(room);
    this.idleShare = new Float32Array(room);
  }

  wants(position: number): boolean {
    return position % this.stride === 0;
  }

  add(sum: number, most: number, squares: number, idle: number, experts: number): void {
    if (this.at === this.maxOverMean.length) this.grow();
    const mean = sum / experts;
    // Rounding may leave a variance a hair below nothing.
    this.maxOverMean[this.at] = sum > 0 ? most / mean : Number.NaN;
    this.variation[this.at] =
      sum > 0 ? Math.sqrt(Math.max(0, squares / experts - mean * mean)) / mean : Number.NaN;
    this.idleShare[this.at++] = idle / experts;
  }

  /** The iteration is complete. */
  close(iteration: number, pairs: number): void {
    this.iterations.push(iteration);
    this.pairs.push(pairs);
    if (++this.length === this.most) this.thin();
  }

  finish(kept: readonly number[]): BalanceSeries {
    const narrow = (values: Float32Array) => {
      const own = new Float32Array(this.length * kept.length);
      for (let i = 0; i < this.length; i++)
        kept.forEach((layer, j) => {
          own[i * kept.length + j] = values[i * this.layers + layer];
        });
      return own;
    };
    return {
      stride: this.stride,
      length: this.length,
      iterations: Float64Array.from(this.iterations),
      pairs: Float64Array.from(this.pairs),
      maxOverMean: narrow(this.maxOverMean),
      variation: narrow(this.variation),
      idleShare: narrow(this.idleShare),
    };
  }

  private grow(): void {
    const wider = (values: Float32Array) => {
      const more = new Float32Array(values.length * 2);
      more.set(values);
      return more;
    };
    this.maxOverMean = wider(this.maxOverMean);
    this.variation = wider(this.variation);
    this.idleShare = wider(this.idleShare);
  }

  private thin(): void {
    const { layers } = this;
    for (let i = 0; 2 * i < this.length; i++) {
      this.iterations[i] = this.iterations[2 * i];
      this.pairs[i] = this.pairs[2 * i];
      for (const values of [this.maxOverMean, this.variation, this.idleShare])
        values.copyWithin(i * layers, 2 * i * layers, (2 * i + 1) * layers);
    }
    this.length = Math.ceil(this.length / 2);
    this.iterations.length = this.length;
    this.pairs.length = this.length;
    this.at = this.length * layers;
    this.stride *= 2;
  }
}
