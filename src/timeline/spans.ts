/** Parts of things: steps in a row, bytes that are made where they are read. */
export interface StepSpan {
  readonly first: number;
  readonly last: number;
}

export interface Bytes {
  readonly length: number;
  /** The bytes from `from` up to, not including, `to`. */
  read(from: number, to: number): Uint8Array;
}
