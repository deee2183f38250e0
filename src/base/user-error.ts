/**
 * Something the user can fix. Printed as two lines (what happened, what to do), never with a stack.
 * Each code has its own exit status so that scripts can tell the cases apart.
 */
export const exitCodes = {
  usage: 2,
  'not-found': 3,
  'not-a-profile': 4,
  damaged: 5,
  'too-large': 6,
  'needs-nsys': 7,
  'not-recorded': 8,
  unreadable: 9,
  'no-space': 10,
  'no-answer': 11,
  'capture-failed': 12,
  unreachable: 13,
  'job-failed': 14,
} as const;

export type UserErrorCode = keyof typeof exitCodes;

/** Two copies of this code may meet in one process: a bundle, a plugin's own. What an error is must not depend on which. */
export const brand: unique symbol = Symbol.for('stepscope.error') as never;

export const isBranded = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[brand] === name;

export class UserError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isBranded(value, 'UserError');
  }

  readonly [brand] = 'UserError';

  constructor(
    readonly code: UserErrorCode,
    whatHappened: string,
    readonly hint: string,
  ) {
    super(whatHappened);
    this.name = 'UserError';
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}
