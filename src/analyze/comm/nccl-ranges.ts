/**
 * What NCCL itself says about its calls: a range around each, with communicator and size as payload (nsys records it
 * with -t nvtx). The kernel of a call was launched inside its range; inside CUDA graphs there is none.
 */
import { upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { NCCL_DOMAIN, NCCL_JOIN, parseNcclRange, type StatedMessage } from '../../catalog/messages.js';
import type { Profile, Row } from '../../model/profile.js';

type RangeRow = Row<'ranges'>;

export class NcclRanges {
  /** Per thread, in order of start. */
  private readonly byThread = new Map<number, { rows: RangeRow[]; starts: Float64Array }>();
  /** Ranks of a communicator, from when they joined it. */
  private readonly sizes = new Map<string, number>();

  constructor(private readonly profile: Profile) {
    const { ranges } = profile.tables;
    if (!ranges?.payloadText) return;
    const rows = new Map<number, RangeRow[]>();
    for (let row = 0 as RangeRow; row < ranges.length; row++) {
      if (ranges.payloadText[row] === NONE || !this.isNccl(ranges.domain[row])) continue;
      const name = profile.strings.text(ranges.name[row]);
      if (NCCL_JOIN.test(name)) {
        const joined = this.parse(row);
        if (joined?.groupSize !== undefined) this.sizes.set(joined.group, joined.groupSize);
        continue;
      }
      const own = rows.get(ranges.thread[row]);
      if (own) own.push(row);
      else rows.set(ranges.thread[row], [row]);
    }
    for (const [thread, own] of rows)
      this.byThread.set(thread, { rows: own, starts: Float64Array.from(own, row => ranges.start[row]) });
  }

  /** The range that was open when a call launched; undefined: none, or the launch is not known. */
  around(launch: Row<'apiCalls'>): RangeRow | undefined {
    const { apiCalls: calls, ranges } = this.profile.tables;
    if (this.byThread.size === 0 || !calls || launch < 0) return undefined;
    const own = this.byThread.get(calls.thread[launch]);
    const at = own ? upperBound(own.starts, calls.start[launch]) - 1 : -1;
    return at >= 0 && ranges!.end[own!.rows[at]] >= calls.start[launch] ? own!.rows[at] : undefined;
  }

  message(range: RangeRow): StatedMessage | undefined {
    const message = this.parse(range);
    const groupSize = message && (message.groupSize ?? this.sizes.get(message.group));
    return message && { ...message, ...(groupSize === undefined ? {} : { groupSize }) };
  }

  private parse(row: RangeRow): StatedMessage | undefined {
    const { strings, tables } = this.profile;
    return parseNcclRange(
      strings.text(tables.ranges!.name[row]),
      strings.text(tables.ranges!.payloadText![row]),
    );
  }

  private isNccl(domain: number): boolean {
    return domain !== NONE && this.profile.strings.text(domain as never) === NCCL_DOMAIN;
  }
}
