/** What every thread does with a trace that is read by several: takes the next piece until none is left. */
import type { PieceCounter } from './part-helpers.js';
import type { PartReader } from './part-reader.js';

/** Says after each piece whether it could be read apart from the others. If not, everybody stops. */
export function* readPieces(
  part: PartReader,
  counter: PieceCounter,
  bounds: readonly number[],
  read: (into: Uint8Array, position: number) => number,
): Iterable<boolean> {
  for (let piece = counter.take(); piece >= 0; piece = counter.take()) {
    const from = bounds[piece];
    const readable = part.read(piece, bounds[piece + 1] - from, into => read(into, from));
    if (!readable) counter.stop();
    yield readable;
  }
}
