/** Random access to bytes, wherever they are. Reads past the end are short, never an error. */
export interface ByteSource {
  readonly size: number;
  /** Fills `into` from `position` on; returns how many bytes there were. */
  read(into: Uint8Array, position: number): number;
}

export class MemorySource implements ByteSource {
  constructor(private readonly bytes: Uint8Array) {}

  get size(): number {
    return this.bytes.length;
  }

  read(into: Uint8Array, position: number): number {
    const part = this.bytes.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  }
}
