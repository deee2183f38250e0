/**
 * What `python -m sglang.bench_one_batch` prints: lines `Prefill.`, `Decode.  median` and `Total.` per batch
 * (python/sglang/bench_one_batch.py). Where it says that it warms up, what comes before `Benchmark ...` is left out.
 * Figures are taken with the unit behind them only, so a cut number is not one.
 */
import type { BenchImporter } from './bench-importer.js';
import { RunDraft, SECONDS } from './run-draft.js';
import { textMarks } from './text-marks.js';

const PREFILL = /(?<![A-Za-z])Prefill\. latency: {1,4}(\d{1,9}\.\d{1,9}) s,/;
const PASS = /(?<![A-Za-z])Decode \d{1,9}\. Batch size: (\d{1,9}), latency:/;
const DECODE = /(?<![A-Za-z])Decode\. {1,4}median latency: {1,4}(\d{1,9}\.\d{1,9}) s,/;
const TOTAL =
  /(?<![A-Za-z])Total\. latency: {1,6}(\d{1,9}\.\d{1,9}) s, throughput: {1,10}(\d{1,12}\.\d{1,9}) token\/s/;

export const sglangOneBatchText: BenchImporter = {
  id: 'sglang-one-batch-text',
  label: 'text of sglang.bench_one_batch',
  recognizes: content => content.kind === 'text' && textMarks(content) === 'one-batch',
  read(content) {
    const drafts: RunDraft[] = [];
    let draft: RunDraft | undefined;
    let warmingUp = false;
    for (const { text, number } of content.lines()) {
      if (/(?:^|\s)Warmup \.\.\.\s{0,9}$/.test(text)) warmingUp = true;
      else if (/(?:^|\s)Benchmark \.\.\.\s{0,9}$/.test(text)) warmingUp = false;
      else if (warmingUp) continue;
      const prefill = PREFILL.exec(text);
      if (prefill) {
        draft = new RunDraft('sglang.bench_one_batch').text('framework', 'SGLang');
        draft.line = number;
        draft.number('latency.ttft.mean', Number(prefill[1]), SECONDS);
        drafts.push(draft);
      }
      if (!draft) continue;
      const size = PASS.exec(text)?.[1];
      if (size) draft.number('load.batchSize', Number(size)).number('load.requests', Number(size));
      const decode = DECODE.exec(text)?.[1];
      if (decode) draft.number('latency.itl.p50', Number(decode), SECONDS);
      const total = TOTAL.exec(text);
      if (!total) continue;
      draft
        .number('latency.e2e.mean', Number(total[1]), SECONDS)
        .number('durationNs', Number(total[1]), SECONDS)
        .number('throughput.totalTokens', Number(total[2]));
      draft = undefined;
    }
    draft?.notes.add('cut-off', 'loss', 'batches are incomplete');
    return drafts.map(done => done.build(content.file, sglangOneBatchText.id));
  },
};
