/** Reads a whole trace: bytes through the stream into rows, rows into a Profile. */
import { plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { ProfileBuilder } from '../../model/builder.js';
import type { Profile } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import type { ImportContext } from '../importer.js';
import { CutOffError, type ProfileFile } from '../profile-file.js';
import { buildProfile } from './build-profile.js';
import { EventReader, type Unwanted } from './event-reader.js';
import { EventStore } from './event-store.js';
import { Labels } from './labels.js';
import { TraceMetadata } from './metadata.js';
import { TraceStream } from './trace-stream.js';

export async function importKineto(file: ProfileFile, context: ImportContext): Promise<Profile> {
  const builder = new ProfileBuilder();
  const labels = new Labels();
  const event = new EventReader(labels, unwanted(context));
  const store = new EventStore(builder, event, labels, context.tables);
  const metadata = new TraceMetadata(builder.notes);
  const stream = new TraceStream(event, store, metadata, builder.notes);
  try {
    for await (const chunk of file.borrowedChunks()) {
      stream.append(chunk);
      context.onProgress?.(Math.min(1, (chunk.readBytes ?? 0) / file.sizeBytes));
    }
  } catch (error) {
    if (!(error instanceof CutOffError)) throw error;
  }
  stream.finish();
  store.finish();
  if (!stream.complete) noteCut(file, store, builder);
  else if (!stream.sawEvents) {
    throw new UserError(
      'not-a-profile',
      `${file.name} is JSON without a list of trace events.`,
      'Give the file written by torch.profiler (export_chrome_trace, tensorboard_trace_handler).',
    );
  }
  noteTimes(stream, builder);
  return buildProfile(file, builder, store, metadata);
}

/** What need not be read: most bytes of a trace are ops, their arguments and arrows, and few questions need those. */
function unwanted({ tables }: ImportContext): Unwanted {
  const asksFor = (table: TableName, columns: readonly string[]) =>
    !tables || tables.get(table)?.some(column => columns.includes(column)) === true;
  const links = asksFor('kernels', ['op']) || asksFor('apiCalls', ['op']);
  return {
    ops: tables !== undefined && !tables.has('ops') && !links,
    frames: tables !== undefined && !tables.has('frames'),
    flows: tables !== undefined && !tables.has('flows'),
    opArguments: !links && !asksFor('ops', ['shapes', 'types', 'stack', 'externalId']),
    frameArguments: !asksFor('frames', ['pythonId', 'pythonParentId']),
  };
}

function noteCut(file: ProfileFile, store: EventStore, builder: ProfileBuilder): void {
  if (store.events === 0) {
    throw new UserError(
      'damaged',
      `${file.name} ends before its first event.`,
      'The copy is incomplete, or the profiler was stopped while writing; copy or capture it again.',
    );
  }
  builder.notes.add(
    'cut-off',
    'loss',
    `The file ends in the middle; ${plural(store.events, 'event')} before the cut were kept`,
    file.name,
  );
}

function noteTimes({ cursor }: TraceStream, builder: ProfileBuilder): void {
  if (cursor.roundedDecimals > 0) {
    const text = 'Times with fractions of a nanosecond were rounded to the nearest one';
    builder.notes.add('time-rounded', 'info', text, '', cursor.roundedDecimals);
  }
  if (cursor.exponentDecimals > 0) {
    const text = 'Times written with an exponent: the writer may have rounded them already';
    builder.notes.add('time-exponent', 'warning', text, '', cursor.exponentDecimals);
  }
}
