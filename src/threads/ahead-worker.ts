/** The other end of help-ahead.ts. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { Analyzer } from '../analyze/analysis.js';
import { StringTable } from '../base/string-table.js';
import {
  type AheadInput,
  type AheadPart,
  earlyParts,
  type GivenResults,
  given,
  lateParts,
} from './help-ahead.js';

const { port, sent } = workerData as { readonly port: MessagePort; readonly sent: Int32Array };
let analyzer: Analyzer | undefined;
let late: readonly AheadPart[] = [];

tell();
port.on('message', (message: AheadInput | GivenResults) => {
  if (!analyzer) analyzer = begin(message as AheadInput);
  else {
    finish(analyzer, message as GivenResults);
    port.close();
  }
});

/** What needs nothing of the other thread. */
function begin({ profile, strings: { bytes, ends }, settings, withTimeline }: AheadInput): Analyzer {
  const analyzer = new Analyzer({ ...profile, strings: StringTable.unpack(bytes, ends) }, settings);
  late = lateParts(withTimeline);
  send(analyzer, earlyParts(withTimeline));
  return analyzer;
}

function finish(analyzer: Analyzer, results: GivenResults): void {
  given.forEach((derived, i) => {
    analyzer.promise(derived, () => results[i]);
  });
  send(analyzer, late);
}

function send(analyzer: Analyzer, some: readonly AheadPart[]): void {
  for (const { derived, plain, buffers } of some) {
    const result = orUndefined(() => plain(analyzer.get(derived), analyzer.profile));
    port.postMessage(result, result === undefined ? [] : buffers?.(result));
    tell();
  }
}

/** Something has been sent; first of all, that this thread has begun. */
function tell(): void {
  Atomics.add(sent, 0, 1);
  Atomics.notify(sent, 0);
}

/** What fails here is asked for again, and fails where somebody hears of it. */
function orUndefined<Result>(compute: () => Result): Result | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
