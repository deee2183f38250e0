/** One thing to ask, and where such things come from. */
export interface Prompt {
  /** Text, or token ids where a dataset has them. */
  readonly content: string | readonly number[];
  /** Exact for token ids; of text about, until the server says. */
  readonly inputTokens?: number;
  /** Tokens the answer is to have. */
  readonly outputTokens: number;
}

export interface PromptSource {
  /** For the request of this number in a part of the run (a level, its warm-up). Asked once for each, in order. */
  prompt(part: string, number: number): Prompt;
  /** Different prompts there are; Infinity where they are made up. */
  readonly size: number;
  /** For the report: a name without a folder, or the kind of prompts. */
  readonly name: string;
}
