/** Writes an index's b-tree anew. Its entries come in order; here they only get their places. */
import { pushVarint } from './record.js';
import { INTERIOR_INDEX, LEAF_INDEX, PageBuilder, type PageWriter, putU32 } from './write-page.js';

/**
 * An index of `total` entries. How they lie is settled beforehand: every page gets the same share, one entry between
 * two pages goes up, and so no page is left empty.
 */
export class IndexWriter {
  private readonly leaves: number[];
  private readonly leaf: PageBuilder;
  private filled = 0;
  private readonly children: number[] = [];
  private dividers: Uint8Array[] = [];

  constructor(
    private readonly writer: PageWriter,
    total: number,
    longest: number,
  ) {
    this.leaves = shares(total, this.capacity(8, longest));
    this.capacityAbove = this.capacity(12, longest + 4);
    this.leaf = new PageBuilder(writer, LEAF_INDEX);
  }

  private readonly capacityAbove: number;

  private capacity(head: number, longest: number): number {
    return Math.max(2, Math.floor((this.writer.usableSize - head) / (Math.max(4, longest + 3) + 2)));
  }

  add(record: Uint8Array, from: number, to: number): void {
    const isLast = this.children.length === this.leaves.length - 1;
    if (this.filled === this.leaves[this.children.length] && !isLast) {
      this.children.push(this.writer.put(this.leaf.finish()));
      this.leaf.clear();
      this.filled = 0;
      this.dividers.push(record.slice(from, to));
      return;
    }
    putEntry(this.leaf, record.subarray(from, to));
    this.filled++;
  }

  finish(): number {
    this.children.push(this.writer.put(this.leaf.finish()));
    let children = this.children;
    while (children.length > 1) {
      const pages = shares(this.dividers.length, this.capacityAbove);
      const above: number[] = [];
      const dividersAbove: Uint8Array[] = [];
      let next = 0;
      for (const share of pages) {
        const page = new PageBuilder(this.writer, INTERIOR_INDEX);
        for (let i = 0; i < share; i++, next++) putEntry(page, this.dividers[next], children[next]);
        above.push(this.writer.put(page.finish(children[next])));
        if (above.length < pages.length) dividersAbove.push(this.dividers[next]);
        next++;
      }
      children = above;
      this.dividers = dividersAbove;
    }
    return children[0];
  }
}

/** How many of `total` each page gets when pages hold `capacity` and one entry lies between every two. */
function shares(total: number, capacity: number): number[] {
  const pages = Math.max(1, Math.ceil((total + 1) / (capacity + 1)));
  const inside = total - (pages - 1);
  return Array.from(
    { length: pages },
    (_, p) => Math.floor((inside * (p + 1)) / pages) - Math.floor((inside * p) / pages),
  );
}

function putEntry(page: PageBuilder, record: Uint8Array, child?: number): void {
  const lead: number[] = [];
  pushVarint(lead, record.length);
  const front = child === undefined ? 0 : 4;
  const at = page.cell(front + lead.length + record.length);
  if (child !== undefined) putU32(page.bytes, at, child);
  page.bytes.set(lead, at + front);
  page.bytes.set(record, at + front + lead.length);
}
