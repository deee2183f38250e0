/** What the server does not do, and why: a status beside the two lines that every error has. */
import { UserError, type UserErrorCode } from '../base/user-error.js';

export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The client hung up while it was sending: there is nothing to tell, and no one to tell it to. */
export class SenderGone extends Error {}

const statusOfCode: Partial<Record<UserErrorCode, number>> = {
  usage: 400,
  'not-found': 404,
  'no-space': 507,
};

/** Any error as an answer. What is our own bug says nothing about our insides, unless someone is looking for it. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof UserError)
    return new Refusal(statusOfCode[error.code] ?? 422, error.message, error.hint);
  if (process.env.STEPSCOPE_DEBUG) console.error(error);
  return new Refusal(
    500,
    'Internal error in Stepscope: this is a bug.',
    'Start it with STEPSCOPE_DEBUG=1 to see the location, and report it.',
  );
}
