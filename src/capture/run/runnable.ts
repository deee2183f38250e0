/** What running needs of a plan; a `CapturePlan` is one. */

export interface PlannedFile {
  readonly kind: 'nsys-report' | 'torch-trace' | 'agent-sidecar';
  /** A file, or a folder the engine fills; `%q{VAR}`, `%p`, `%h` and `%n` of nsys may stand in it. */
  readonly pattern: string;
  /** How many are expected; absent when that is not known beforehand. */
  readonly count?: number;
}

export interface Runnable {
  /** Program and arguments, never a line for a shell. */
  readonly command: readonly string[];
  /** Where in `command` nsys stands, after a launcher or first; -1 without. */
  readonly nsysAt: number;
  /** Set by us in front of the user's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly outputs: readonly PlannedFile[];
  /** Written before the command starts. */
  readonly files?: readonly { readonly path: string; readonly text: string }[];
  readonly estimate?: { readonly bytes: number; readonly temporaryBytes?: number };
}
