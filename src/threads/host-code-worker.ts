/** The other end of help-ahead.ts. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { Analyzer } from '../analyze/analysis.js';
import { hostBlockers, plainBlockers } from '../analyze/host-code/host-blockers.js';
import { idleGaps } from '../analyze/inference/idle-gaps.js';
import { StringTable } from '../base/string-table.js';
import { type AheadAnswer, type AheadInput, given } from './help-ahead.js';

const { port, isDone } = workerData as { readonly port: MessagePort; readonly isDone: Int32Array };

port.once('message', (input: AheadInput) => {
  port.postMessage(answerTo(input));
  Atomics.store(isDone, 0, 1);
  Atomics.notify(isDone, 0);
  port.close();
});

/** What fails here is asked for again, and fails where somebody hears of it. */
function answerTo({ profile, strings, settings, results }: AheadInput): AheadAnswer {
  try {
    const { bytes, ends } = strings;
    const analyzer = new Analyzer({ ...profile, strings: StringTable.unpack(bytes, ends) }, settings);
    given.forEach((derived, i) => {
      analyzer.promise(derived, () => results[i]);
    });
    return { blockers: plainBlockers(analyzer.get(hostBlockers)), gaps: analyzer.get(idleGaps) };
  } catch {
    return {};
  }
}
