/** Summaries of events that are neither CUDA's nor NVTX's: one shape for all, told apart by the table they come from. */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { texts, timeSummaryColumns } from './columns.js';
import { byTotal, groupValues } from './grouping.js';
import type { StatsReport } from './report.js';

export type EventRow = Row<'otherEvents'>;

export interface NamedEvent {
  readonly name: string;
  readonly durationNs: number;
  /** Events of one name are kept apart by this. */
  readonly source?: string;
}

interface EventSummary {
  readonly id: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly countHeader: 'Count' | 'Num Calls' | 'Instances';
  readonly nameHeader: 'Name' | 'Range';
  /** Ranges that took no time at all are not listed. */
  readonly onlyLasting?: true;
  readonly sourceHeader?: string;
  /** Names of the tables it is about. */
  readonly source: RegExp;
  events(profile: Profile, source: RegExp): Iterable<NamedEvent>;
}

export function eventSummary(spec: EventSummary): StatsReport {
  const { id, title, aliases } = spec;
  return {
    id,
    title,
    aliases,
    options: [],
    reads: { otherEvents: ['class', 'id', 'correlation', 'file', 'line'] },
    needs: [['otherEvents']],
    recorded: profile => hasEventsFrom(profile, spec.source),
    compute(profile) {
      const events = [...spec.events(profile, spec.source)];
      const keys = new Map<string, number>();
      const keyOf = ({ name, source = '' }: NamedEvent) => {
        const key = `${source}\0${name}`;
        if (!keys.has(key)) keys.set(key, keys.size);
        return keys.get(key)!;
      };
      const groups = groupValues(
        Int32Array.from(events, keyOf),
        Float64Array.from(events, event => event.durationNs),
      )
        .filter(({ summary }) => !spec.onlyLasting || summary.total > 0)
        .sort(byTotal);
      return [
        ...timeSummaryColumns(
          groups.map(group => group.summary),
          spec.countHeader,
        ),
        ...(spec.sourceHeader
          ? [texts(spec.sourceHeader, groups, ({ row }) => events[row].source ?? null)]
          : []),
        texts(spec.nameHeader, groups, ({ row }) => events[row].name),
      ];
    },
  };
}

export function hasEventsFrom({ tables, strings }: Profile, source: RegExp): boolean {
  const sources = new Set(tables.otherEvents?.source as Iterable<number> | undefined);
  return [...sources].some(id => source.test(strings.text(id)));
}

/** Rows of tables with such names, in the order of time. */
export function eventsFrom(profile: Profile, source: RegExp, eventClass?: number): EventRow[] {
  const events = profile.tables.otherEvents!;
  const wanted = new Map<number, boolean>();
  const rows: EventRow[] = [];
  for (let row = 0 as EventRow; row < events.length; row++) {
    const id = events.source[row];
    if (!wanted.has(id)) wanted.set(id, source.test(profile.strings.text(id)));
    if (wanted.get(id) && (eventClass === undefined || events.class?.[row] === eventClass)) rows.push(row);
  }
  return rows;
}

export function nameOf(profile: Profile, row: EventRow): string | undefined {
  const id = profile.tables.otherEvents!.name[row];
  return id === NONE ? undefined : profile.strings.text(id);
}

export function durationOf(profile: Profile, row: EventRow): number {
  const { start, end } = profile.tables.otherEvents!;
  return end[row] - start[row];
}
