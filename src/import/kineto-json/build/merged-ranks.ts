/**
 * Ranks that a tool put into one trace. SGLang's `merge_profiles` (srt/utils/profile_merger.py) writes the rank in front
 * of every process id, `[TP03] 1437`, and of the device, which is the process id of GPU events: `[TP03] 3`. Process,
 * correlation and device numbers repeat from rank to rank, so the label is all that tells them apart.
 */

/** The place of a process id: whose it is, and the id the rank itself knows. */
export interface RankedPid {
  readonly rank: number;
  readonly pid: number;
}

const LABELLED = /^\[([^\]]*\d[^\]]*)\] ?(.*)$/;
/** Kinds of rank in the order in which SGLang sorts files. */
const KINDS = ['DP', 'EP', 'PP', 'TP'];

export class MergedRanks {
  private readonly rankOf: ReadonlyMap<string, number>;

  /** `words`: process ids that are no numbers. */
  constructor(words: Iterable<string>) {
    const labels = new Set<string>();
    for (const word of words) {
      const label = LABELLED.exec(word)?.[1];
      if (label !== undefined) labels.add(label);
    }
    const sorted = [...labels].sort((a, b) => order(a).localeCompare(order(b), 'en', { numeric: true }));
    const onlyTensor = sorted.every(label => /^TP\d+$/.test(label));
    this.rankOf = new Map(sorted.map((label, i) => [label, onlyTensor ? Number(label.slice(2)) : i]));
  }

  get ranks(): readonly number[] {
    return [...this.rankOf.values()];
  }

  of(word: string): RankedPid | undefined {
    const match = LABELLED.exec(word);
    const rank = match ? this.rankOf.get(match[1]) : undefined;
    if (!match || rank === undefined) return undefined;
    const pid = Number(match[2]);
    return { rank, pid: Number.isInteger(pid) && match[2] !== '' ? pid : Number.NaN };
  }
}

const order = (label: string) =>
  KINDS.map(kind => new RegExp(`${kind}(\\d+)`).exec(label)?.[1] ?? '0').join('.') + label;
