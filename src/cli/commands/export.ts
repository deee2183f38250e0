import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { Analyzer } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import type { Static } from '../../base/document.js';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import type { Profile } from '../../model/profile.js';
import type { TimeWindow } from '../../model/slice.js';
import { chromeTrace } from '../../timeline/export/chrome-trace.js';
import { otlpReads, otlpSpans } from '../../timeline/export/otlp-spans.js';
import { ownEvents, ownReads } from '../../timeline/export/own-events.js';
import { perfettoTrace } from '../../timeline/export/perfetto-trace.js';
import { exportedTables, exportReads, recordedEvents } from '../../timeline/export/recorded-events.js';
import type { exportSchema } from '../answers-schema.js';
import { define, requireFiles } from '../command.js';
import { exportFormatOf, writePieces } from '../export-files.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';
import { openShareable } from '../redacted-copies.js';
import { version } from '../version.js';

const EVERYTHING = { fromNs: -Infinity, toNs: Infinity };

export const exportCommand = define({
  usage: ['FILE… -o TRACE [options]'],
  options: ['copy', 'exportTo', 'time', 'redacted', ...analysisOptions, 'force'],
  formats: ['table', 'json'],
  notes: [
    [
      '.pftrace',
      'Perfetto: exact nanoseconds, arrows from launches, steps, phases, layers, idle causes, findings',
    ],
    ['.json', 'Chrome trace: the same events, in the words of the PyTorch profiler'],
    ['.otlp.json', 'OpenTelemetry spans of steps, and of requests if a file of their client is given too'],
    ['', 'Traces open in ui.perfetto.dev and in Stepscope. Keys and passwords in names are removed.'],
  ],
  examples: [
    ['stepscope export profile.sqlite -o profile.pftrace', 'for ui.perfetto.dev'],
    ['stepscope export rank*.json.gz -o run.pftrace.gz --iterations 40-49', 'findings of these steps'],
    ['stepscope export profile.sqlite -o part.json --time 1.2s-1.5s', 'a Chrome trace of a part'],
    ['stepscope export profile.sqlite load.json -o spans.otlp.json', 'for an OpenTelemetry collector'],
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
    const reads = format === 'otlp' ? otlpReads : [exportReads, ...ownReads];
    const profile = await openShareable(given, redacted, output, files => profileFor(files, reads, output));
    const analyzer = new Analyzer(profile, settingsOf(values));
    const made = format === 'otlp' ? spansOf(analyzer) : traceOf(analyzer, format, time ?? EVERYTHING);
    await writePieces(target, given, made.pieces, force);
    const sizeBytes = fs.statSync(target).size;
    await emit({
      blocks: () => [written(target, sizeBytes, made)],
      document: (): Static<typeof exportSchema> => ({
        schema: 'stepscope-export/1',
        files: profile.capture.files,
        file: target,
        format,
        sizeBytes,
        clock: { kind: profile.clock, originNs: String(profile.originNs) },
        events: [...made.counts].map(([category, events]) => ({ key: category, category, events })),
        unplaced: format === 'otlp' ? [] : unplaced(profile),
        remarks: [...made.remarks],
        notes: profile.notes,
      }),
    });
    if (destination.format !== 'json') {
      for (const remark of made.remarks) output.err(`note: ${remark}\n`);
      tellLosses(profile, output);
    }
    return 0;
  },
});

/** What goes into the file, and what is to be said about it; counts are complete once the pieces were taken. */
interface Exported {
  readonly pieces: Iterable<string | Uint8Array>;
  readonly counts: ReadonlyMap<string, number>;
  readonly remarks: readonly string[];
}

function spansOf(analyzer: Analyzer): Exported {
  const { capture, originNs } = analyzer.profile;
  const found = otlpSpans(analyzer, {
    hash: text => createHash('sha256').update(text).digest('hex'),
    version: version(),
    identity: JSON.stringify([capture.files, capture.sizeBytes, String(originNs)]),
  });
  const counts = new Map([
    ['steps', found.steps],
    ['requests', found.requests],
  ]);
  return { pieces: found.pieces(), counts, remarks: found.remarks };
}

function traceOf(analyzer: Analyzer, format: 'perfetto' | 'chrome', window: TimeWindow): Exported {
  const { profile } = analyzer;
  const counts = new Map<string, number>();
  const add = (category: string) => counts.set(category, (counts.get(category) ?? 0) + 1);
  const events = (function* () {
    for (const source of [recordedEvents(profile, window), ownEvents(analyzer, window)])
      for (const event of source) {
        add(event.kind === 'counter' ? 'counter' : event.category);
        if (event.kind === 'slice' && event.arrow?.begins) add('arrow from a launch');
        yield event;
      }
  })();
  const pieces = format === 'chrome' ? chromeTrace(profile, events) : perfettoTrace(profile, events);
  return { pieces, counts, remarks: [] };
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

const written = (file: string, sizeBytes: number, { counts }: Exported): Block => ({
  kind: 'table',
  id: 'export',
  title: `${file} (${formatBytes(sizeBytes)})`,
  rows: counts.size,
  columns: [
    { header: 'Category', kind: 'text', values: [...counts.keys()] },
    { header: 'Events', kind: 'count', values: [...counts.values()] },
  ],
});
