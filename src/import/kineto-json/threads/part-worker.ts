/** The other end of part-helpers.ts. Descriptors belong to the process, so the file is already open here. */
import { parentPort, workerData } from 'node:worker_threads';
import { readFully } from '../../profile-file.js';
import { type HelperInput, PieceCounter } from './part-helpers.js';
import { memoryOf, PartReader } from './part-reader.js';
import { readPieces } from './read-pieces.js';

const { fd, bounds, counter: shared, wanted } = workerData as HelperInput;
const counter = PieceCounter.from(shared);
const part = new PartReader(wanted);
part.startAt(counter.waitForOrigin());
let whole = true;
for (const readable of readPieces(part, counter, bounds, (into, at) => readFully(fd, into, at)))
  whole = readable;
if (whole) {
  const given = part.give();
  parentPort!.postMessage(given, memoryOf(given));
} else parentPort!.postMessage(undefined);
