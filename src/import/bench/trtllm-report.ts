/**
 * Reads the text reports of one stream of lines. A report begins with the block of the engine, or, where somebody kept
 * only a piece, with its first line or under a heading. Figures that may be of another report are left out.
 */
import { shiftDecimal } from '../../base/decimal-shift.js';
import { NoteCounter } from '../../base/notes.js';
import { labelFinder, labelledFigure } from './labelled-figure.js';
import type { LogLine } from './log-lines.js';
import { MS, type NumberName, RunDraft } from './run-draft.js';
import {
  blockTitle,
  breakdownLatency,
  breakdownLine,
  breakdownStat,
  engineTexts,
  isEngineBlock,
  REPORT_DECIMALS,
  reportFigures,
} from './trtllm-labels.js';

const findFigure = labelFinder(Object.keys(reportFigures));
const findText = labelFinder(Object.keys(engineTexts));
const findDataset = labelFinder(['Dataset Path']);
/** Of notes in Markdown. A report kept as a comment has `# ` in front as well, but labels with colons or rules. */
const HEADING = /^#{1,6} {1,3}(["'`*A-Za-z0-9](?:[^:\t]|:(?=$|\S)){0,80})$/;
/** A heading names what follows it closely. */
const HEADING_REACH = 6;

export class TrtllmReportReader {
  readonly drafts: RunDraft[] = [];
  private draft = new RunDraft('trtllm-bench');
  private block = '';
  private blocksSinceResult = new Set<string>();
  private heading?: { readonly text: string; readonly line: number };

  /** `onResult`: the first figure of a new report was read into this draft. */
  constructor(private readonly onResult: (draft: RunDraft) => void) {}

  read(line: LogLine): void {
    const { text } = line;
    const title = blockTitle.exec(text)?.[1];
    const row = title === undefined ? breakdownLine.exec(text) : null;
    const found = title === undefined && !row ? findFigure(text) : undefined;
    const heading = HEADING.exec(text)?.[1];
    if (title) this.begin(title, line);
    else if (row) this.breakdown(row, line);
    else if (found) {
      const { name, power, begins } = reportFigures[found.label];
      this.figure(name, found.value, line, power, begins);
    } else if (heading) {
      this.heading = { text: heading.trim().replace(/^["'`*]+|["'`*:]+$/g, ''), line: line.number };
    } else this.words(text, line);
  }

  finish(): void {
    if (this.draft.hasResult) this.drafts.push(this.draft);
    this.draft = new RunDraft('trtllm-bench');
    this.blocksSinceResult = new Set();
  }

  private begin(title: string, line: LogLine): void {
    this.block = title;
    // The lengths of the dataset are printed before the run and again after its report.
    if (this.draft.hasResult && this.blocksSinceResult.has(title)) this.finish();
    if (isEngineBlock(title) && this.draft.hasResult) this.finish();
    if (title === 'DATASET DETAILS' && !this.draft.hasResult) return;
    this.blocksSinceResult.add(title);
    this.draft.line ??= line.number;
  }

  private breakdown([, which, stat, value]: RegExpExecArray, line: LogLine): void {
    const latency = breakdownLatency[which as keyof typeof breakdownLatency];
    const field = breakdownStat[stat] ?? (stat.toLowerCase() as `p${number}`);
    this.figure(`latency.${latency}.${field}`, value.trim(), line, MS);
  }

  private figure(name: NumberName, value: string, line: LogLine, power = 0, begins?: true): void {
    // Before there was a fixed number of decimals, all digits were printed.
    const decimals = this.block === 'STATISTICS' ? undefined : REPORT_DECIMALS;
    const unreadable = new NoteCounter();
    const number = labelledFigure(value, line, unreadable, decimals);
    if (number === undefined && unreadable.size === 0) return;
    const isSame = number !== undefined && this.draft.get(name) === shiftDecimal(number, power);
    const isNextReport = begins && this.draft.wasPrinted(name) && !isSame;
    if (this.draft.hasResult && (isNextReport || this.heading)) this.finish();
    const isFirst = !this.draft.hasResult;
    if (this.heading && line.number - this.heading.line <= HEADING_REACH)
      this.draft.text('label', this.heading.text);
    this.heading = undefined;
    this.draft.line ??= line.number;
    this.draft.notes.addAll(unreadable);
    this.draft.text('framework', 'TensorRT-LLM').once(name, number, power, line.text);
    if (isFirst && this.draft.hasResult) this.onResult(this.draft);
  }

  private words(text: string, line: LogLine): void {
    if (isEngineBlock(this.block)) {
      const found = findText(text);
      if (found && !line.cut) this.draft.text(engineTexts[found.label], found.value);
    } else if (this.block === 'DATASET DETAILS') {
      const found = findDataset(text);
      if (found && !line.cut) this.draft.text('load.dataset', found.value);
    } else if (this.block === 'MACHINE DETAILS' && !line.cut) {
      this.draft.text('gpu', /^(\S.{0,80}?), memory /.exec(text)?.[1]);
    }
  }
}
