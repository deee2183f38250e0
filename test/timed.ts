/**
 * A test of times on a machine that others use too: what is late once may be the machine's doing, what is late three
 * times is ours.
 */
import { AssertionError } from 'node:assert/strict';
import { type TestContext, type TestOptions, test } from 'node:test';

const TRIES = 3;

export function timed(
  name: string,
  options: TestOptions,
  body: (context: TestContext) => Promise<void>,
): void {
  test(name, options, async context => {
    for (let tried = 1; ; tried++) {
      try {
        return await body(context);
      } catch (error) {
        if (tried === TRIES || !(error instanceof AssertionError)) throw error;
      }
    }
  });
}
