/** The other end of help-ahead.ts. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { Analyzer } from '../analyze/analysis.js';
import { StringTable } from '../base/string-table.js';
import { type AheadInput, given, parts } from './help-ahead.js';

const { port, sent } = workerData as { readonly port: MessagePort; readonly sent: Int32Array };

tell();
port.once('message', ({ profile, strings: { bytes, ends }, settings, results }: AheadInput) => {
  const analyzer = new Analyzer({ ...profile, strings: StringTable.unpack(bytes, ends) }, settings);
  given.forEach((derived, i) => {
    analyzer.promise(derived, () => results[i]);
  });
  for (const { derived, plain } of parts) {
    port.postMessage(orUndefined(() => plain(analyzer.get(derived))));
    tell();
  }
  port.close();
});

/** Something has been sent; first of all, that this thread has begun. */
function tell(): void {
  Atomics.add(sent, 0, 1);
  Atomics.notify(sent, 0);
}

/** What fails here is asked for again, and fails where somebody hears of it. */
function orUndefined(compute: () => unknown): unknown {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
