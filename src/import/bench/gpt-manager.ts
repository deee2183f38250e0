/**
 * gptManagerBenchmark, the C++ benchmark of TensorRT-LLM: the CSV of `--output_csv` (a row of names and one of
 * figures) and the lines `[BENCHMARK] name value` it prints. Read in benchmarks/cpp/gptManagerBenchmark.cpp and
 * disaggServerBenchmark.cpp, which names its columns alike. Its time between tokens is a mean per request: TPOT.
 */
import type { LatencyName } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { type LatencyStat, MS, type NumberName, RunDraft } from './run-draft.js';

const figures: Readonly<Record<string, readonly [name: NumberName, power?: number]>> = {
  num_samples: ['load.requests'],
  num_error_samples: ['counts.errors'],
  'total_latency(ms)': ['durationNs', MS],
  'seq_throughput(seq/sec)': ['throughput.requests'],
  'token_throughput(token/sec)': ['throughput.outputTokens'],
};
const latencies: Readonly<Record<string, LatencyName>> = {
  sequence_latency: 'e2e',
  time_to_first_token: 'ttft',
  inter_token_latency: 'tpot',
};
const LATENCY = /^(avg|max|min|p\d{2})_([a-z_]{1,40})\(ms\)$/;
const LINE = /\[BENCHMARK\] ([a-z0-9_]{1,60}(?:\([^()]{1,40}\))?) +(\S{1,40})\s*$/;
/** The first name of every version. */
const FIRST = 'num_samples';

export const gptManager: BenchImporter = {
  id: 'gpt-manager',
  label: 'CSV or text of gptManagerBenchmark',
  recognizes: content =>
    content.kind === 'text' &&
    (headerOf(content) !== undefined || content.text.includes(`[BENCHMARK] ${FIRST} `)),
  read(content) {
    const drafts: RunDraft[] = [];
    const header = headerOf(content);
    for (const { text, number, cut } of content.lines()) {
      const line = LINE.exec(text);
      if (header && !line && number > 1 && text.trim() !== '') {
        const cells = text.split(',');
        const draft = begin(number, header);
        header.forEach((name, i) => {
          // The last cell of a cut file may be a piece of its figure.
          if (!(cut && i === cells.length - 1)) take(draft, name, cells[i]);
        });
        drafts.push(draft);
      } else if (line && !cut) {
        if (line[1] === FIRST) drafts.push(begin(number, []));
        const draft = drafts.at(-1);
        if (draft) take(draft, line[1], line[2]);
      }
    }
    return drafts.filter(draft => draft.hasResult).map(draft => draft.build(content.file, gptManager.id));
  },
};

function headerOf({ text }: BenchContent): string[] | undefined {
  const [first] = text.slice(0, 10_000).split(/\r?\n/, 1);
  const names = first.split(',').map(name => name.trim());
  return names[0] === FIRST && names.includes('seq_throughput(seq/sec)') ? names : undefined;
}

function begin(line: number, header: readonly string[]): RunDraft {
  const isDisaggregated = header.includes('num_context_error_samples');
  const draft = new RunDraft(isDisaggregated ? 'disaggServerBenchmark' : 'gptManagerBenchmark');
  draft.line = line;
  return draft.text('framework', 'TensorRT-LLM');
}

function take(draft: RunDraft, name: string, cell = ''): void {
  if (!/^-?\d{1,20}(?:\.\d{0,20})?(?:e[-+]?\d{1,3})?$/.test(cell.trim())) return;
  const value = Number(cell);
  const figure = figures[name];
  if (figure) draft.number(figure[0], value, figure[1]);
  const [, stat, of] = LATENCY.exec(name) ?? [];
  if (of !== undefined && Object.hasOwn(latencies, of)) {
    const field = (stat === 'avg' ? 'mean' : stat) as LatencyStat;
    draft.number(`latency.${latencies[of]}.${field}`, value, MS);
  }
}
