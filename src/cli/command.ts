/** The contract of a verb: its help is data, so `--help` looks the same everywhere. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** `stepscope NAME …` */
  readonly usage: string;
  readonly options: readonly OptionHelp[];
  readonly examples: readonly (readonly [command: string, meaning: string])[];
  run(args: readonly string[], output: Output): Promise<number>;
}

export interface OptionHelp {
  readonly flags: string;
  readonly meaning: string;
}

/** Where a command writes. Tests hand in their own. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Columns of the terminal; Infinity when standard output is not one. */
  readonly width: number;
  readonly color: boolean;
  /** Shows how far a long step is, on a terminal only; `detail` may change from call to call. */
  progress(label: string, done: number, detail?: string): void;
  clearProgress(): void;
  /** Rewrites one line at the bottom of a terminal; absent or silent elsewhere. */
  status?(text: string): void;
}

export function helpText(command: Command): string {
  const flagWidth = Math.max(...command.options.map(option => option.flags.length));
  const options = command.options.map(option => `  ${option.flags.padEnd(flagWidth)}  ${option.meaning}`);
  const examples = command.examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  return `${command.summary}\n\nusage: ${command.usage}\n\noptions:\n${options.join('\n')}\n\nexamples:\n${examples.join('\n')}\n`;
}
