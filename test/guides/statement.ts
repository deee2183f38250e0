/** One thing that the founding guides ask for, the command that answers it, and what must be in the answer. */
export interface Statement {
  /** Which guides ask for it, by letter. */
  readonly guides: string;
  /** What they ask, in our words. */
  readonly asks: string;
  /**
   * The command, without `stepscope`. `@eager` is a bundled capture, `@eager.torch` its PyTorch trace, `%name` a bundled
   * result, `URL` a server that answers, `out/` a folder that is thrown away.
   */
  readonly run: string;
  readonly does: string;
  /** Each must be in what the command prints. */
  readonly shows: readonly RegExp[];
  readonly status?: number;
}

export interface Chapter {
  readonly title: string;
  readonly statements: readonly Statement[];
}

export const ask = (
  guides: string,
  asks: string,
  run: string,
  does: string,
  ...shows: readonly RegExp[]
): Statement => ({ guides, asks, run, does, shows });

/** With an exit status other than 0: a refusal is an answer too. */
export const refused = (statement: Statement, status: number): Statement => ({ ...statement, status });
