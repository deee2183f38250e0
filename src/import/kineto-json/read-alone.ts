/** Reads a trace from front to end on this thread. */
import { ProfileBuilder } from '../../model/builder.js';
import { CutOffError, type ProfileFile } from '../profile-file.js';
import { EventReader } from './event-reader.js';
import { EventStore } from './event-store.js';
import { Labels } from './labels.js';
import { TraceMetadata } from './metadata.js';
import type { Wanted } from './part-reader.js';
import type { ReadTrace } from './read-trace.js';
import { TraceStream } from './trace-stream.js';

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

export async function readAlone(
  file: ProfileFile,
  wanted: Wanted,
  onProgress: (done: number) => void,
): Promise<TraceRead> {
  const builder = new ProfileBuilder();
  const labels = new Labels();
  const event = new EventReader(labels, wanted.unwanted);
  const store = new EventStore(builder, event, labels, wanted.tables);
  const metadata = new TraceMetadata(builder.notes);
  const stream = new TraceStream(event, store, metadata, builder.notes);
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
