/** What was taken out, by kind and place: counts, never values. */

/** In the order of the list. */
export const removalKinds = {
  environment: 'environment variables',
  'command-line': 'command lines',
  output: 'process output',
  host: 'host names',
  user: 'user names',
  path: 'paths, reduced to the last component',
  address: 'network addresses',
  machine: 'machine serial numbers and IDs',
  secret: 'strings that look like keys or passwords',
  setting: 'metadata that no analysis reads',
  'process-name': 'names of processes and threads without events',
  unnamed: 'strings that no analysis reads',
  binary: 'binary values',
  table: 'tables that Nsight Systems does not write',
  schema: 'custom views, triggers and indexes',
  range: 'range names, hashed',
} as const;

export type RemovalKind = keyof typeof removalKinds;

export interface Removal {
  readonly kind: RemovalKind;
  /** Table and column of an export; metadata, or category and argument of a trace. */
  readonly where: string;
  readonly count: number;
}

/** A trace's arguments are anyone's words: a list of thousands of places helps nobody. */
const MAX_PLACES = 500;

export class Removals {
  private readonly counts = new Map<string, { kind: RemovalKind; where: string; count: number }>();

  add(kind: RemovalKind, where: string, count = 1): void {
    if (count === 0) return;
    let key = `${kind}\n${where}`;
    let known = this.counts.get(key);
    if (!known && this.counts.size >= MAX_PLACES) {
      key = `${kind}\n`;
      known = this.counts.get(key);
      where = 'other locations';
    }
    if (known) known.count += count;
    else this.counts.set(key, { kind, where, count });
  }

  list(): Removal[] {
    const order = Object.keys(removalKinds);
    return [...this.counts.values()].sort(
      (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || (a.where < b.where ? -1 : 1),
    );
  }
}
