/** From a file that was read to a Profile, with what there is to say about the file as a whole. */
import { plural } from '../../../base/units.js';
import { UserError } from '../../../base/user-error.js';
import type { ProfileBuilder } from '../../../model/builder.js';
import type { Profile } from '../../../model/profile.js';
import type { ProfileFile } from '../../profile-file.js';
import type { Wanted } from '../events/read-trace.js';
import { kinetoTables } from '../events/trace-rows.js';
import type { TraceRead } from '../read/read-alone.js';
import { buildProfile } from './build-profile.js';

export function finishImport(
  file: Pick<ProfileFile, 'name' | 'sizeBytes'>,
  read: TraceRead,
  { tables }: Wanted,
): Profile {
  const { builder, trace, metadata } = read;
  builder.skipped = kinetoTables.filter(name => tables && !tables.has(name));
  if (trace.events === 0 && builder.notes.has('damaged-event')) {
    throw new UserError(
      'damaged',
      `${file.name} is damaged: it contains no readable event.`,
      'Copy it again and compare its size with the original, or capture again.',
    );
  }
  if (!read.complete) noteCut(file, trace.events, builder);
  else if (!read.sawEvents) {
    throw new UserError(
      'not-a-profile',
      `${file.name} is JSON without a list of trace events.`,
      'Give the file written by torch.profiler (export_chrome_trace, tensorboard_trace_handler).',
    );
  }
  noteTimes(read, builder);
  return buildProfile(file, builder, trace, metadata);
}

function noteCut(
  file: Pick<ProfileFile, 'name' | 'sizeBytes'>,
  events: number,
  builder: ProfileBuilder,
): void {
  if (events === 0) {
    throw new UserError(
      'damaged',
      `${file.name} ends before its first event.`,
      'The copy is incomplete, or the profiler was stopped while writing. Copy or capture it again.',
    );
  }
  builder.notes.add(
    'cut-off',
    'loss',
    `The file is truncated; ${plural(events, 'event')} before the end were kept`,
    file.name,
  );
}

function noteTimes({ roundedDecimals, exponentDecimals }: TraceRead, builder: ProfileBuilder): void {
  if (roundedDecimals > 0) {
    const text = 'Times with fractions of a nanosecond were rounded to whole nanoseconds';
    builder.notes.add('time-rounded', 'info', text, '', roundedDecimals);
  }
  if (exponentDecimals > 0) {
    const text = 'Times are written with an exponent: the writer may have rounded them';
    builder.notes.add('time-exponent', 'warning', text, '', exponentDecimals);
  }
}
