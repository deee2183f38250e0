/**
 * Our own placement: begins where the published method ends and keeps changing the busiest GPU for the better, so it is
 * never worse. Two kinds of changes, the best of each taken:
 *
 *   swap      the busiest GPU gives an expert to another GPU and gets a lighter one back
 *   replica   a place of some other expert (that has more than one) becomes another replica of an expert of the busiest
 *
 * Replicas of one expert on one GPU share nothing, so they are kept apart where there is a choice.
 */
import { type EplbShape, eplb } from './eplb.js';
import { gpuLoads, type Placement, placementOf } from './placement.js';

/** Changes looked at before it is good enough; each makes the busiest GPU lighter. */
const MOST_CHANGES = 4000;
/**
 * Places looked at before it is good enough. Real models need far less; one damaged number that makes a model of
 * thousands of experts must not take minutes.
 */
const MOST_LOOKS = 2e8;
/** Closer to even than this nobody can measure. */
const EVEN_ENOUGH = 1.0005;

export function betterPlacement(tokens: ArrayLike<number>, shape: EplbShape): Placement {
  // The global policy is free to use all GPUs; the hierarchical one keeps groups together. Start from the better.
  const starts = [eplb(tokens, shape), eplb(tokens, { ...shape, groups: 1, nodes: 1 })];
  const keepsNodes = (shape.groups ?? 1) % shape.nodes === 0 && shape.nodes > 1;
  const [start] = keepsNodes ? starts : starts.sort((a, b) => most(a, tokens) - most(b, tokens));
  const search = new Search(tokens, start, keepsNodes ? shape.nodes : 1);
  search.run();
  return placementOf(search.expertOf, tokens.length, shape.gpus);
}

const most = (placement: Placement, tokens: ArrayLike<number>) => Math.max(...gpuLoads(placement, tokens));

class Search {
  readonly expertOf: Int32Array;
  private readonly replicas: Int32Array;
  private readonly loads: Float64Array;
  private readonly perGpu: number;
  private readonly gpus: number;
  private readonly gpusPerNode: number;
  private readonly mean: number;
  private looksLeft = MOST_LOOKS;

  constructor(
    private readonly tokens: ArrayLike<number>,
    start: Placement,
    nodes: number,
  ) {
    this.expertOf = start.expertOf.slice();
    this.replicas = start.replicas.slice();
    this.loads = gpuLoads(start, tokens);
    this.gpus = start.gpus;
    this.gpusPerNode = start.gpus / nodes;
    this.perGpu = this.expertOf.length / start.gpus;
    this.mean = this.loads.reduce((sum, load) => sum + load, 0) / this.gpus;
  }

  run(): void {
    for (let change = 0; change < MOST_CHANGES; change++) {
      const busiest = this.busiest();
      if (this.loads[busiest] <= EVEN_ENOUGH * this.mean) return;
      if (!this.swap(busiest) && !this.addReplica(busiest)) return;
    }
  }

  /** Asks to look at so many places. */
  private afford(looks: number): boolean {
    this.looksLeft -= looks;
    return this.looksLeft >= 0;
  }

  private busiest(): number {
    let found = 0;
    for (let gpu = 1; gpu < this.gpus; gpu++) if (this.loads[gpu] > this.loads[found]) found = gpu;
    return found;
  }

  private share(expert: number): number {
    return this.tokens[expert] / this.replicas[expert];
  }

  private places(gpu: number): number {
    return gpu * this.perGpu;
  }

  private holds(gpu: number, expert: number): boolean {
    for (let i = 0; i < this.perGpu; i++) if (this.expertOf[this.places(gpu) + i] === expert) return true;
    return false;
  }

  private sameNode(a: number, b: number): boolean {
    return Math.floor(a / this.gpusPerNode) === Math.floor(b / this.gpusPerNode);
  }

  /** The exchange that leaves the heavier of the two GPUs lightest; false when none helps. */
  private swap(busiest: number): boolean {
    let bestHeavier = this.loads[busiest];
    let give = -1;
    let take = -1;
    for (let gpu = 0; gpu < this.gpus; gpu++) {
      if (gpu === busiest || !this.sameNode(gpu, busiest)) continue;
      if (!this.afford(this.perGpu * this.perGpu)) break;
      for (let i = 0; i < this.perGpu; i++) {
        const ours = this.expertOf[this.places(busiest) + i];
        for (let j = 0; j < this.perGpu; j++) {
          const theirs = this.expertOf[this.places(gpu) + j];
          const shift = this.share(ours) - this.share(theirs);
          if (shift <= 0) continue;
          const heavier = Math.max(this.loads[busiest] - shift, this.loads[gpu] + shift);
          if (heavier >= bestHeavier * (1 - 1e-12)) continue;
          if (this.holds(gpu, ours) || this.holds(busiest, theirs)) continue;
          bestHeavier = heavier;
          give = this.places(busiest) + i;
          take = this.places(gpu) + j;
        }
      }
    }
    if (give < 0) return false;
    const shift = this.share(this.expertOf[give]) - this.share(this.expertOf[take]);
    const other = Math.floor(take / this.perGpu);
    [this.expertOf[give], this.expertOf[take]] = [this.expertOf[take], this.expertOf[give]];
    this.loads[busiest] -= shift;
    this.loads[other] += shift;
    return true;
  }

  /** Turns a place of an expert that has several into another replica of one of the busiest GPU's. */
  private addReplica(busiest: number): boolean {
    let best = this.loads[busiest];
    let chosen: { place: number; expert: number } | undefined;
    const places = this.expertOf.length;
    for (let i = 0; i < this.perGpu && this.afford(places); i++) {
      const expert = this.expertOf[this.places(busiest) + i];
      for (let place = 0; place < this.expertOf.length; place++) {
        const given = this.expertOf[place];
        const gpu = Math.floor(place / this.perGpu);
        if (given === expert || this.replicas[given] < 2 || !this.sameNode(gpu, busiest)) continue;
        if (this.holds(gpu, expert)) continue;
        // A change and its undoing go over all places four times each.
        if (!this.afford(8 * places)) break;
        const after = this.worstAfter(place, expert);
        if (after < best * (1 - 1e-12)) {
          best = after;
          chosen = { place, expert };
        }
      }
    }
    if (!chosen) return false;
    this.change(chosen.place, chosen.expert);
    return true;
  }

  /** The heaviest GPU if the place changed hands; stops looking once it is no better. */
  private worstAfter(place: number, expert: number): number {
    const given = this.expertOf[place];
    this.change(place, expert);
    let worst = 0;
    for (const load of this.loads) if (load > worst) worst = load;
    this.change(place, given);
    return worst;
  }

  private change(place: number, expert: number): void {
    const given = this.expertOf[place];
    this.takeOut(given);
    this.takeOut(expert);
    this.expertOf[place] = expert;
    this.replicas[given]--;
    this.replicas[expert]++;
    this.putBack(given);
    this.putBack(expert);
  }

  private takeOut(expert: number): void {
    this.addShares(expert, -this.share(expert));
  }

  private putBack(expert: number): void {
    this.addShares(expert, this.share(expert));
  }

  private addShares(expert: number, share: number): void {
    for (let place = 0; place < this.expertOf.length; place++)
      if (this.expertOf[place] === expert) this.loads[Math.floor(place / this.perGpu)] += share;
  }
}
