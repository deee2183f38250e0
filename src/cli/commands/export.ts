import * as fs from 'node:fs';
import { Analyzer } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import type { Static } from '../../base/document.js';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import type { Profile } from '../../model/profile.js';
import { chromeTrace } from '../../timeline/export/chrome-trace.js';
import { ownEvents, ownReads } from '../../timeline/export/own-events.js';
import { perfettoTrace } from '../../timeline/export/perfetto-trace.js';
import { exportedTables, exportReads, recordedEvents } from '../../timeline/export/recorded-events.js';
import type { TraceEvent } from '../../timeline/export/trace-event.js';
import type { exportSchema } from '../answers-schema.js';
import { define, requireFiles } from '../command.js';
import { exportFormatOf, writePieces } from '../export-files.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';
import { openShareable } from '../redacted-copies.js';

const EVERYTHING = { fromNs: -Infinity, toNs: Infinity };

export const exportCommand = define({
  usage: ['FILE… -o TRACE [options]'],
  options: ['copy', 'exportTo', 'time', 'redacted', ...analysisOptions, 'force'],
  formats: ['table', 'json', 'markdown'],
  notes: [
    [
      '.pftrace',
      'Perfetto: exact nanoseconds, arrows from launches, steps, phases, layers, idle causes, findings',
    ],
    ['.json', 'Chrome trace: the same events, in the words of the PyTorch profiler'],
    ['', 'Both open in ui.perfetto.dev and in Stepscope. Keys and passwords in names are removed.'],
  ],
  examples: [
    ['stepscope export profile.sqlite -o profile.pftrace', 'for ui.perfetto.dev'],
    ['stepscope export rank*.json.gz -o run.pftrace.gz --iterations 40-49', 'findings of these steps'],
    ['stepscope export profile.sqlite -o part.json --time 1.2s-1.5s', 'a Chrome trace of a part'],
    ['stepscope export profile.sqlite -o shared.pftrace --redact', 'safe to share'],
  ],
  async run({ values, given, destination, output, emit }) {
    requireFiles('export', given);
    const { copy: target, exportTo, time, redacted, force } = values;
    if (target === undefined)
      throw new UserError(
        'usage',
        'No output file was given.',
        `For example: stepscope export ${given[0]} -o trace.pftrace`,
      );
    const format = exportTo ?? exportFormatOf(target);
    const profile = await openShareable(given, redacted, output, files =>
      profileFor(files, [exportReads, ...ownReads], output),
    );
    const analyzer = new Analyzer(profile, settingsOf(values));
    const window = time ?? EVERYTHING;
    const counts = new EventCounts();
    const events = counts.counted(
      (function* () {
        yield* recordedEvents(profile, window);
        yield* ownEvents(analyzer, window);
      })(),
    );
    const pieces = format === 'chrome' ? chromeTrace(profile, events) : perfettoTrace(profile, events);
    await writePieces(target, given, pieces, force);
    const sizeBytes = fs.statSync(target).size;
    await emit({
      blocks: () => [written(target, sizeBytes, counts)],
      document: (): Static<typeof exportSchema> => ({
        schema: 'stepscope-export/1',
        files: profile.capture.files,
        file: target,
        format,
        sizeBytes,
        clock: { kind: profile.clock, originNs: String(profile.originNs) },
        events: [...counts.byCategory].map(([category, events]) => ({ key: category, category, events })),
        arrows: counts.arrows,
        unplaced: unplaced(profile),
        notes: profile.notes,
      }),
    });
    if (destination.format !== 'json') tellLosses(profile, output);
    return 0;
  },
});

/** How many events of each category went by. */
class EventCounts {
  readonly byCategory = new Map<string, number>();
  arrows = 0;

  *counted(events: Iterable<TraceEvent>): Iterable<TraceEvent> {
    for (const event of events) {
      const category = event.kind === 'counter' ? 'counter' : event.category;
      this.byCategory.set(category, (this.byCategory.get(category) ?? 0) + 1);
      if (event.kind === 'slice' && event.arrow?.begins) this.arrows++;
      yield event;
    }
  }
}

/** Rows of a table that a trace has no place for: they belong to no thread and no stream. */
function unplaced(profile: Profile): { table: string; rows: number }[] {
  return exportedTables.flatMap(table => {
    const rows = profile.tables[table] as unknown as
      | { readonly length: number; readonly thread?: Int32Array; readonly stream?: Int32Array }
      | undefined;
    if (!rows || table === 'metricSamples') return [];
    const place = rows.thread ?? rows.stream;
    const count = place?.reduce((sum, row) => sum + (row < 0 ? 1 : 0), 0) ?? 0;
    return count > 0 ? [{ table, rows: count }] : [];
  });
}

const written = (file: string, sizeBytes: number, { byCategory, arrows }: EventCounts): Block => {
  const rows = [...byCategory, ...(arrows > 0 ? [['arrows from launches', arrows] as const] : [])];
  return {
    kind: 'table',
    id: 'export',
    title: `${file} (${formatBytes(sizeBytes)})`,
    rows: rows.length,
    columns: [
      { header: 'Category', kind: 'text', values: rows.map(([category]) => category) },
      { header: 'Events', kind: 'count', values: rows.map(([, count]) => count) },
    ],
  };
};
