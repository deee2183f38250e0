/** Random access to bytes, wherever they are. Reads past the end are short, never an error. */
export interface ByteSource {
  readonly size: number;
  /** Fills `into` from `position` on; returns how many bytes there were. */
  read(into: Uint8Array, position: number): number;
}
