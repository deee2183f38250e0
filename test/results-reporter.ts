/** A reporter of node's test runner: one line of JSON per test, for the closing lines that `run.mjs` prints. */
export interface TestResult {
  readonly name: string;
  readonly file: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, in the words of the test. */
  readonly reason?: string;
}

/** What the runner says of a test that ended: the fields used here, alike in Node 20 to 26. */
interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly file?: string;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly details?: { readonly type?: string };
  };
}

export function resultOf({ type, data }: TestEvent): TestResult | undefined {
  if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') return undefined;
  const { name, file = '', skip, todo } = data;
  // A test that is still to be written counts as one that did not run.
  const reason = [skip, todo].find(said => said !== undefined && said !== false);
  if (reason !== undefined)
    return { name, file, outcome: 'skipped', reason: typeof reason === 'string' ? reason : '' };
  return { name, file, outcome: type === 'test:pass' ? 'passed' : 'failed' };
}

// The runner takes a reporter from a module's default export.
export { report as default };

async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const result = resultOf(event);
    if (result) yield `${JSON.stringify(result)}\n`;
  }
}
