/**
 * How files are packed: told by their first bytes, undone as a stream in bounded memory. Whoever reads such a stream
 * counts what comes out of it (`profile-file.ts`), since every one of these can blow up a few bytes a thousandfold.
 */
import type { PackedEnding } from '../../catalog/file-formats.js';

export interface Packing {
  readonly ending: PackedEnding;
  /** The program that undoes it, for whoever would rather do so. */
  readonly unpacker: string;
  readonly magic: readonly number[];
  /**
   * The content, in pieces of about so many bytes where the packing lets us choose. Throws where the packed bytes end
   * early or make no sense; what was handed out until then is good.
   */
  unpack(packed: AsyncIterable<Uint8Array>, pieceBytes: number): AsyncIterable<Uint8Array>;
}
