/**
 * What trtllm-bench and TensorRT-LLM print: text reports and per-iteration lines, alone or together in a log, several
 * ranks mixed. Iteration lines belong to the report that follows them; those of the warm-up are left out. A log whose
 * run ended before its report says why.
 */
import { UserError } from '../../base/user-error.js';
import { isWarmUpEnd } from '../../catalog/iteration-line.js';
import type { BenchIteration, BenchRun } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { RunDraft } from './run-draft.js';
import { textMarks } from './text-marks.js';
import { isIterationLine, iterationOf } from './trtllm-iteration.js';
import { TrtllmReportReader } from './trtllm-report.js';
import { EndingListener } from './why-a-run-ended.js';

export const trtllmLog: BenchImporter = {
  id: 'trtllm-log',
  label: 'text of trtllm-bench, or a TensorRT-LLM log with iteration lines',
  recognizes: content => content.kind === 'text' && textMarks(content) === 'trtllm',
  read: content => new TrtllmLogReader(content).read(),
};

class TrtllmLogReader {
  private iterations: BenchIteration[] = [];
  private warmUp = 0;
  private broken = 0;
  private readonly listener = new EndingListener();
  private readonly readers = new Map<string, TrtllmReportReader>();

  constructor(private readonly content: BenchContent) {}

  read(): BenchRun[] {
    let firstIteration: number | undefined;
    for (const line of this.content.lines()) {
      this.listener.hear(line);
      if (isIterationLine(line.text)) {
        const row = iterationOf(line.text);
        if (row) this.iterations.push(row);
        else this.broken++;
        firstIteration ??= line.number;
      } else if (isWarmUpEnd(line.text)) {
        this.warmUp += this.iterations.length;
        this.iterations = [];
      } else this.readerOf(line.stream).read(line);
    }
    for (const reader of this.readers.values()) reader.finish();
    const drafts = distinct([...this.readers.values()].map(reader => reader.drafts));
    if (drafts.length === 0 && this.iterations.length > 0) {
      const draft = new RunDraft('TensorRT-LLM').text('framework', 'TensorRT-LLM');
      draft.line = firstIteration;
      this.claim(draft);
      drafts.push(draft);
    }
    const last = drafts.at(-1);
    if (!last) throw this.endedEarly();
    this.noteEnding(last);
    if (this.iterations.length > 0) {
      const text = 'iterations after the last report were left out';
      last.notes.add('iterations-after', 'info', text, '', this.iterations.length);
    }
    if (this.broken > 0)
      last.notes.add(
        'broken-iterations',
        'loss',
        'iteration lines are truncated or interleaved',
        '',
        this.broken,
      );
    return drafts.map(draft => draft.build(this.content.file, trtllmLog.id));
  }

  private readerOf(stream: string): TrtllmReportReader {
    const known = this.readers.get(stream);
    if (known) return known;
    const reader = new TrtllmReportReader(draft => {
      this.claim(draft);
      this.listener.resultCame();
    });
    this.readers.set(stream, reader);
    return reader;
  }

  private endedEarly(): UserError {
    const { ending } = this.listener;
    const { file } = this.content;
    if (!ending)
      return new UserError(
        'damaged',
        `${file} is a trtllm-bench log that ends before its report, without an error message.`,
        'Check that the benchmark finished, and copy the file again.',
      );
    return new UserError(
      'damaged',
      `${file} is a trtllm-bench log without a report: ${ending.what} (${ending.where}).`,
      ending.hint,
    );
  }

  /** A run of iteration lines alone may have died; and behind the last report another may have begun. */
  private noteEnding(last: RunDraft): void {
    const { ending, isUnfinished } = this.listener;
    const hasReport = [...this.readers.values()].some(reader => reader.drafts.length > 0);
    if (hasReport && !isUnfinished) return;
    if (!hasReport && !ending) return;
    const what = ending ? `: ${ending.what}` : '';
    last.notes.add(
      'ended-early',
      'loss',
      hasReport
        ? `later run in this log ended before its report${what}`
        : `run ended before its report${what}`,
      ending?.where,
    );
  }

  /** The rows so far are of this run. */
  private claim(draft: RunDraft): void {
    for (const row of this.iterations) draft.iterations.push(row);
    this.iterations = [];
    if (this.warmUp > 0)
      draft.notes.add('warm-up', 'info', 'warm-up iterations were left out', '', this.warmUp);
    this.warmUp = 0;
  }
}

/** In file order; a report that every rank printed is one, the fullest where the file was cut between their lines. */
function distinct(streams: readonly (readonly RunDraft[])[]): RunDraft[] {
  let result: RunDraft[] = [];
  for (const drafts of streams) {
    const others = [...result];
    for (const draft of drafts) {
      const twin = others.find(other => other.agreesWith(draft));
      if (!twin) result.push(draft);
      else if (twin.figureCount < draft.figureCount)
        result = result.map(other => (other === twin ? draft.withRows(twin) : other));
    }
  }
  return result.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
