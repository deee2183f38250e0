/** Ids of chosen experts become counts. Slots that were not used (−1) are left out and counted. */
import { NoteCounter } from '../../base/notes.js';
import { UserError } from '../../base/user-error.js';
import { MOST_CELLS, MOST_EXPERTS } from '../../model/expert-load.js';

export class IdCounter {
  readonly notes = new NoteCounter();
  private counts: Float64Array;
  private room: number;
  private most = -1;

  constructor(
    private readonly name: string,
    private readonly layers: number,
    private readonly topK: number,
    /** Experts of the model; else as many as the largest id asks for. */
    private readonly experts?: number,
  ) {
    this.room = experts ?? 64;
    if (layers * this.room > MOST_CELLS || layers < 1) throw this.bad(`${layers} layers`, 0);
    this.counts = new Float64Array(layers * this.room);
  }

  /** One token of a layer: ids at `from` to `from + topK`. */
  add(layer: number, ids: ArrayLike<number>, from: number): void {
    for (let i = from; i < from + this.topK; i++) {
      const id = ids[i];
      if (id === -1) {
        this.notes.add('unused-slot', 'info', 'slots without an expert (−1) were left out');
        continue;
      }
      if (!(Number.isInteger(id) && id >= 0 && id < (this.experts ?? MOST_EXPERTS)))
        throw this.bad(`expert ${id}`, layer);
      if (id > this.most) this.most = id;
      if (id >= this.room) this.grow(id + 1, layer);
      this.counts[layer * this.room + id]++;
    }
  }

  finish(): { counts: Float64Array; experts: number } {
    const experts = this.experts ?? this.most + 1;
    if (this.most < 0) throw this.bad('no expert at all', 0);
    if (this.experts === undefined)
      this.notes.add(
        'experts-from-ids',
        'warning',
        'the number of experts is taken as the largest ID plus one; set --experts if the last experts received no tokens',
        String(experts),
      );
    return { counts: this.narrowed(experts), experts };
  }

  private grow(needed: number, layer: number): void {
    let room = this.room;
    while (room < needed) room *= 2;
    if (room * this.layers > MOST_CELLS) throw this.bad(`expert ${needed - 1}`, layer);
    const wider = new Float64Array(this.layers * room);
    for (let l = 0; l < this.layers; l++)
      wider.set(this.counts.subarray(l * this.room, (l + 1) * this.room), l * room);
    this.counts = wider;
    this.room = room;
  }

  private narrowed(experts: number): Float64Array {
    const counts = new Float64Array(this.layers * experts);
    for (let l = 0; l < this.layers; l++)
      counts.set(this.counts.subarray(l * this.room, l * this.room + experts), l * experts);
    return counts;
  }

  private bad(what: string, layer: number): UserError {
    return new UserError(
      'damaged',
      `${this.name}: layer ${layer} names ${what}.`,
      `Expert IDs are whole numbers from 0${this.experts ? ` to ${this.experts - 1}` : ''}.`,
    );
  }
}
