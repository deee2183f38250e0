/** Reads a trace from front to end on this thread. */
import { ProfileBuilder } from '../../../model/builder.js';
import { CutOffError, type ProfileFile } from '../../profile-file.js';
import { EventReader } from '../events/event-reader.js';
import { EventScanner } from '../events/event-scanner.js';
import { EventStore } from '../events/event-store.js';
import { Labels } from '../events/labels.js';
import type { ReadTrace, Wanted } from '../events/read-trace.js';
import { TraceMetadata } from './metadata.js';
import { TraceStream, WINDOW_BYTES } from './trace-stream.js';

/** A file that was read, by however many threads. */
export interface TraceRead {
  readonly builder: ProfileBuilder;
  readonly trace: ReadTrace;
  readonly metadata: TraceMetadata;
  /** The file's closing bracket was there. */
  readonly complete: boolean;
  readonly sawEvents: boolean;
  /** Times with more than three fractional digits, or an exponent. */
  readonly roundedDecimals: number;
  readonly exponentDecimals: number;
}

/** What is read of a file: its text, wherever it comes from. */
export type TraceText = Pick<ProfileFile, 'name' | 'sizeBytes' | 'borrowedChunks'>;

/** `mayScan`: false where all events are to be read by the EventReader, as tests compare. */
export async function readAlone(
  file: TraceText,
  wanted: Wanted,
  onProgress: (done: number) => void,
  mayScan = true,
): Promise<TraceRead> {
  const builder = new ProfileBuilder();
  const labels = new Labels();
  const event = new EventReader(labels, wanted.unwanted);
  const store = new EventStore(builder, event, labels, wanted.tables);
  const metadata = new TraceMetadata(builder.notes);
  const scanner = mayScan ? EventScanner.create(WINDOW_BYTES, wanted.unwanted) : undefined;
  const stream = new TraceStream(event, store, metadata, builder.notes, scanner);
  try {
    for await (const chunk of file.borrowedChunks()) {
      stream.append(chunk);
      onProgress(Math.min(1, (chunk.readBytes ?? 0) / file.sizeBytes));
    }
  } catch (error) {
    if (!(error instanceof CutOffError)) throw error;
  }
  stream.finish();
  store.finish();
  const { complete, sawEvents } = stream;
  const { roundedDecimals, exponentDecimals } = stream.cursor;
  return { builder, trace: store, metadata, complete, sawEvents, roundedDecimals, exponentDecimals };
}
