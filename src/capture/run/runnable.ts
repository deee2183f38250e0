/** What running needs of a plan; a plan has more. */

export interface PlannedFile {
  /** As the command will name it: `%q{VAR}`, `%p`, `%h` and `%n` of nsys may stand in it, and `{rank}`. */
  readonly path: string;
  readonly kind: 'nsys-rep' | 'torch-trace' | 'other';
}

export interface Runnable {
  /** Program and arguments, never a line for a shell. */
  readonly command: readonly string[];
  /** Set by us in front of the user's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly outputs: readonly PlannedFile[];
  /** The iterations asked for, where the engine counts them. */
  readonly window?: { readonly first: number; readonly last: number };
  /** Ranks that each write a file. */
  readonly ranks?: number;
  readonly estimateBytes?: number;
}

/** nsys takes an interrupt as "stop collecting and write the report"; anything else is asked with its whole group. */
export function isUnderNsys(command: readonly string[]): boolean {
  const name = command[0]?.split('/').at(-1) ?? '';
  return name === 'nsys' || name === 'nsys.exe';
}
