/** What went wrong, as every error is told: what happened, and what to do. */
export class Problem extends Error {
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
