/** Reads a trace with helpers. Exactly what one thread would read, or nothing: then one thread has to. */
import { setImmediate } from 'node:timers/promises';
import { ProfileBuilder } from '../../../model/builder.js';
import type { Wanted } from '../events/read-trace.js';
import { TraceMetadata } from '../read/metadata.js';
import type { TraceRead } from '../read/read-alone.js';
import { TraceStream } from '../read/trace-stream.js';
import { joinParts } from './join-parts.js';
import type { Helpers } from './part-helpers.js';
import { type Part, PartReader } from './part-reader.js';
import { readPieces } from './read-pieces.js';

const TAIL_BYTES = 1024 * 1024;

export async function readTogether(
  helpers: Helpers,
  wanted: Wanted,
  onProgress: (done: number) => void,
): Promise<TraceRead | undefined> {
  const part = new PartReader(wanted);
  const metadata = new TraceMetadata(part.notes);
  // Its window is the memory in which pieces lie: it is empty whenever one of them is read.
  const stream = new TraceStream(part.event, part.store, metadata, part.notes, part.scanner);
  let whole = false;
  try {
    whole = await readOwnPart(part, stream, helpers, onProgress);
  } finally {
    if (!whole) helpers.counter.stop();
    // The descriptor must not be closed under a helper.
    await Promise.all(helpers.parts);
  }
  const others = await Promise.all(helpers.parts);
  if (!whole || others.includes(undefined)) return undefined;
  const builder = new ProfileBuilder();
  const parts = [part.give(), ...(others as Part[])];
  const trace = joinParts(parts, builder, part.store.originMicros);
  if (!trace) return undefined;
  const { cursor, complete, sawEvents } = stream;
  const sum = (count: (part: Part) => number) => parts.reduce((total, one) => total + count(one), 0);
  return {
    builder,
    trace,
    metadata,
    complete,
    sawEvents,
    roundedDecimals: cursor.roundedDecimals + sum(one => one.roundedDecimals),
    exponentDecimals: cursor.exponentDecimals + sum(one => one.exponentDecimals),
  };
}

async function readOwnPart(
  part: PartReader,
  stream: TraceStream,
  helpers: Helpers,
  onProgress: (done: number) => void,
): Promise<boolean> {
  const { source, bounds, counter } = helpers;
  const last = bounds.length - 2;
  const head = new Uint8Array(bounds[1]);
  if (source.read(head, 0) !== head.length) return false;
  stream.append(head);
  if (!stream.betweenEvents || !part.end(0)) return false;
  if (!part.event.sawTime || Number.isNaN(part.store.originMicros)) return false;
  counter.start(part.store.originMicros);

  if (helpers.helpersOnly) await Promise.all(helpers.parts);
  let done = 1;
  for (const readable of readPieces(part, counter, bounds, (into, at) => source.read(into, at))) {
    if (!readable) return false;
    // The others are about as fast, and the last piece is still to come.
    done += 1 + helpers.parts.length;
    onProgress(Math.min(last, done) / (last + 1));
    // Lets whatever waits on this thread have its turn.
    await setImmediate();
  }

  part.begin(last);
  const chunk = new Uint8Array(TAIL_BYTES);
  for (let at = bounds[last], got = -1; got !== 0; at += got) {
    got = source.read(chunk, at);
    stream.append(chunk.subarray(0, got));
  }
  stream.finish();
  return part.end(last);
}
